"""What an attacker's hits prove about epsilon: lower bounds that hold with a stated confidence.

The attacker sees a statistic in two worlds, without and with one unit, and guesses "with" above a threshold.
How often he is right is counted; Clopper and Pearson's bounds say how lucky he may have been.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.privacy import Gaussian, Laplace, Loss, compose

Floats = npt.NDArray[np.float64]
_WIDEST = 64.0  # times the declared loss: beyond, the attacker is right always and needs no exact figure
_CUTS = 400  # places at which a threshold is tried
_TINY = 1e-300


def most(hits: int, runs: int, alpha: float) -> float:
    """The Clopper-Pearson upper bound on a probability, of which `runs` trials showed `hits`."""
    if hits >= runs:
        return 1.0
    return 1 - _quantile(alpha, runs - hits, hits + 1)


def least(hits: int, runs: int, alpha: float) -> float:
    """The Clopper-Pearson lower bound on a probability."""
    return 1 - most(runs - hits, runs, alpha)


def advantage(without: Floats, with_: Floats, alpha: float) -> float:
    """A lower bound on the total variation distance of the two worlds, from one test: is the statistic above 0?"""
    true = least(int((with_ > 0).sum()), with_.size, alpha / 2)
    false = most(int((without > 0).sum()), without.size, alpha / 2)
    return max(0.0, true - false)


def expected_advantage(losses: Sequence[Loss], runs: int, alpha: float) -> float:
    """What `advantage` is likely to show, at these losses and with so many runs in each world."""
    distance = compose(losses).delta(0.0)
    hits = round(runs * (1 + distance) / 2)
    return max(0.0, least(hits, runs, alpha / 2) - most(runs - hits, runs, alpha / 2))


def epsilon_of(distance: float, losses: Sequence[Loss], delta: float) -> float:
    """The epsilon, at delta, of noise that shows this distance: noise of the declared law, at whatever scale.

    All losses are taken to be larger, or smaller, by one factor: the least that explains the distance.
    """
    if not distance > 0 or not losses:
        return 0.0
    low, high = 0.0, 1.0
    while compose(_larger(losses, high)).delta(0.0) < distance:
        low, high = high, 2 * high
        if high >= _WIDEST:
            break
    for _ in range(24):
        middle = (low + high) / 2
        if compose(_larger(losses, middle)).delta(0.0) < distance:
            low = middle
        else:
            high = middle
    return compose(_larger(losses, low)).epsilon(delta) if low > 0 else 0.0


def epsilon_outright(without: Floats, with_: Floats, delta: float, alpha: float) -> float:
    """A lower bound on epsilon at delta from the definition alone, whatever the noise.

    (epsilon, delta)-privacy means P(event) <= e^epsilon P'(event) + delta for every event, in both directions. The
    event, a statistic beyond a threshold, is chosen on every other run, and counted on those between.
    """
    best, found = 0.0, (True, 0.0)
    cuts = np.quantile(np.concatenate([without[::2], with_[::2]]), np.linspace(0, 1, _CUTS))
    for above in (True, False):
        more, fewer = (with_[::2], without[::2]) if above else (without[::2], with_[::2])
        likely = _shares(more, cuts, above) - delta
        rare = _shares(fewer, cuts, above)
        # about what the bounds below will make of it, so that the event chosen is one that can be proved
        margin = math.sqrt(-2 * math.log(alpha))
        likely = likely - margin * np.sqrt(np.maximum(likely, 0) / more.size)
        rare = rare + margin * np.sqrt(rare / fewer.size) + margin**2 / 2 / fewer.size
        gains = np.where(likely > 0, np.log(np.maximum(likely, _TINY) / rare), 0.0)
        place = int(gains.argmax())
        if gains[place] > best:
            best, found = float(gains[place]), (above, float(cuts[place]))
    above, cut = found
    more, fewer = (with_[1::2], without[1::2]) if above else (without[1::2], with_[1::2])
    hits, false = (int((x > cut).sum() if above else (x < cut).sum()) for x in (more, fewer))
    likely_least = least(hits, more.size, alpha / 2) - delta
    return max(0.0, math.log(likely_least / most(false, fewer.size, alpha / 2))) if likely_least > 0 else 0.0


def _larger(losses: Sequence[Loss], factor: float) -> list[Loss]:
    """The same losses as if their noise were so many times smaller."""
    return [
        Gaussian(loss.sigma / factor, loss.weights, loss.neighbours)
        if isinstance(loss, Gaussian)
        else Laplace(loss.epsilon * factor, loss.count)
        for loss in losses
        if isinstance(loss, Gaussian | Laplace)
    ]


def _shares(statistic: Floats, cuts: Floats, above: bool) -> Floats:
    ordered = np.sort(statistic)
    if above:
        return 1 - np.searchsorted(ordered, cuts, side="right") / ordered.size
    return np.asarray(np.searchsorted(ordered, cuts, side="left") / ordered.size, np.float64)


def _quantile(alpha: float, a: float, b: float) -> float:
    """The x below which the regularised incomplete beta function stays under alpha: the safe side for both bounds."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta(middle, a, b) < alpha:
            low = middle
        else:
            high = middle
    return low


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (modified Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _away(1 + term * d), _away(1 + term / c)
            total *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return math.exp(log_front) * total / a


def _away(x: float) -> float:
    return x if abs(x) > 1e-290 else 1e-290
