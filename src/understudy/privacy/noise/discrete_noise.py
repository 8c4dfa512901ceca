"""Exact integer noise: the discrete Gaussian and the discrete Laplace.

The probability of k is proportional to exp(-k^2 / (2 scale^2)), or exp(-|k| / scale), where the scale is
the exact value of the float that was given. Proofs: docs/privacy.md, "Noise".
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy.privacy.noise.cumulative_table import Law, tabulate
from understudy.privacy.noise.exp_bounds import FLOAT_ERROR, below_exp, exp_unit
from understudy.privacy.noise.randomness import Randomness

Integers = npt.NDArray[np.int64]

LARGEST_SCALE = 2.0**50  # keeps every result well inside an int64
_DIRECT = {2: 512, 1: 64}  # up to these scales one table holds every number; above, one number a block
_CHUNK = 1 << 16


def discrete_gaussian(scale: float, size: int, source: Randomness) -> Integers:
    """`size` independent draws with probability proportional to exp(-k^2 / (2 scale^2)).

    Privacy: within `table_error(scale)` a draw, in total variation, of that law (docs/privacy.md, "Noise").
    """
    return _draw(2, _exact(scale), _size(size), source)


def discrete_laplace(scale: float, size: int, source: Randomness) -> Integers:
    """`size` independent draws with probability proportional to exp(-|k| / scale).

    Privacy: within `laplace_error(scale)` a draw, in total variation, of that law (docs/privacy.md, "Noise").
    """
    return _draw(1, _exact(scale), _size(size), source)


def table_error(scale: float) -> Fraction:
    """An upper bound on the total variation distance between one `discrete_gaussian` draw and its law.

    n draws add at most n (1 + e^epsilon) times this to delta. A power of two, so `float()` of it is exact.
    """
    return _error(2, _exact(scale))


def laplace_error(scale: float | Fraction) -> Fraction:
    """An upper bound on the total variation distance between one `discrete_laplace` draw and its law."""
    return _error(1, _exact(scale))


def _error(power: int, scale: Fraction) -> Fraction:
    law, width = _plan(power, scale)
    # A rejection that accepts at least one proposal in four makes at most eight of the proposal's error.
    return tabulate(law).error * (1 if width == 1 else 8)


def _draw(power: int, scale: Fraction, size: int, source: Randomness) -> Integers:
    law, width = _plan(power, scale)
    drawn = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        wanted = min(size - done, _CHUNK)
        some = _one_by_one(law, wanted, source) if width == 1 else _by_blocks(law, width, wanted, source)
        some = some[:wanted]
        drawn[done : done + some.size] = some
        done += some.size
    return drawn


def _plan(power: int, scale: Fraction) -> tuple[Law, int]:
    """The law to tabulate, and how many numbers stand behind one entry of its table."""
    rate = 1 / (2 * scale**2) if power == 2 else 1 / scale
    if scale <= _DIRECT[power]:
        return Law(power, rate, doubled=True), 1
    width = 1 << (math.floor(scale / 32).bit_length() - 1)  # between scale/64 and scale/32
    return Law(power, rate * width**power, doubled=False), width


def _one_by_one(law: Law, size: int, source: Randomness) -> Integers:
    """Magnitude by table, sign by the word's lowest bit."""
    words = source.words(size)
    return _signed(tabulate(law).draw(words, source), (words & np.uint64(1)).astype(np.int64))


def _signed(magnitude: Integers, negative: Integers) -> Integers:
    signed: Integers = (magnitude ^ -negative) + negative
    return signed


def _by_blocks(law: Law, width: int, size: int, source: Randomness) -> Integers:
    """About `size` draws: a block by the weight of its first number, a place in it, and a coin for the two.

    The coin accepts number k of block a with probability weight(k) / weight(width a); zero with a negative
    sign is refused, so that zero counts once.
    """
    proposals = size + size // 32 + 16
    words = source.words(proposals)
    block = tabulate(law).draw(words, source)
    place = (source.words(proposals) & np.uint64(width - 1)).astype(np.int64)
    kept = _coins(law, width, block, place, source)
    magnitude = block * width + place
    negative = (words & np.uint64(1)).astype(np.int64)
    kept &= (magnitude > 0) | (negative == 0)
    return _signed(magnitude[kept], negative[kept])


def _coins(
    law: Law, width: int, block: Integers, place: Integers, source: Randomness
) -> npt.NDArray[np.bool_]:
    """True with probability exp(-rate ((block + place/width)^power - block^power)), each exactly."""
    part = place.astype(np.float64) / width
    chance = exp_unit(float(law.rate) * (part * (2.0 * block + part) if law.power == 2 else part))
    words = source.words(block.size)
    margin = chance - words * 2.0**-64
    heads = margin > 0
    for i in np.flatnonzero(np.abs(margin) <= 2 * FLOAT_ERROR):  # floats cannot tell: integers decide
        start, end = int(block[i]), int(block[i]) + Fraction(int(place[i]), width)
        heads[i] = below_exp(law.rate * (end**law.power - start**law.power), int(words[i]), source)
    return np.asarray(heads)


def _exact(scale: float | Fraction) -> Fraction:
    """The scale as the exact rational that it is, once it is one that can be drawn."""
    number = isinstance(scale, Real) and not isinstance(scale, bool)
    if not (number and math.isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise ParameterError(
            f"noise scale {scale!r} is not a finite number above 0 and up to 2^50.",
            hint="a scale comes from a budget: check epsilon, delta and the weights.",
        )
    if isinstance(scale, Rational):
        return Fraction(int(scale.numerator), int(scale.denominator))
    return Fraction(float(scale))


def _size(size: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise ParameterError(f"number of draws {size!r} is not a whole number of at least 0.")
    return int(size)
