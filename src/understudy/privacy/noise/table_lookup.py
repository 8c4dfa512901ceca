"""The kernel that finds a word's place in a table; apart, so that Numba loads only when noise is drawn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit

UNDECIDED = -1


@njit(cache=True, nogil=True)
def find(
    words: npt.NDArray[np.uint64],
    thresholds: npt.NDArray[np.uint64],
    guide: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
) -> int:
    """The number of words undecided; `found` gets how many thresholds lie at or below each word's 63 bits.

    A word equal to a threshold's leading bits may lie on either side of it: UNDECIDED.
    """
    shift = np.uint64(63)
    size = len(guide)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    undecided = 0
    for i in range(len(words)):
        leading = words[i] >> np.uint64(1)
        k = guide[leading >> shift]
        while thresholds[k] <= leading:
            k += 1
        if k > 0 and thresholds[k - 1] == leading:
            k = UNDECIDED
            undecided += 1
        found[i] = k
    return undecided
