"""Zero-concentrated differential privacy to (epsilon, delta) and back.

The tight conversion takes, over all alpha = 1 + x > 1, the best of

    ln delta = x (alpha rho - epsilon) + alpha ln(1 - 1/alpha) - ln x.

Setting its derivative to zero gives `epsilon = (2 alpha - 1) rho + ln(1 - 1/alpha)` and, put back,
`ln delta = -x^2 rho - ln alpha`: two equations that are monotone in x, solved by bisection. Every value of x
is a valid bound, so an inexact solution costs tightness, never privacy. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from collections.abc import Callable

# Every result is moved outward by this much, far above the rounding of the few operations behind it.
OUTWARD = 1e-12


def _bisect(excess: Callable[[float], float]) -> float:
    """The x at which the increasing function `excess` crosses zero, searched over ln x."""
    low, high = -745.0, 300.0
    while high - low > 1e-13 * max(1.0, abs(low)):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if excess(math.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))


def _log_shrink(x: float) -> float:
    """ln(1 - 1/alpha) at alpha = 1 + x, without cancellation."""
    return -math.log1p(1 / x) if x > 1e-300 else math.log(x)


def _log_constant(x: float) -> float:
    """alpha ln(1 - 1/alpha) - ln x at alpha = 1 + x."""
    if x < 1:
        return x * math.log(x) - (1 + x) * math.log1p(x)
    return (1 + x) * _log_shrink(x) - math.log(x)


def delta(rho: float, epsilon: float) -> float:
    """The delta that rho-zCDP implies at epsilon."""
    if rho <= 0:
        return 0.0
    x = _bisect(lambda x: (1 + 2 * x) * rho + _log_shrink(x) - epsilon)
    exponent = x * ((1 + x) * rho - epsilon) + _log_constant(x)
    return min(1.0, math.exp(min(0.0, exponent + OUTWARD * (1 + abs(exponent) + x * (1 + x) * rho))))


def epsilon(rho: float, delta: float) -> float:
    """The epsilon that rho-zCDP implies at delta."""
    if rho <= 0:
        return 0.0
    target = -math.log(delta)
    x = _bisect(lambda x: x * x * rho + math.log1p(x) - target)
    value = (1 + x) * rho + (_log_constant(x) + target) / x
    return max(0.0, value + OUTWARD * (abs(value) + (1 + x) * rho))


def rho(epsilon: float, delta: float) -> float:
    """The largest rho for which rho-zCDP implies (epsilon, delta)."""
    target = -math.log(delta)
    x = _bisect(lambda x: x * x * (epsilon - _log_shrink(x)) / (1 + 2 * x) + math.log1p(x) - target)
    value = (epsilon - (target + _log_constant(x)) / x) / (1 + x)
    return max(0.0, value - OUTWARD * (abs(value) + epsilon / (1 + x)))
