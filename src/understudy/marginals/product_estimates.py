"""Estimates of cliques as products of one-way estimates: what independent columns would count to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique

Cells = npt.NDArray[np.float64]


class ProductEstimates:
    """A clique -> the total times the product of its columns' shares: what a field of one-ways says of it."""

    def __init__(self, marginals: Mapping[str, Cells], total: float) -> None:
        self.shares = {
            name: np.array(cells, np.float64) / max(total, 1e-300) for name, cells in marginals.items()
        }
        self.total = float(total)

    def __call__(self, clique: Clique) -> Cells:
        cells: Cells = np.array(self.total)
        for name in clique:
            cells = np.multiply.outer(cells, self.shares[name])
        return cells

    def distances(
        self, pairs: Sequence[Clique], tables: Sequence[npt.NDArray[np.int64]]
    ) -> npt.NDArray[np.int64]:
        """How far the counts of each pair, flat, are from the same cells, bit for bit, rounded to whole numbers."""
        from understudy.marginals.product_kernel import sum_gaps  # Numba takes a while to import

        number = {name: i for i, name in enumerate(self.shares)}
        ends = np.array([(number[a], number[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        sizes = np.array([shares.size for shares in self.shares.values()], np.int64)
        right = np.concatenate(list(self.shares.values()))
        found = np.empty(len(ends), np.int64)
        starts, begins = _before(sizes), _before(sizes[ends].prod(axis=1))
        sum_gaps(np.concatenate(tables), begins, ends, starts, sizes, self.total * right, right, found)
        return found


def _before(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each of so many begins, one after the other."""
    return np.cumsum(sizes) - sizes
