"""The worst that exact counts can be, once it is known how far they are from those that a model expects.

All that is asked of a table is a weighted sum of its counts, or a ratio of two. Over all tables that are within an L1
distance of the expected one, the least weighted sum is found by taking away and adding records where it hurts most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_CLOSE = 1e-9  # of a range: what lies no further from its end is not told from it
_STEPS = 80  # halvings of an interval: as fine as a float


@dataclass(frozen=True)
class Reach:
    """How far exact counts may be from expected ones: in L1 distance, and in their totals."""

    distance: float
    gap: float

    def least(self, expected: Floats, weights: Floats) -> float:
        """The least that a weighted sum of counts can be, none of which is below 0.

        Of the distance no more than half, and half of the gap, is spent on adding records, or on taking them away.
        """
        most = min(self.distance, (self.distance + self.gap) / 2)
        total, left, taken = float(expected @ weights), self.distance, 0.0
        adding = max(0.0, -float(weights.min(initial=0.0)))
        order = np.argsort(-weights, kind="stable")
        for place in order[weights[order] > 0].tolist():
            if left <= 0 or (taken >= most and not adding):
                break
            gain = float(weights[place])
            if gain < adding:
                added = min(most, left)
                total, left, adding = total - adding * added, left - added, 0.0
            part = min(float(expected[place]), left, most - taken)
            total, left, taken = total - gain * part, left - part, taken + part
        return total - adding * min(most, left)


def least_ratio(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number between two others up to which `holds` is true, where it is true up to some number.

    Where it does not even hold of the lower, that one: nothing is known. So where it holds hardly above it, as far as
    floats tell.
    """
    least, close = low, _CLOSE * (high - low)
    if not holds(low):
        return low
    if holds(high):
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low if low - least > close else least
