"""How far counts of pairs are from products of columns, in compiled code: neither is held a second time."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit


@njit(cache=True, nogil=True)
def sum_gaps(
    counts: Any, begins: Any, ends: Any, starts: Any, sizes: Any, left: Any, right: Any, found: Any
) -> None:
    """The L1 distance of each pair's counts, one after the other, from its products, rounded to whole numbers."""
    for pair in range(begins.size):
        row, column, cell, apart = starts[ends[pair, 0]], starts[ends[pair, 1]], begins[pair], np.int64(0)
        wide = sizes[ends[pair, 1]]
        for i in range(sizes[ends[pair, 0]]):
            for j in range(wide):
                apart += abs(counts[cell + j] - np.int64(np.rint(left[row + i] * right[column + j])))
            cell += wide
        found[pair] = apart
