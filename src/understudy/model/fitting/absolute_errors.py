"""The L1 loss, by squares whose weights follow the errors (iteratively reweighted least squares)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from understudy.marginals import Measurement
from understudy.model.fit_report import Listener, OptimalityCertificate
from understudy.model.fitting.loss import absolute
from understudy.model.fitting.observations import Observations
from understudy.model.fitting.refinement import Goal
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats

_ROUNDS = 60
_SHRINK = 0.6

Squares = Callable[[list[Measurement]], tuple[Floats, int]]


def reweight(
    measurements: Sequence[Measurement],
    observations: Observations,
    possible: Floats | None,
    total: float,
    squares: Squares,
    goal: Goal,
    callback: Listener | None,
) -> tuple[Floats, OptimalityCertificate]:
    """Clique marginals of least absolute error and their certificate.

    |e| / s is at most (e^2 / d + d) / 2s, with equality at d = |e|: each round minimises that bound with `squares`,
    d at least a width that shrinks. The weighted errors, clipped to 1/s, are a dual point.
    """
    asked = Observations(observations.layout.tree, measurements, merge=False)
    propagation = Propagation(asked.layout)
    values, stddev = asked.values, asked.weights**-0.5
    spread = stddev.copy()
    width, steps, bound, best = 1.0, 0, -np.inf, np.inf
    marginals = np.zeros(asked.layout.cells)
    for _ in range(_ROUNDS):
        fitted, taken = squares(_rescaled(measurements, np.sqrt(stddev * spread)))
        steps += taken
        apart = asked.answers(propagation, fitted) * total - values
        loss = absolute(apart + values, values, stddev)
        dual = np.clip(apart / (stddev * spread), -1.0 / stddev, 1.0 / stddev)
        bound = max(bound, _lower_bound(asked, propagation, dual, possible, total))
        if loss < best:
            marginals, best = fitted, loss
        found = OptimalityCertificate(best, max(best - bound, 0.0), steps)
        if callback is not None:
            callback(found)
        if found.gap <= goal.target or steps >= goal.limit:
            break
        width *= _SHRINK
        spread = np.maximum(np.abs(apart), width * stddev)
    return marginals, found


def _rescaled(measurements: Sequence[Measurement], stddev: Floats) -> list[Measurement]:
    """The same measurements with other scales."""
    changed, start = [], 0
    for m in measurements:
        stop = start + m.values.size
        changed.append(Measurement(m.clique, m.values, stddev[start:stop], m.query))
        start = stop
    return changed


def _lower_bound(
    asked: Observations, propagation: Propagation, dual: Floats, possible: Floats | None, total: float
) -> float:
    """A lower bound on the L1 loss of every distribution, for any dual whose entries are within 1/stddev."""
    cost = np.zeros(asked.layout.cells)
    asked.add_transpose(propagation, total, dual, cost)
    if possible is not None:
        cost += possible
    return propagation.cheapest(cost) - float(dot(dual, asked.values))
