"""How far noisy counts lie from what is expected, beside noise; and how far noise alone may well take them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from understudy.report.code_groups import Floats

CHANCE = 0.01  # that noise alone makes two columns that do not go together look as if they did


@dataclass(frozen=True)
class Signal:
    """A ratio of signal to noise: 1 is as much again as noise. NaN where it is not known.

    `by_chance` is the ratio that noise alone exceeds in one of a hundred tables: large where only a few numbers tell,
    since few draws of noise may all be large.
    """

    ratio: float
    by_chance: float


UNKNOWN = Signal(math.nan, 0.0)


def signal_to_noise(off: Floats, variances: Floats) -> Signal:
    """The signal in deviations with noise of these variances, each independent of the others.

    Noise makes any two tables differ by its variance in each cell; what is left over is signal.
    """
    noise = float(variances.sum())
    if not noise > 0:
        return Signal(math.inf, 0.0)
    # A sum of squares of unlike noise varies like that of so many of alike noise (Satterthwaite).
    alike = noise**2 / float((variances**2).sum())
    return Signal(_ratio(float((off**2).sum()) / noise), _ratio(_largest_share(alike)))


def of_parts(off: Floats, variance: float, parts: int) -> Signal:
    """The same of deviations that lie in a space of so many dimensions, with noise alike in every direction."""
    return Signal(_ratio(float((off**2).sum()) / (variance * parts)), _ratio(_largest_share(parts)))


def _ratio(share: float) -> float:
    """Of squared deviations as a multiple of the noise's: what is left over, in the noise's own scale."""
    return math.sqrt(max(share - 1, 0.0))


def _largest_share(draws: float) -> float:
    """What the mean square of so many draws exceeds with the chance above (Wilson and Hilferty)."""
    part = 2 / (9 * draws)
    return float((1 - part + NormalDist().inv_cdf(1 - CHANCE) * np.sqrt(part)) ** 3)
