"""Solve a positive system without forming it: preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from understudy.compiled import njit
from understudy.model.tree.projection_kernels import SUMS, dot
from understudy.model.tree.tree_layout import Floats


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
        energy = _advance(energy, step, apply(step), ridge, inverse, solution, residual)
        if energy < 0.0:
            return solution, taken + 1
    return solution, steps


@njit(cache=True, nogil=True, fastmath=SUMS)
def _advance(
    energy: float, step: Any, image: Any, ridge: Any, inverse: Any, solution: Any, residual: Any
) -> float:
    """The squared error left after one step, which then becomes the next direction; -1 where nothing curves."""
    curvature = 0.0
    for i in range(step.size):
        image[i] += ridge[i] * step[i]
        curvature += image[i] * step[i]
    if not curvature > 0.0:
        return -1.0
    length, left = energy / curvature, 0.0
    for i in range(step.size):
        solution[i] += length * step[i]
        residual[i] -= length * image[i]
        left += residual[i] * residual[i] * inverse[i]
    for i in range(step.size):
        step[i] = left / energy * step[i] + residual[i] * inverse[i]
    return left
