"""Cumulative tables of integer laws in 256-bit arithmetic, with a computed bound on their error.

A law gives the whole number k >= 0 the weight exp(-rate k^power): power 2 is a Gaussian, power 1 a
Laplace. Proofs: docs/privacy.md, "Noise".
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from understudy.privacy.noise.exp_bounds import exp_bounds
from understudy.privacy.noise.randomness import Randomness, Words, extend

PRECISION = 256  # bits of a tabulated probability
_WORK = PRECISION + 64  # bits of the arithmetic behind it
_LEADING = 63  # bits of a word compared at once; the 64th is the sign
_TOP = (1 << _LEADING) - 1


@dataclass(frozen=True)
class Law:
    """Weights exp(-rate k^power) of k = 0, 1, 2, ...; doubled from 1 on when k stands for both +k and -k."""

    power: int
    rate: Fraction
    doubled: bool


@dataclass(frozen=True, eq=False)
class CumulativeTable:
    """A law ready to be drawn from: the leading bits of its cumulative probabilities, and its error.

    `error` bounds the total variation distance between what is drawn and the law: tails that were cut
    off and rounding included.
    """

    law: Law
    thresholds: Words
    guide: npt.NDArray[np.int64]
    error: Fraction

    def draw(self, words: Words, source: Randomness) -> npt.NDArray[np.int64]:
        """One number for each word, by its upper 63 bits; the lowest bit is left for a sign."""
        from understudy.privacy.noise.table_lookup import UNDECIDED, find

        found = np.empty(words.size, dtype=np.int64)
        if find(words, self.thresholds, self.guide, found):
            for i in np.flatnonzero(found == UNDECIDED):
                found[i] = self._settle(int(words[i]) >> 1, source)
        return found

    def _settle(self, leading: int, source: Randomness) -> int:
        """The number for 63 bits that equal a threshold's own: all 256 bits decide."""
        cumulative, _ = cumulate(self.law)
        return bisect_right(cumulative, extend(leading, PRECISION - _LEADING, source))


@lru_cache(maxsize=128)
def tabulate(law: Law) -> CumulativeTable:
    """The table of a law."""
    cumulative, error = cumulate(law)
    leading = [c >> (PRECISION - _LEADING) for c in cumulative]
    # Past the first threshold whose 63 bits are all ones no word can be decided by them: leave those out.
    kept = leading[: next(i for i, c in enumerate(leading) if c >= _TOP) + 1]
    thresholds = np.array([*kept, (1 << 64) - 1], dtype=np.uint64)  # the last stops every search
    guide_bits = min(16, max(10, (4 * len(kept)).bit_length()))
    starts = np.arange(1 << guide_bits, dtype=np.uint64) << np.uint64(_LEADING - guide_bits)
    guide = np.searchsorted(thresholds, starts, side="right").astype(np.int64)
    return CumulativeTable(law, thresholds, guide, error)


def cumulate(law: Law) -> tuple[list[int], Fraction]:
    """Cumulative probabilities times 2^256, rounded down, ending at 2^256 itself; and the table's error."""
    lower, upper, tail = _weights(law)
    least, most = sum(lower), sum(upper) + tail
    cumulative = [(c << PRECISION) // least for c in accumulate(lower)]
    error = -(-tail << PRECISION) // least + 1
    before = 0
    for low, high, after in zip(lower, upper, cumulative, strict=True):
        tabulated = after - before
        smallest = (low << PRECISION) // most
        largest = -(-(high << PRECISION) // least)
        error += max(tabulated - smallest, largest - tabulated)
        before = after
    # Half the sum of differences, raised to a power of two so that a float holds it exactly.
    return cumulative, Fraction(1 << (error // 2 + 1).bit_length(), 1 << PRECISION)


def _weights(law: Law) -> tuple[list[int], list[int], int]:
    """Lower and upper bounds on the weights times 2^320 until they fall below 2^-256, and on all later ones.

    Each weight is the one before times a ratio, each ratio the one before times exp(-2 rate) when the
    power is 2. Lower bounds are rounded down and upper bounds up at every product.
    """
    one = 1 << _WORK
    ratio_low, ratio_high = exp_bounds(law.rate, _WORK)
    turn_low, turn_high = exp_bounds(2 * law.rate, _WORK) if law.power == 2 else (one, one)
    low = high = one
    lower: list[int] = []
    upper: list[int] = []
    while high >> (_WORK - PRECISION):
        copies = 2 if law.doubled and lower else 1
        lower.append(copies * low)
        upper.append(copies * high)
        low, high = low * ratio_low >> _WORK, -(-high * ratio_high >> _WORK)
        ratio_low, ratio_high = ratio_low * turn_low >> _WORK, -(-ratio_high * turn_high >> _WORK)
    # Ratios never grow, so what follows is at most a geometric series.
    tail = -(-(high << _WORK) // (one - ratio_high))
    return lower, upper, 2 * tail if law.doubled else tail
