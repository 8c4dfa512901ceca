"""A Bayesian network: every column drawn given the codes of its parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.mechanisms.generator import Arrays
from understudy.model.queries.generation_order import group_keys
from understudy.model.sampling.synthetic_column import Conditional, rounding_named, synthetic_column
from understudy_contest.simulator import Simulator, header_of, read_header

KIND = "understudy bayesian network"
Table = npt.NDArray[np.float64]


class BayesianNetwork(Simulator):
    """Columns in the order they are drawn, each with its parents, which come before it, and a table.

    `tables[i]` holds the weight of each code of column i (last axis) for every combination of its parents' codes;
    none is negative. Where a combination has no weight at all, the column is drawn from its table's own sum.
    """

    def __init__(
        self, domain: Domain, families: Sequence[Clique], tables: Sequence[npt.ArrayLike], total: float
    ) -> None:
        """A family is (column, *parents)."""
        super().__init__(domain, total)
        self.families = tuple(domain.clique(family) for family in families)
        before: set[str] = set()
        for column, *parents in self.families:
            if column in before or not before.issuperset(parents):
                raise ParameterError(f"column {column!r} stands twice, or before one of its parents.")
            before.add(column)
        if before != set(domain) or len(tables) != len(self.families):
            raise ParameterError("a network needs one family, and one table, for each column.")
        self.tables = tuple(
            _weights(table, domain.size(family[1:]), domain[family[0]])
            for family, table in zip(self.families, tables, strict=True)
        )

    def draw(self, rows: int, random: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """Ancestral sampling: independent records, column after column."""
        codes: dict[str, npt.NDArray[Any]] = {}
        independent = rounding_named("iid")
        for (column, *parents), table in zip(self.families, self.tables, strict=True):
            keys = group_keys(self.domain, parents, codes, rows)
            conditional = Conditional(len(table), table.shape[1], table.__getitem__)
            codes[column] = synthetic_column(keys, conditional, independent, random)
        return codes

    def summary(self) -> str:
        """The columns in their order, each with its parents."""
        lines = [f"Bayesian network: {len(self.domain)} columns, {self.total:,.1f} records"]
        lines += [f"  {column} | {', '.join(parents) or '-'}" for column, *parents in self.families]
        return "\n".join(lines)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header and one array a family."""
        header = header_of(KIND, self) | {"families": [list(family) for family in self.families]}
        return header, {f"family_{i}": table for i, table in enumerate(self.tables)}

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Arrays) -> BayesianNetwork:
        """The network of a header and arrays from `to_arrays`."""
        domain, total = read_header(header)
        families = [tuple(map(str, family)) for family in header["families"]]
        return cls(domain, families, [arrays[f"family_{i}"] for i in range(len(families))], total)


def _weights(table: npt.ArrayLike, groups: int, width: int) -> Table:
    """A table as one row a combination of parents, each with some weight."""
    weights = np.array(table, dtype=np.float64).reshape(groups, width)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError("a network's table holds a weight that is negative or not finite.")
    whole = weights.sum(axis=0)
    weights[~weights.any(axis=1)] = whole if whole.any() else 1.0
    weights.flags.writeable = False
    return weights
