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
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.processors import all_cores

Floats = npt.NDArray[np.float64]

# Room, in each fold, for the rounding of a dozen operations.
_ROUNDING = 1e-13
_PART = 2048  # grid points that one core folds at a time
_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


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
    """A bound on the maximum over t at grid point `home`, times e^eps0 - 1, and the knot of t nearest to it.

    At knot s, f(e - t) is near[home - s] and f(e - t + eps0) is far[home - s]; the last knot, t = eps0, may lie
    off the grid, so its values have arrays of their own.
    """
    last = len(v) - 1
    top = v[last]
    best = (top - v[seed]) * near[home - seed] + (v[seed] - 1) * far[home - seed]
    # Stretches that widen away from the seed: far from the maximum, a wide bound is good enough.
    depth, end, width = 0, seed, 1
    while end > 0:
        stack[depth, 0], stack[depth, 1] = (end - width if end > width else 0), end
        depth, end, width = depth + 1, end - width, 3 * width
    start, width = seed, 1
    while start < last:
        stack[depth, 0], stack[depth, 1] = start, (start + width if start + width < last else last)
        depth, start, width = depth + 1, start + width, 3 * width
    for i in range(depth // 2):  # the nearest last, since the last is looked at first
        for side in range(2):
            stack[i, side], stack[depth - 1 - i, side] = stack[depth - 1 - i, side], stack[i, side]
    while depth > 0:
        depth -= 1
        s0, s1 = stack[depth, 0], stack[depth, 1]
        v0, v1 = v[s0], v[s1]
        near0, far0, near1, far1 = near[home - s0], far[home - s0], near[home - s1], far[home - s1]
        if s1 == last:
            near1, far1 = edge[home], near[home]
        at0, at1 = (top - v0) * near0 + (v0 - 1) * far0, (top - v1) * near1 + (v1 - 1) * far1
        if at0 > best:
            best, seed = at0, s0
        if at1 > best:
            best, seed = at1, (s1 if s1 < last else last - 1)
        # Along chords near = near0 + b (1/v - 1/v0) and far = far0 + d (1/v - 1/v0), the value is
        # c + alpha v + beta / v; alpha and beta are taken here times the chords' common run, 1/v0 - 1/v1.
        b, d = near0 - near1, far0 - far1
        alpha, beta = (far0 - near0) * (v1 - v0) + (b - d) * v1, (top * b - d) * v0 * v1
        if alpha >= 0 or beta >= 0 or beta >= v0 * v0 * alpha or beta <= v1 * v1 * alpha:
            continue  # no maximum inside: the ends are all there is
        inside = math.sqrt(beta / alpha)
        share = v1 * (inside - v0) / (inside * (v1 - v0))
        bound = (top - inside) * (near0 - share * b) + (inside - 1) * (far0 - share * d)
        if bound <= best:
            continue
        if s1 - s0 == 1 or bound <= best * (1 + slack):
            best = bound
            continue
        middle = (s0 + s1) // 2
        stack[depth, 0], stack[depth, 1] = s0, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, s1
        depth += 2
    return best, seed


def fold(
    values: Floats, step: float, eps0: float, slack: float, times: int, instead: Sequence[Floats] = ()
) -> Floats:
    """The curve after `times` choices of range eps0, where each may waste a factor of 1 + slack.

    `instead` are curves of what may take the place of the last choice, of the last two and so on; none where nothing
    may. Below the grid the curve is taken as 1, above it as its last value: both are above the truth.
    """
    whole = int(eps0 / step * (1 + 1e-13))
    rest = eps0 - whole * step
    if whole > 0 and rest <= 1e-13 * eps0:
        rest = 0.0
    last = whole + 1 if rest > 0 else whole
    v = np.exp(np.arange(last + 1) * step)
    v[last] = math.exp(eps0)
    ahead = math.expm1(rest) / math.expm1(step)
    behind = math.expm1(step - rest) / math.expm1(step) if rest > 0 else 1.0
    out = np.array(values, np.float64)
    near, far, edge = (np.empty(last + len(out) + 2) for _ in range(3))
    room = (1 + _ROUNDING) / math.expm1(eps0)
    # Where parts begin does not depend on the cores, as what a fold wastes depends on it by a hair.
    parts = [(first, min(first + _PART, len(out))) for first in range(0, len(out), _PART)]
    stacks = np.empty((len(parts), 64, 2), np.int64)

    def part(number: int) -> None:
        _fold(out, near, far, edge, v, *parts[number], room, slack, stacks[number])

    with all_cores() if len(parts) > 1 else nullcontext(map) as each:
        for number in range(times):
            _lay_out(out, near, far, edge, len(v), whole, ahead, behind)
            list(each(part, range(len(parts))))
            if instead:
                np.maximum(out, instead[number], out=out)
    return out


@njit(cache=True, nogil=True)
def _lay_out(
    out: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    edge: np.ndarray,
    below: int,
    whole: int,
    ahead: float,
    behind: float,
) -> None:
    """The curve with what lies below and above the grid, at t, at t + eps0, and at the last t."""
    size, most = len(out), len(near)
    for i in range(below):
        near[i] = 1.0
    for i in range(size):
        near[below + i] = out[i]
    near[below + size] = out[size - 1]
    for i in range(most):
        j = i + whole if i + whole < most - 1 else most - 2
        far[i] = near[j] + ahead * (near[j + 1] - near[j])
        j = i - whole if i > whole else 1
        edge[i] = near[j - 1] + behind * (near[j] - near[j - 1])


@njit(cache=True, nogil=True)
def _fold(
    out: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    edge: np.ndarray,
    v: np.ndarray,
    first: int,
    end: int,
    room: float,
    slack: float,
    stack: np.ndarray,
) -> None:
    """Fold a part of the grid. The caller makes the arrays: kernels without take a third of the time to compile."""
    below = len(v)
    seed = (below - 1) // 2
    for i in range(first, end):
        best, seed = _largest(near, far, edge, v, i + below, seed, slack, stack)
        value = best * room
        out[i] = value if value < 1.0 else 1.0


@njit(cache=True, nogil=True)
def _mills(x: float) -> float:
    if x < 20:
        return 0.5 * math.erfc(x * _ROOT_HALF) * math.exp(0.5 * x * x) * _ROOT_TWO_PI
    tail = x
    for depth in range(24):
        tail = x + (24 - depth) / tail
    return 1 / tail


def gaussian_curve(mu: float, epsilons: npt.NDArray[Any]) -> Floats:
    """The delta of a Gaussian loss of size mu at each epsilon: `gaussian.delta`, many at once."""
    out = np.empty(len(epsilons))
    _gaussian_curve(mu, epsilons, out)
    return out


@njit(cache=True, nogil=True)
def _gaussian_curve(mu: float, epsilons: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(epsilons)):
        e = epsilons[i]
        a, b = e / mu - mu / 2, e / mu + mu / 2
        if a > 38.5:
            value = 5e-324
        elif a < 0:
            upper = 0.5 * math.erfc(a * _ROOT_HALF)
            lower = 0.5 * math.erfc(b * _ROOT_HALF) * math.exp(e) if e < 700 else 0.0
            value = (upper - lower if upper > lower else 0.0) + _ROUNDING * upper
        else:
            first, second = _mills(a), _mills(b)
            density = math.exp(-0.5 * a * a) / _ROOT_TWO_PI
            value = density * ((first - second if first > second else 0.0) + _ROUNDING * first)
        out[i] = value if value < 1.0 else 1.0
