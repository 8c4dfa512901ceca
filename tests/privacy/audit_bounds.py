"""What an attacker's hits prove about epsilon: lower bounds that hold with a stated confidence.

The attacker sees a statistic in two worlds, without and with one unit, and guesses "with" above a threshold.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special, stats


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Delta at epsilon of a Gaussian whose two worlds lie mu standard deviations apart."""
    far = math.exp(epsilon + special.log_ndtr(-epsilon / mu - mu / 2))
    return float(special.ndtr(-epsilon / mu + mu / 2)) - far


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon at delta of the same: the ceiling of any audit."""
    if mu <= 0 or gaussian_delta(0.0, mu) <= delta:
        return 0.0
    return float(optimize.brentq(lambda e: gaussian_delta(e, mu) - delta, 0.0, 50 * mu + mu**2, xtol=1e-12))


def most(hits: int, runs: int, alpha: float) -> float:
    """The Clopper-Pearson upper bound on a probability."""
    return 1.0 if hits == runs else float(stats.beta.ppf(1 - alpha, hits + 1, runs - hits))


def least(hits: int, runs: int, alpha: float) -> float:
    """The Clopper-Pearson lower bound on a probability."""
    return 0.0 if hits == 0 else float(stats.beta.ppf(alpha, hits, runs - hits + 1))


def mu_proved(without: np.ndarray, with_: np.ndarray, alpha: float) -> float:
    """A lower bound on mu at confidence 1 - alpha, from one test at threshold 0.

    For whatever is mu-Gaussian private, every test has
    false negatives >= Phi(Phi^-1(1 - false positives) - mu).
    """
    false_positives = most(int((without > 0).sum()), without.size, alpha / 2)
    false_negatives = most(int((with_ <= 0).sum()), with_.size, alpha / 2)
    return float(special.ndtri(1 - false_positives) - special.ndtri(false_negatives))


def epsilon_proved(without: np.ndarray, with_: np.ndarray, delta: float, alpha: float) -> float:
    """A lower bound on epsilon at delta from the definition alone, the best of 21 thresholds.

    (epsilon, delta)-privacy means P(with) <= e^epsilon P(without) + delta, for every event.
    """
    thresholds = np.linspace(-4, 4, 21) * float(np.std(without))
    best = 0.0
    for threshold in thresholds:
        hits = least(int((with_ > threshold).sum()), with_.size, alpha / 2 / thresholds.size)
        false = most(int((without > threshold).sum()), without.size, alpha / 2 / thresholds.size)
        if hits > delta:
            best = max(best, math.log((hits - delta) / false))
    return best
