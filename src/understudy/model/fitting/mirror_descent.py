"""Any differentiable loss: mirror descent on the field's log-potentials, every step checked to go down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.marginals import Measurement
from understudy.model.fit_report import Listener, OptimalityCertificate
from understudy.model.fitting import maximum_entropy
from understudy.model.fitting.loss import Loss
from understudy.model.fitting.observations import Observations
from understudy.model.fitting.refinement import Goal
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats

_LOOK = 10  # steps between two certificates


def descend(
    measurements: Sequence[Measurement],
    observations: Observations,
    tables: Floats,
    possible: Floats | None,
    total: float,
    loss: Loss,
    goal: Goal,
    callback: Listener | None,
) -> tuple[Floats, OptimalityCertificate]:
    """Clique marginals of least loss and their certificate, from directed conditionals.

    The paper's own method: theta moves against the gradient of the loss by the marginals. The gap is that of
    the linear bound at the fit, which holds for a convex loss.
    """
    asked = Observations(observations.layout.tree, measurements, merge=False)
    propagation = Propagation(asked.layout)
    values = asked.values
    stddev = asked.weights**-0.5
    with np.errstate(divide="ignore"):
        fit = maximum_entropy.field(asked, propagation, np.log(tables))
    now = loss.value(fit.answers * total, values, stddev)
    stride, steps = 0.0, 1
    while True:
        slope = total * np.asarray(loss.gradient(fit.answers * total, values, stddev), np.float64)
        if (steps - 1) % _LOOK == 0 or steps >= goal.limit:
            found = OptimalityCertificate(now, _gap(asked, propagation, fit.answers, slope, possible), steps)
            if callback is not None:
                callback(found)
            if found.gap <= goal.target or steps >= goal.limit:
                return fit.marginals, found
        stride = stride * 2.0 or 1.0 / max(float(np.abs(slope).max(initial=0.0)), 1e-300)
        while True:
            theta = fit.theta.copy()
            asked.add_transpose(propagation, -stride, slope, theta)
            trial = maximum_entropy.field(asked, propagation, theta)
            steps += 1
            then = loss.value(trial.answers * total, values, stddev) if trial.log_total > -np.inf else np.inf
            if then <= now - 0.25 * float(dot(slope, fit.answers - trial.answers)):
                propagation.rebase(trial.theta, trial.separators)
                fit, now = trial, then
                break
            stride *= 0.5
            if stride * float(np.abs(slope).max(initial=0.0)) < 1e-12 or steps >= goal.limit:
                gap = _gap(asked, propagation, fit.answers, slope, possible)
                return fit.marginals, OptimalityCertificate(now, gap, steps)


def _gap(
    observations: Observations,
    propagation: Propagation,
    answers: Floats,
    slope: Floats,
    possible: Floats | None,
) -> float:
    """<gradient, mu> less its least value over records: no convex loss can fall by more."""
    cost = np.zeros(observations.layout.cells)
    observations.add_transpose(propagation, 1.0, slope, cost)
    if possible is not None:
        cost += possible
    return max(float(dot(slope, answers)) - propagation.cheapest(cost), 0.0)
