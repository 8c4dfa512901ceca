"""Exact private choice of one candidate: the exponential mechanism on integer scores.

Proof, and why the one half: docs/privacy.md, "Choice".
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy.privacy.noise.exp_bounds import FLOAT_LIMIT, exp_bounds, exp_floats
from understudy.privacy.noise.randomness import Randomness, extend

Gaps = npt.NDArray[np.uint64]


def choose(scores: npt.NDArray[np.int64], epsilon: float, sensitivity: int, source: Randomness) -> int:
    """The index of one candidate: i, in proportion to exp(epsilon scores[i] / (2 sensitivity)).

    The caller must trust that no score moves by more than `sensitivity` between neighbours.
    Privacy: epsilon-bounded-range, so epsilon-DP and epsilon^2/8-zCDP (docs/privacy.md, "Choice").
    """
    gaps = _gaps(scores)
    rate = _rate(epsilon, sensitivity)
    if gaps.size == 1:
        return 0
    word = int(source.words(1)[0])
    place = _by_floats(gaps, rate, word)
    return _by_integers(gaps, rate, word, source) if place is None else place


def _by_floats(gaps: Gaps, rate: Fraction, word: int) -> int | None:
    """The candidate in whose share of [0, 1) the word falls, or None where floats cannot be sure."""
    with np.errstate(over="ignore"):  # an infinite x is as far as any other beyond the limit
        x: npt.NDArray[np.float64] = np.multiply(gaps, float(rate), dtype=np.float64)
    near = np.flatnonzero(x <= FLOAT_LIMIT)
    weights = np.zeros(x.size)
    weights[near] = exp_floats(x[near])
    shares = np.cumsum(weights)
    shares /= shares[-1]
    margin = 2.0**-38 + gaps.size * 2.0**-50
    at = word * 2.0**-64
    place = min(int(np.searchsorted(shares, at, side="right")), gaps.size - 1)
    if place > 0 and at - shares[place - 1] <= margin:
        return None
    if place < gaps.size - 1 and shares[place] - at <= margin:
        return None
    return place


def _by_integers(gaps: Gaps, rate: Fraction, word: int, source: Randomness) -> int:
    """The candidate that the word falls on, decided with as many further bits of word and weights as it takes."""
    bits = 64
    while True:
        word, bits = extend(word, bits, source), 2 * bits
        known = {gap: exp_bounds(rate * gap, bits) for gap in set(gaps.tolist())}
        bounds = [known[gap] for gap in gaps.tolist()]
        lower = list(accumulate((low for low, _ in bounds), initial=0))
        upper = list(accumulate((high for _, high in bounds), initial=0))
        for i in range(gaps.size):
            # Share i begins at C/(C+R), C the weight before it and R the rest; both are known between bounds.
            begin, rest = upper[i], lower[-1] - lower[i]
            end, later = lower[i + 1], upper[-1] - upper[i + 1]
            if begin << bits <= word * (begin + rest) and (word + 1) * (end + later) <= end << bits:
                return i


def _gaps(scores: Any) -> Gaps:
    """How far each score lies below the best, exactly: differences of int64 can need 64 bits."""
    array = np.asarray(scores)
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(
            f"choice needs a list of scores, one a candidate; it got shape {array.shape}.",
            hint="offer at least one candidate.",
        )
    if not np.issubdtype(array.dtype, np.integer) or not np.can_cast(array.dtype, np.int64):
        raise ParameterError(
            f"scores of type {array.dtype} are not exact; a choice is private on int64 scores only.",
            hint="round estimates to integers before scoring.",
        )
    exact = array.astype(np.int64)
    gaps: Gaps = exact.max().astype(np.uint64) - exact.astype(np.uint64)
    return gaps


def _rate(epsilon: float, sensitivity: int) -> Fraction:
    """The exponent's exact factor, epsilon / (2 sensitivity)."""
    number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not (number and math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"choice epsilon {epsilon!r} is not a finite number above 0.")
    if (
        isinstance(sensitivity, bool)
        or not isinstance(sensitivity, int | np.integer)
        or not 0 < sensitivity < 2**63
    ):
        raise ParameterError(f"choice sensitivity {sensitivity!r} is not a whole number of at least 1.")
    return Fraction(float(epsilon)) / (2 * int(sensitivity))
