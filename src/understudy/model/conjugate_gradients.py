"""Solve a positive system without forming it: preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from understudy.model.plan import Floats
from understudy.model.projections import SUMS, dot


def conjugate_gradients(
    apply: Callable[[Floats], Floats],
    ridge: Floats,
    right: Floats,
    diagonal: Floats,
    accuracy: float,
    steps: int,
) -> tuple[Floats, int]:
    """An x with `apply(x) + ridge * x` close to `right`, and how often `apply` was called.

    `apply` may return the same array each time, which is written to. Ends once the error has fallen by `accuracy` in
    the norm of the preconditioner `1 / diagonal`; any number of steps gives a direction of descent.
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    inverse = 1.0 / diagonal
    step = residual * inverse
    energy = first = float(dot(residual, step))
    for taken in range(steps):
        if not energy > accuracy**2 * first:
            return solution, taken
        image = apply(step)
        curvature = _curvature(step, image, ridge)
        if not curvature > 0.0:
            return solution, taken + 1
        before, energy = energy, _move(energy / curvature, step, image, inverse, solution, residual)
        _turn(energy / before, residual, inverse, step)
    return solution, steps


@njit(cache=True, nogil=True, fastmath=SUMS)
def _curvature(step: Any, image: Any, ridge: Any) -> float:
    """The curvature along the step, the ridge added to its image."""
    total = 0.0
    for i in range(step.size):
        image[i] += ridge[i] * step[i]
        total += image[i] * step[i]
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _move(length: float, step: Any, image: Any, inverse: Any, solution: Any, residual: Any) -> float:
    """The error that is left, in the norm of the preconditioner, after going so far along the step."""
    total = 0.0
    for i in range(step.size):
        solution[i] += length * step[i]
        residual[i] -= length * image[i]
        total += residual[i] * residual[i] * inverse[i]
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _turn(ratio: float, residual: Any, inverse: Any, step: Any) -> None:
    """Turn the step to what is left, conjugate to the steps before."""
    for i in range(step.size):
        step[i] = ratio * step[i] + residual[i] * inverse[i]
