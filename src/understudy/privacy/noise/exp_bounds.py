"""The exponential function between bounds: in integers to any precision, in floats to 40 bits.

Proofs of both bounds: docs/privacy.md, "Noise".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.privacy.noise.randomness import Randomness, extend

Floats = npt.NDArray[np.float64]

FLOAT_ERROR = 2.0**-40  # relative error of `exp_floats`, proved with a margin
FLOAT_LIMIT = 64.0  # the largest argument of `exp_floats`
_DEGREE = 18


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers with lower <= 2^bits exp(-x) <= upper, for x >= 0; at most 2 apart up to 2^16 bits."""
    if x >= bits:
        return 0, 1
    if x == 0:
        return 1 << bits, 1 << bits
    halvings = max(0, int(x).bit_length() + 8)
    work = bits + halvings + 16
    y = (x.numerator << (work - halvings)) // x.denominator  # floor of 2^work x / 2^halvings
    lower, upper = _series(y, work)
    lower -= 1  # exp falls by at most one unit between y and the next integer
    for _ in range(halvings):
        lower = lower * lower >> work
        upper = -(-upper * upper >> work)
    return lower >> (work - bits), -(-upper >> (work - bits))


def _series(y: int, work: int) -> tuple[int, int]:
    """Bounds on 2^work exp(-y / 2^work) from its alternating series, for y < 2^(work - 8)."""
    term = total = 1 << work
    steps = 0
    while term:
        steps += 1
        term = (term * y >> work) // steps
        total += -term if steps % 2 else term
    error = 2 * (steps + 1)  # every term is off by less than 2 units, and so is all that was left out
    return total - error, total + error


def exp_floats(x: Floats) -> Floats:
    """exp(-x) for 0 <= x <= 64, each within a factor 1 +- 2^-40, by additions and products alone."""
    result = exp_unit(x * 2.0**-6)
    for _ in range(6):
        result *= result
    return result


def exp_unit(x: Floats) -> Floats:
    """exp(-x) for 0 <= x <= 1, each within a factor 1 +- 2^-46: IEEE 754 promises nothing of `exp`."""
    result = np.ones_like(x)
    for k in range(_DEGREE, 0, -1):
        result *= x
        result *= -1.0 / k
        result += 1.0
    return result


def below_exp(x: Fraction, word: int, source: Randomness) -> bool:
    """Whether the uniform number whose first 64 bits are `word` lies below exp(-x); exact.

    Its further bits are drawn only while they could matter.
    """
    bits = 64
    while True:
        lower, upper = exp_bounds(x, bits)
        if word + 1 <= lower:
            return True
        if word >= upper:
            return False
        word, bits = extend(word, bits, source), 2 * bits
