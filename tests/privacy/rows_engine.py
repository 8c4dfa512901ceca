"""A small engine in plain NumPy, so that tests of the curator rest on no other room."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.domain import Domain
from understudy.marginals import Marginal


@dataclass(frozen=True, eq=False)
class Rows:
    """Coded records in memory, one row a record; `open_values` are the texts of an open column."""

    domain: Domain
    codes: np.ndarray
    open_values: Sequence[Any] = field(default=())

    def count(self, cliques: Sequence[tuple[str, ...]]) -> list[Marginal]:
        return [Marginal(clique, self._count(clique)) for clique in cliques]

    def _count(self, clique: tuple[str, ...]) -> np.ndarray:
        table = np.zeros(self.domain.shape(clique), dtype=np.int64)
        columns = [self.codes[:, self.domain.names.index(name)] for name in clique]
        np.add.at(table, tuple(columns), 1)
        return table

    def recode(self, maps: Mapping[str, np.ndarray]) -> Rows:
        codes = self.codes.copy()
        for name, new in maps.items():
            place = self.domain.names.index(name)
            codes[:, place] = np.asarray(new)[codes[:, place]]
        return Rows(self.domain.resize({n: int(max(m)) + 1 for n, m in maps.items()}), codes)

    def count_values(self, column: str) -> Mapping[Any, int]:
        return Tally(self.open_values)


def base_and_target(columns: int, records: int = 3) -> tuple[Rows, Rows]:
    """Identical records, and the same with one more that shares no value with them."""
    domain = Domain({f"c{i}": 2 for i in range(columns)})
    base = np.zeros((records, columns), dtype=np.int64)
    return Rows(domain, base), Rows(domain, np.vstack([base, np.ones(columns, dtype=np.int64)]))
