"""Neighbouring codes of an ordered column joined into runs that hold more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_FINEST, _COARSEST = -6, 12  # powers of ten that a cut may be round to
_ROUNDEST = 4.0  # steps: a hundred among whole numbers
_SHORT = 0.25  # of what a run should hold: so much it may lack where its cuts are rounder for it
_PRICE = 4.0  # of lacking all of it, in runs
_RAISED = 1.05  # times as much every run must hold, as often as there are too many
_SPIKE = 2.0  # times what a run should hold at least: a code with so much stays alone where runs are limited
_ROUND = 1.5  # of a run: what a cut is worth more for every step that it is rounder


def runs(
    counts: Floats, stddev: float, *, threshold: float, most: float = math.inf, starts: Sequence[float] = ()
) -> Whole:
    """A number for each code, the same for the codes of one run, -1 for those of which no run can be made.

    `counts` are noisy, best smoothed. A code that holds `threshold` standard deviations by itself stays alone. Those
    between two such codes are cut into as many runs as hold that much of their own noise each, at round `starts`
    before others. Where that makes more than `most` runs, every one must hold more.
    """
    codes = len(counts)
    threshold = max(threshold, math.sqrt(2 * math.log(max(codes, 1)))) if threshold else 0.0
    worth = 1.0 + _ROUND * roundness(
        np.asarray(starts, np.float64) if len(starts) else np.full(codes, np.nan)
    )
    first = max(threshold * stddev, float(counts.sum()) / max(codes, 1), 1e-9)

    def raised(steps: int) -> Whole:
        return _cut(counts, threshold * stddev, first * _RAISED**steps if steps else 0.0, worth)

    def few(found: Whole) -> bool:
        return bool(found.max(initial=-1) + 1 <= max(most, 1))

    low, high, found = 0, 0, raised(0)
    while not few(
        found
    ):  # by leaps at first, and then by halves: the more a run must hold, the fewer there are
        low, high = high, 2 * high or 1
        found = raised(high)
    while high and high - low > 1:
        middle = (low + high) // 2
        between = raised(middle)
        low, high, found = (low, middle, between) if few(between) else (middle, high, found)
    return found


def _cut(counts: Floats, deviation: float, least: float, worth: Floats) -> Whole:
    """Runs that hold `deviation` times the root of their length, and `least` at any rate."""
    found = np.full(len(counts), -1)
    strong = counts >= max(deviation, _SPIKE * least)
    ends = np.flatnonzero(strong)
    number = 0
    for first, last in zip([0, *(ends + 1)], [*ends, len(counts)], strict=True):
        for start, end in _stretch(counts[first:last], deviation, least, worth[first:last]):
            found[first + start : first + end] = number
            number += 1
        if last < len(counts):
            found[last] = number
            number += 1
    return found


def _stretch(counts: Floats, deviation: float, least: float, worth: Floats) -> list[tuple[int, int]]:
    """The runs of a stretch of weak codes whose cuts are worth most; none where the whole holds too little."""
    from understudy.transforms.run_kernel import best_cuts  # Numba takes a while to import

    codes = len(counts)
    if not codes:
        return []
    held = np.append(0.0, np.cumsum(counts))
    need = np.maximum(deviation * np.sqrt(np.arange(codes + 1)), least)
    value = np.append(worth, 0.0)
    value[0] = 0.0
    best, back = np.empty(codes + 1), np.empty(codes + 1, np.int64)
    best_cuts(held, need, value, _SHORT, _PRICE, best, back)
    if not np.isfinite(best[codes]):
        return []
    cuts = [codes]
    while cuts[-1]:
        cuts.append(int(back[cuts[-1]]))
    cuts.reverse()
    return list(pairwise(cuts))


def roundness(numbers: Floats) -> Floats:
    """How round each number is beside the others: of 7, 15, 20 and 100 the steps are 0, 1, 2 and 4.

    A step is the next of 1, 2 (or 5) and 10 by which it can be divided without rest; NaN has none.
    """
    found = np.zeros(len(numbers))
    known = np.isfinite(numbers)
    if not known.any():
        return found
    for power in range(_FINEST, _COARSEST):
        for step in (5.0, 10.0):
            unit = step * 10.0**power
            units = numbers / unit
            whole = np.abs(units - np.round(units)) <= 1e-9 * np.abs(units)
            found += np.where(known & whole, 1.0, 0.0)
    return np.where(known, np.minimum(found - found[known].min(), _ROUNDEST), 0.0)
