"""What an attacker's hits prove about epsilon: lower bounds that hold with a stated confidence.

The attacker sees a statistic in two worlds, without and with one unit, and guesses "with" above a threshold.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from understudy.auditing.bounds import epsilon_outright as epsilon_proved
from understudy.auditing.bounds import least, most

__all__ = ["epsilon_proved", "gaussian_delta", "gaussian_epsilon", "least", "most", "mu_proved"]


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Delta at epsilon of a Gaussian whose two worlds lie mu standard deviations apart."""
    far = math.exp(epsilon + special.log_ndtr(-epsilon / mu - mu / 2))
    return float(special.ndtr(-epsilon / mu + mu / 2)) - far


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon at delta of the same: the ceiling of any audit."""
    if mu <= 0 or gaussian_delta(0.0, mu) <= delta:
        return 0.0
    return float(optimize.brentq(lambda e: gaussian_delta(e, mu) - delta, 0.0, 50 * mu + mu**2, xtol=1e-12))


def mu_proved(without: np.ndarray, with_: np.ndarray, alpha: float) -> float:
    """A lower bound on mu at confidence 1 - alpha, from one test at threshold 0.

    For whatever is mu-Gaussian private, every test has
    false negatives >= Phi(Phi^-1(1 - false positives) - mu).
    """
    false_positives = most(int((without > 0).sum()), without.size, alpha / 2)
    false_negatives = most(int((with_ <= 0).sum()), with_.size, alpha / 2)
    return float(special.ndtri(1 - false_positives) - special.ndtri(false_negatives))
