"""Towards the optimum by fields of maximum entropy alone: proximal steps in relative entropy.

Each step finds the field p that minimises `loss(p) + pull * KL(p | field before)`. Its dual, to be minimised, has one
number s an answer,

    log Z(theta - B^T s) + s @ values + pull/2 sum s^2 / weights,

and is smooth and convex however many cliques overlap: Newton's method on it, by conjugate gradients over the tree,
ends after a few steps. A field so found is the field before times functions of measured marginals, so it keeps
maximum entropy; its loss exceeds the optimum by at most `pull` times the relative entropy that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.model.fitting import maximum_entropy
from understudy.model.fitting.conjugate_gradients import conjugate_gradients
from understudy.model.fitting.least_squares_loss import LeastSquares
from understudy.model.fitting.maximum_entropy import EntropyFit
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.tree_layout import Floats

_NEWTON_STEPS = 12
_CG_STEPS = 300
_ACCURACY = 0.1
_SHORTEN = 0.3
_SHORTENINGS = 6


@dataclass(frozen=True, eq=False)
class ProximalStep:
    """The field of least loss that was met, the prices of answers, the passes it took, whether it settled."""

    fit: EntropyFit
    loss: float
    dual: Floats
    steps: int
    settled: bool


def proximal_step(
    problem: LeastSquares, fit: EntropyFit, pull: float, enough: float, most: int
) -> ProximalStep:
    """One step from `fit`, until a Newton step gains no more than `enough`, or `most` passes are done."""
    observations, propagation = problem.observations, problem.propagation
    ridge = pull / problem.weights
    moved, steps, settled = np.zeros(observations.count), 0, False
    best, best_loss = fit, problem.loss(fit.answers)
    for _ in range(_NEWTON_STEPS):
        apart = fit.answers - problem.values - ridge * moved
        hessian, spread = maximum_entropy.curvature(observations, propagation, fit)
        most_steps = min(_CG_STEPS, max(most - steps, 1))
        direction, taken = conjugate_gradients(hessian, ridge, apart, spread + ridge, _ACCURACY, most_steps)
        steps += taken
        rise = float(dot(apart, direction))
        following, length = None, 1.0
        for _ in range(_SHORTENINGS):
            theta = fit.theta.copy()
            observations.add_transpose(propagation, -length, direction, theta)
            trial = maximum_entropy.field(observations, propagation, theta)
            steps += 1
            along = moved + 0.5 * length * direction
            change = trial.log_total - fit.log_total
            change += length * float(dot(direction, problem.values + ridge * along))
            if maximum_entropy.possible(trial) and change <= -1e-4 * length * rise:
                following = trial
                break
            length *= _SHORTEN
        if following is None:
            break
        propagation.rebase(following.theta, following.separators)
        fit, moved = following, moved + length * direction
        loss = problem.loss(fit.answers)
        if loss < best_loss:
            best, best_loss = fit, loss
        settled = length == 1.0 and 0.5 * pull * rise <= enough
        if settled or steps >= most:
            break
    return ProximalStep(best, best_loss, pull * moved, steps, settled)
