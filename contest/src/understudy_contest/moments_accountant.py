"""The moments accountant: what noised gradients on random batches cost.

For the sampled Gaussian mechanism each record joins a batch with probability `rate`, and Gaussian noise of
`multiplier` times the clipping norm is added to the summed gradients. At integer orders its Renyi divergence is
exactly that of Mironov, Talwar and Zhang, *Renyi differential privacy of the sampled Gaussian mechanism* (2019),
and (epsilon, delta) follows by Canonne, Kamath and Steinke (2020), Proposition 12. This is NOT the accountant of the
curator: it assumes real-valued noise, and serves the one rival that cannot ask a curator.
"""

from __future__ import annotations

import math

import numpy as np

from understudy.errors import BudgetError

ORDERS = (*range(2, 65), *range(68, 257, 4), *range(272, 1025, 16))


def renyi(rate: float, multiplier: float, order: int) -> float:
    """The Renyi divergence of one step at an integer order of at least 2, for one record added or removed."""
    if rate == 1:
        return order / (2 * multiplier**2)
    k = np.arange(order + 1)
    ways = math.lgamma(order + 1) - np.array([math.lgamma(i + 1) + math.lgamma(order - i + 1) for i in k])
    joined, left = k * math.log(rate), (order - k) * math.log1p(-rate)
    terms = ways + joined + left + (k * k - k) / (2 * multiplier**2)
    largest = float(terms.max())
    return max(0.0, (largest + math.log(np.exp(terms - largest).sum())) / (order - 1))


def epsilon_of(rate: float, multiplier: float, steps: int, delta: float) -> float:
    """The epsilon of so many steps at this delta: the best over all orders."""
    _check(rate, delta)
    if steps == 0:
        return 0.0
    best = math.inf
    for order in ORDERS:
        loss = steps * renyi(rate, multiplier, order)
        spare = math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
        best = min(best, loss + spare)
    return max(0.0, best)


def multiplier_for(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The least noise multiplier, to a thousandth, at which so many steps cost no more than (epsilon, delta)."""
    _check(rate, delta)
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise BudgetError(f"epsilon {epsilon!r} is not a finite number above 0.")
    low, high = 0.1, 1.0
    while epsilon_of(rate, high, steps, delta) > epsilon:
        low, high = high, 2 * high
        if high > 1e6:
            raise BudgetError(f"no amount of noise makes {steps} steps cost epsilon {epsilon!r}.")
    while high - low > 1e-3 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(rate, middle, steps, delta) > epsilon else (low, middle)
    return high


def _check(rate: float, delta: float) -> None:
    if not 0 < rate <= 1:
        raise BudgetError(f"sampling rate {rate!r} is not above 0 and at most 1.")
    if not 0 < delta < 1:
        raise BudgetError(f"delta {delta!r} is not between 0 and 1.")
