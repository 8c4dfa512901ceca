"""Estimates of cliques as products of one-way estimates: what independent columns would count to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique

Cells = npt.NDArray[np.float64]
_AT_ONCE = 1 << 20  # cells of pairs that are worked out together


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

    def pairs(self, cliques: Sequence[Clique]) -> Iterator[tuple[int, int, Cells]]:
        """The same cells, bit for bit, of many pairs, flat and in a row: from which pair to which, and the cells."""
        names = list(self.shares)
        number = {name: i for i, name in enumerate(names)}
        ends = np.array([(number[a], number[b]) for a, b in cliques], np.int64).reshape(-1, 2)
        sizes = np.array([self.shares[name].size for name in names], np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        right = np.concatenate([self.shares[name] for name in names])
        left = self.total * right
        cells = sizes[ends].prod(axis=1)
        before = np.concatenate([[0], np.cumsum(cells)])
        first = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(before, before[first] + _AT_ONCE, side="right")) - 1)
            some, many = ends[first:last], cells[first:last]
            width = np.repeat(sizes[some[:, 1]], many)
            at = np.arange(before[last] - before[first]) - np.repeat(before[first:last] - before[first], many)
            rows = at // width
            at -= rows * width
            rows += np.repeat(starts[some[:, 0]], many)
            at += np.repeat(starts[some[:, 1]], many)
            yield first, last, left[rows] * right[at]
            first = last
