"""Solve a positive system without forming it: preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.model.plan import Floats
from understudy.model.projections import dot


def conjugate_gradients(
    apply: Callable[[Floats], Floats], right: Floats, diagonal: Floats, accuracy: float, steps: int
) -> tuple[Floats, int]:
    """An x with `apply(x)` close to `right`, and how often `apply` was called.

    `apply` may return the same array each time. Ends once the error has fallen by `accuracy` in the norm of the
    preconditioner `1 / diagonal`; any number of steps gives a direction of descent.
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    preconditioned = residual / diagonal
    step = preconditioned.copy()
    energy = first = float(dot(residual, preconditioned))
    for taken in range(steps):
        if not energy > accuracy**2 * first:
            return solution, taken
        image = apply(step)
        curvature = float(dot(step, image))
        if not curvature > 0.0:
            return solution, taken + 1
        length = energy / curvature
        solution += length * step
        residual -= length * image
        np.divide(residual, diagonal, out=preconditioned)
        before, energy = energy, float(dot(residual, preconditioned))
        step *= energy / before
        step += preconditioned
    return solution, steps
