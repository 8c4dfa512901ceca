"""A number with the interval that it lies in, as far as noise of a known law lets one say."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

from understudy.errors import ParameterError

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number that is not known exactly, and an interval that holds it.

    Attributes:
        value: the estimate.
        low: where the interval begins.
        high: where it ends.
        level: the chance that it holds the number, at least; 0.95 by default.
        covers: in words what that chance is about, and what the interval does not tell of.
    """

    value: float
    low: float
    high: float
    level: float = LEVEL
    covers: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain JSON values."""
        return asdict(self)

    def clipped(self, least: float, most: float) -> Estimate:
        """The same of a number that is known to lie between two others."""
        value, low, high = (min(max(number, least), most) for number in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.level, self.covers)


def quantile(level: float) -> float:
    """How many standard deviations of Gaussian noise hold it with this chance, on both sides."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(f"level {level!r} is not between 0 and 1.", hint="use 0.95.")
    return NormalDist().inv_cdf((1 + float(level)) / 2)


def with_noise(value: float, stddev: float, level: float = LEVEL, covers: str = "") -> Estimate:
    """The estimate that a number with Gaussian noise of this standard deviation is."""
    width = quantile(level) * stddev
    if not math.isfinite(value + width):
        raise ParameterError(f"a number with noise of {stddev!r} is not finite.")
    return Estimate(value, value - width, value + width, level, covers)
