"""The simplest engine that can be right: records in arrays, counted one by one. For tests only."""

from __future__ import annotations

from collections import Counter as Tally
from typing import Any

import numpy as np

from understudy.domain import Domain
from understudy.marginals import Marginal


class PlainEngine:
    """Codes by column, and texts of open columns; `reads` says how often records were touched."""

    def __init__(self, columns: dict[str, Any], domain: Domain, open_: dict[str, list[Any]] | None = None):
        self.columns = {name: np.asarray(codes, dtype=np.int64) for name, codes in columns.items()}
        self.domain = domain
        self.open = open_ or {}
        self.reads = 0

    def count(self, cliques):
        self.reads += 1
        return [self._marginal(clique) for clique in cliques]

    def _marginal(self, clique):
        shape = self.domain.shape(clique)
        flat = np.ravel_multi_index([self.columns[name] for name in clique], shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)
        return Marginal(clique, counts.reshape(shape))

    def recode(self, maps):
        columns = {name: maps[name][codes] if name in maps else codes for name, codes in self.columns.items()}
        sizes = {name: int(codes.max()) + 1 for name, codes in maps.items()}
        return PlainEngine(columns, self.domain.resize(sizes), self.open)

    def count_values(self, column):
        self.reads += 1
        return dict(Tally(self.open[column]))


def people(rows: int = 500, seed: int = 0) -> PlainEngine:
    """A small town, the same every time."""
    domain = Domain({"sex": 2, "labforce": 3, "school": 4, "age": 10})
    draw = np.random.default_rng(seed)
    cities = draw.choice(["Ely", "Wells", "Truro"], size=rows, p=[0.6, 0.3, 0.1]).tolist()
    return PlainEngine({n: draw.integers(0, k, rows) for n, k in domain.items()}, domain, {"city": cities})
