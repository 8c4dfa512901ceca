"""How many records there are, from the measurements alone: the inverse-variance mean of their sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.model.tree.tree_layout import Floats

_STEPS = 300
_EXACT = 1e-7
_ROUNDING = 1e-28  # of a squared norm


def estimate_total(domain: Domain, measurements: Sequence[Measurement]) -> float:
    """The total that the measurements imply; one record when they imply none, or no positive number."""
    numerator = denominator = 0.0
    for measurement in measurements:
        found = _sum_of(measurement, domain.size(measurement.clique))
        if found is not None:
            value, variance = found
            numerator += value / variance
            denominator += 1.0 / variance
    estimate = numerator / denominator if denominator > 0 else _against_uniform(domain, measurements)
    return estimate if np.isfinite(estimate) and estimate >= 1e-6 else 1.0


def _sum_of(measurement: Measurement, cells: int) -> tuple[float, float] | None:
    """The sum of all cells as this measurement tells it, with its variance; None when it does not."""
    scale = np.broadcast_to(measurement.stddev, measurement.values.shape)
    if measurement.query is None:
        return float(measurement.values.sum()), float(np.square(scale).sum())
    combination = _combination(measurement, scale, cells)
    if combination is None:
        return None
    return float(combination @ measurement.values), float(np.square(combination * scale).sum())


def _combination(measurement: Measurement, scale: Floats, cells: int) -> Floats | None:
    """The least noisy c with `Q^T c = 1`, so that c @ answers is the total; None when there is none.

    Conjugate gradients on the normal equations from zero find the solution of least norm in units of noise.
    """
    query = measurement.query
    assert query is not None
    ones = np.ones(cells)
    solution = np.zeros(measurement.values.size)
    residual = ones.copy()
    gradient = query.apply(residual) / scale
    step = gradient.copy()
    norm = float(gradient @ gradient)
    least = _ROUNDING * norm  # below this the gradient is rounding alone, and the search is over
    for _ in range(min(_STEPS, 2 * measurement.values.size + 10)):
        if norm <= least or np.abs(residual).max() < _EXACT:
            break
        moved = query.adjoint(step / scale)
        length = norm / max(float(moved @ moved), 1e-300)
        solution += length * step
        residual -= length * moved
        gradient = query.apply(residual) / scale
        before, norm = norm, float(gradient @ gradient)
        step = gradient + (norm / before) * step
    if np.abs(residual).max() < 1e-6:
        return solution / scale
    plain = np.ones(measurement.values.size)  # too many scales to converge: a partition still adds up
    return plain if np.allclose(query.adjoint(plain), ones, rtol=0, atol=1e-12) else None


def _against_uniform(domain: Domain, measurements: Sequence[Measurement]) -> float:
    """The total of a uniform table that fits best: all that can be said when no sum was measured."""
    top = bottom = 0.0
    for measurement in measurements:
        size = domain.size(measurement.clique)
        shape = np.broadcast_to(measurement.stddev, measurement.values.shape) ** -2.0
        expected = measurement.answers(np.full(size, 1.0 / size))
        one = np.abs(measurement.answers(np.eye(1, size)[0])).max(initial=0.0)
        expected = np.where(
            np.abs(expected) > _EXACT * one, expected, 0.0
        )  # rounding says nothing of a total
        top += float(shape @ (expected * measurement.values))
        bottom += float(shape @ expected**2)
    return top / bottom if bottom > 0 else 1.0
