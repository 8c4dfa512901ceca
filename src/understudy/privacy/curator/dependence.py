"""How far a column is from independent of others: an L1 distance between counts, in exact integers.

PrivBayes calls half of it, on frequencies, the score R; PrivSyn calls it InDif. One record moves it by less than
four. Proof: docs/privacy.md, "The curator", Theorem C6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SENSITIVITY = 4  # of `dependence`, for each record that is added or removed
_NARROW = 2**31  # up to so many records, products of counts fit in an int64


def dependence(counts: npt.NDArray[np.int64], rows: int) -> int:
    """The L1 distance between a table and the product of its two margins, rounded down.

    The first column, of `rows` codes, is set against all others together. With N records it is the floor of
    sum |N c(x, y) - c(x) c(y)| / N, computed in integers throughout.
    """
    table: npt.NDArray[Any] = counts.reshape(rows, -1)
    total = int(table.sum())
    if total == 0:
        return 0
    if total >= _NARROW:  # Python's own integers have no end
        table = table.astype(object)
        return int(_gaps(table, total).sum()) // total
    gaps = _gaps(table, total)
    # Each gap is below 2^62; the sums of its upper and lower halves are far from overflowing.
    return ((int((gaps >> 32).sum()) << 32) + int((gaps & 0xFFFFFFFF).sum())) // total


def _gaps(table: npt.NDArray[Any], total: int) -> npt.NDArray[Any]:
    gaps: npt.NDArray[Any] = np.abs(total * table - np.outer(table.sum(axis=1), table.sum(axis=0)))
    return gaps
