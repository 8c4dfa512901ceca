"""Exact counts (`Marginal`) and noisy ones (`Measurement`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import DomainError, ParameterError
from understudy.marginals.query import Query, as_query


@dataclass(frozen=True, eq=False)
class Marginal:
    """How many records (or how much expected mass) fall in each cell of a clique.

    Parameters:
        clique: its columns, or the name of its only one.
        counts: one axis a column, in the clique's order. An engine's are int64; a field's are float64.

    Raises:
        DomainError: the counts have another number of axes.
    """

    clique: Clique
    counts: npt.NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", _clique(self.clique))
        object.__setattr__(self, "counts", np.asarray(self.counts))
        if self.counts.ndim != len(self.clique):
            raise DomainError(
                f"marginal of {self.clique!r} has {self.counts.ndim} axes, not {len(self.clique)}."
            )

    @property
    def total(self) -> Any:
        """The sum of all cells."""
        return self.counts.sum()

    def project(self, names: Clique | str) -> Marginal:
        """The marginal of some of the columns, axes in the order given."""
        names = _clique(names)
        missing = [name for name in names if name not in self.clique]
        if missing:
            raise DomainError(f"column {missing[0]!r} is not in the marginal of {self.clique!r}.")
        kept = tuple(name for name in self.clique if name in names)
        summed = self.counts.sum(axis=tuple(i for i, name in enumerate(self.clique) if name not in names))
        return Marginal(names, np.transpose(summed, [kept.index(name) for name in names]))


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy answers about one marginal: `values = query(marginal) + noise`.

    Parameters:
        clique: its columns, or the name of its only one.
        values: flat (C order of the clique) or with one axis a column.
        stddev: the noise's standard deviation: one, or one a value.
        query: None for the marginal itself (the default), or a linear map (see `marginals.query`).

    Raises:
        ParameterError: a value is not finite, or a deviation not above 0.
    """

    clique: Clique
    values: npt.NDArray[np.float64]
    stddev: npt.NDArray[np.float64]
    query: Query | None

    def __init__(self, clique: Clique | str, values: Any, stddev: Any, query: Any = None) -> None:
        names = _clique(clique)
        flat = np.array(values, dtype=np.float64).reshape(-1)
        scale = np.array(stddev, dtype=np.float64)
        scale = scale.reshape(-1) if scale.ndim else scale
        if not np.isfinite(flat).all():
            raise ParameterError(f"measurement of {names!r} holds a value that is not finite.")
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            raise ParameterError(f"measurement of {names!r}: stddev must be positive and finite.")
        if scale.ndim and scale.shape != flat.shape:
            raise ParameterError(
                f"measurement of {names!r}: {scale.size} scales for {flat.size} values.",
                hint="give one stddev, or one a value.",
            )
        flat.flags.writeable = False
        scale.flags.writeable = False
        for name, value in (
            ("clique", names),
            ("values", flat),
            ("stddev", scale),
            ("query", as_query(query)),
        ):
            object.__setattr__(self, name, value)

    def answers(self, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What the query says of a marginal with these cells (flat): to be compared with `values`."""
        return cells if self.query is None else self.query.apply(cells)


def _clique(names: Clique | str) -> Clique:
    """A clique from its columns, or from the name of its only one."""
    clique = (names,) if isinstance(names, str) else tuple(names)
    if len(set(clique)) != len(clique):
        raise DomainError(f"clique {clique!r} names a column twice.")
    return clique
