"""The privacy curve of Gaussian noise: the delta of a loss of size mu, at any epsilon, to the last digits.

    delta(epsilon) = Phi(-a) - e^epsilon Phi(-b),     a = epsilon/mu - mu/2,   b = epsilon/mu + mu/2
                   = phi(a) (R(a) - R(b)),            R(x) = Phi(-x) / phi(x), Mills' ratio

The second form neither overflows nor cancels badly, so it holds down to the smallest float.
Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from collections.abc import Callable

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
# Relative room for the rounding of erfc, exp and the difference of two ratios (each below 1e-14 here).
_ROUNDING = 1e-13


def mills(x: float) -> float:
    """Phi(-x) / phi(x) for x of at least -30."""
    if x < 20:
        return 0.5 * math.erfc(x * _ROOT_HALF) * math.exp(0.5 * x * x) * _ROOT_TWO_PI
    tail = x
    for depth in range(24, 0, -1):
        tail = x + depth / tail
    return 1 / tail


def delta(mu: float, epsilon: float) -> float:
    """The delta at epsilon of a Gaussian loss of size mu, rounded up; mu zero is no loss at all."""
    if mu <= 0:
        return max(0.0, -math.expm1(epsilon)) if epsilon < 0 else 0.0
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a > 38.5:
        return 5e-324  # the smallest float: rounded up, never down to nothing
    if a < 0:
        upper = 0.5 * math.erfc(a * _ROOT_HALF)
        lower = 0.5 * math.erfc(b * _ROOT_HALF) * math.exp(epsilon) if epsilon < 700 else 0.0
        return min(1.0, max(0.0, upper - lower) + _ROUNDING * upper)
    density = math.exp(-0.5 * a * a) / _ROOT_TWO_PI
    first = mills(a)
    return min(1.0, density * (max(0.0, first - mills(b)) + _ROUNDING * first))


def crossing(curve: Callable[[float], float], delta: float, guess: float) -> float:
    """The epsilon at which a falling curve of deltas reaches `delta`, from the side that keeps the promise.

    Illinois' rule on the logarithms of delta, which are nearly straight, inside a bracket that only shrinks.
    """
    target = math.log(delta)

    def height(epsilon: float) -> float:
        value = curve(epsilon)
        return (math.log(value) if value > 0 else -800.0) - target

    high = max(guess, 1e-300)
    while (above := height(high)) > 0:
        high *= 2
        if high > 1e300:
            return math.inf
    low = high
    while (below := height(low)) <= 0:
        high, above, low = low, below, low * 0.8
        if low < 1e-9 * guess:
            return high if height(0.0) > 0 else 0.0
    kept = 0
    for _ in range(200):
        if high - low <= 1e-13 * high:
            break
        middle = high - above * (high - low) / (above - below)
        if not low < middle < high:
            middle = 0.5 * (low + high)
        value = height(middle)
        if value > 0:
            low, below = middle, value
            above, kept = (above / 2 if kept == 1 else above), 1
        else:
            high, above = middle, value
            below, kept = (below / 2 if kept == -1 else below), -1
            if above == 0:
                break
    return high
