"""Private choices folded into a privacy curve, one at a time, each bound rounded up.

A curve f gives the delta at every epsilon; it falls, and is convex in z = e^epsilon. It is kept as its values on
an even grid of epsilons, and between two grid points the chord in z lies above it. A choice of range `eps0` turns
f into the largest, over t in [0, eps0], of

    p_t f(e - t) + (1 - p_t) f(e - t + eps0),      p_t = (e^eps0 - e^t) / (e^eps0 - 1).

On a stretch of t where both terms follow one chord, that is c + alpha v + beta / v in v = e^t, whose largest value
is known in closed form: so the maximum is over all t, not over a grid of them. Wide stretches are bounded first,
and only those that could hold the maximum are halved. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Room, in each fold, for the rounding of a dozen operations.
_ROUNDING = 1e-13
_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_STARTS = 4


@njit(cache=True, nogil=True)
def _stretch(
    near0: float, far0: float, near1: float, far1: float, v0: float, v1: float, top: float
) -> tuple[float, float, float]:
    """The values at the ends of a stretch v0 < v < v1, and the largest between, when both terms follow chords."""
    at0 = ((top - v0) * near0 + (v0 - 1) * far0) / (top - 1)
    at1 = ((top - v1) * near1 + (v1 - 1) * far1) / (top - 1)
    best = max(at0, at1)
    # near = near0 + b (1/v - 1/v0) and far = far0 + d (1/v - 1/v0)
    span = 1 / v0 - 1 / v1
    b, d = (near0 - near1) / span, (far0 - far1) / span
    alpha = (far0 - d / v0) - (near0 - b / v0)
    beta = top * b - d
    if alpha < 0 and beta < 0:
        v = math.sqrt(beta / alpha)
        if v0 < v < v1:
            part = (1 / v0 - 1 / v) / span
            near, far = near0 + part * (near1 - near0), far0 + part * (far1 - far0)
            best = max(best, ((top - v) * near + (v - 1) * far) / (top - 1))
    return at0, at1, best


@njit(cache=True, nogil=True)
def _largest(
    near: np.ndarray,
    far: np.ndarray,
    edge: np.ndarray,
    v: np.ndarray,
    home: int,
    seed: int,
    slack: float,
    stack: np.ndarray,
) -> tuple[float, int]:
    """A bound on the maximum over t at grid point `home`, and the knot of t that came nearest.

    At knot s, f(e - t) is near[home - s] and f(e - t + eps0) is far[home - s]; the last knot, t = eps0, may lie
    off the grid, so its values have arrays of their own.
    """
    last = len(v) - 1
    top = v[last]
    best = ((top - v[seed]) * near[home - seed] + (v[seed] - 1) * far[home - seed]) / (top - 1)
    depth, start = 0, 0
    for part in range(_STARTS):
        end = (part + 1) * last // _STARTS
        if end > start:
            stack[depth, 0], stack[depth, 1] = start, end
            depth, start = depth + 1, end
    while depth > 0:
        depth -= 1
        s0, s1 = stack[depth, 0], stack[depth, 1]
        near1, far1 = near[home - s1], far[home - s1]
        if s1 == last:
            near1, far1 = edge[home], near[home]
        at0, at1, bound = _stretch(near[home - s0], far[home - s0], near1, far1, v[s0], v[s1], top)
        if bound <= best:
            continue
        if max(at0, at1) > best:
            best, seed = max(at0, at1), (s0 if at0 > at1 else min(s1, last - 1))
        if s1 - s0 == 1 or bound <= best * (1 + slack):
            best = max(best, bound)
            continue
        middle = (s0 + s1) // 2
        stack[depth, 0], stack[depth, 1] = s0, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, s1
        depth += 2
    return best, seed


@njit(cache=True, nogil=True)
def fold(values: np.ndarray, step: float, eps0: float, slack: float, times: int) -> np.ndarray:
    """The curve after `times` choices of range eps0, where each may waste a factor of 1 + slack.

    Below the grid the curve is taken as 1, above it as its last value: both are above the truth.
    """
    size, whole = len(values), int(eps0 / step * (1 + 1e-13))
    rest = eps0 - whole * step
    if whole > 0 and rest <= 1e-13 * eps0:
        rest = 0.0
    last = whole + 1 if rest > 0 else whole
    v = np.exp(np.arange(last + 1) * step)
    v[last] = math.exp(eps0)
    ahead, behind = math.expm1(rest) / math.expm1(step), math.expm1(step - rest) / math.expm1(step)
    below = last + 1
    near = np.empty(below + size + 1)
    far, edge = np.empty_like(near), np.empty_like(near)
    stack = np.empty((64, 2), np.int64)
    out = values.copy()
    for _ in range(times):
        near[:below], near[below : below + size], near[below + size] = 1.0, out, out[size - 1]
        for i in range(len(near)):
            j = min(i + whole, len(near) - 2)
            far[i] = near[j] + ahead * (near[j + 1] - near[j])
            j = max(i - whole, 1)
            edge[i] = near[j - 1] + (behind if rest > 0 else 1.0) * (near[j] - near[j - 1])
        seed = last // 2
        for i in range(size):
            best, seed = _largest(near, far, edge, v, i + below, seed, slack, stack)
            out[i] = min(1.0, best * (1 + _ROUNDING))
    return out


@njit(cache=True, nogil=True)
def _mills(x: float) -> float:
    if x < 20:
        return 0.5 * math.erfc(x * _ROOT_HALF) * math.exp(0.5 * x * x) * _ROOT_TWO_PI
    tail = x
    for depth in range(24):
        tail = x + (24 - depth) / tail
    return 1 / tail


@njit(cache=True, nogil=True)
def gaussian_curve(mu: float, epsilons: np.ndarray) -> np.ndarray:
    """The delta of a Gaussian loss of size mu at each epsilon: `gaussian.delta`, many at once."""
    out = np.empty(len(epsilons))
    for i in range(len(epsilons)):
        e = epsilons[i]
        a, b = e / mu - mu / 2, e / mu + mu / 2
        if a > 38.5:
            out[i] = 5e-324
        elif a < 0:
            upper = 0.5 * math.erfc(a * _ROOT_HALF)
            lower = 0.5 * math.erfc(b * _ROOT_HALF) * math.exp(e)
            out[i] = min(1.0, max(0.0, upper - lower) + _ROUNDING * upper)
        else:
            first = _mills(a)
            density = math.exp(-0.5 * a * a) / _ROOT_TWO_PI
            out[i] = min(1.0, density * (max(0.0, first - _mills(b)) + _ROUNDING * first))
    return out
