"""Coded records that a field has drawn."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from types import MappingProxyType

import numpy as np

from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes
from understudy.errors import SizeError
from understudy.marginals import Marginal

LIMIT_CELLS = 1 << 27


class Sample:
    """Records as one array of codes a column, in the domain's order; read-only.

    `len(sample)` is the number of records, `sample["age"]` a column, `dict(sample)` all of them.
    """

    __slots__ = ("columns", "domain", "rows")

    def __init__(self, domain: Domain, codes: Mapping[str, Codes], rows: int) -> None:
        self.domain = domain
        self.rows = rows
        self.columns: Mapping[str, Codes] = MappingProxyType({name: codes[name] for name in domain})
        for column in self.columns.values():
            column.flags.writeable = False

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> Codes:
        self.domain[name]
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __repr__(self) -> str:
        return f"<Sample: {self.rows:,} records, {len(self.columns)} columns>"

    def keys(self) -> KeysView[str]:
        """The names of the columns, in order."""
        return self.columns.keys()

    def items(self) -> ItemsView[str, Codes]:
        """The columns with their names, in order."""
        return self.columns.items()

    def counts(self, clique: Clique | str) -> Marginal:
        """How many records fall in each cell of a clique, as int64."""
        names = self.domain.clique(clique)
        cells = self.domain.size(names)
        if cells > LIMIT_CELLS:
            raise SizeError(f"the counts of {names!r} need {cells:,} cells, more than {LIMIT_CELLS:,}.")
        cell = np.zeros(self.rows, np.int64)
        for name in names:
            cell *= self.domain[name]
            cell += self.columns[name]
        counts = np.bincount(cell, minlength=cells).astype(np.int64)
        return Marginal(names, counts.reshape(self.domain.shape(names)))
