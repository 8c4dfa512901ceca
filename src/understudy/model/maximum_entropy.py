"""The field of maximum entropy with given answers: proportional fitting, then Newton's method.

Many distributions may give the best answers. The paper's is the one of maximum entropy: a product of functions
of measured marginals. Both methods here change potentials by such functions only, so they end at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.model import kernels
from understudy.model.conjugate_gradients import conjugate_gradients
from understudy.model.observations import Observations
from understudy.model.plan import Floats
from understudy.model.projections import dot
from understudy.model.propagation import Propagation

_CG_STEPS = 100
_HALVINGS = 8


@dataclass(eq=False)
class Fit:
    """A field under way: its log-potentials, its marginals, and what they answer."""

    theta: Floats
    marginals: Floats
    separators: Floats
    answers: Floats
    log_total: float


def field(observations: Observations, propagation: Propagation, theta: Floats) -> Fit:
    """The field with these log-potentials."""
    marginals = np.empty_like(theta)
    separators = np.empty(observations.plan.separator_cells)
    log_total = propagation.marginals(theta, marginals, separators)
    return Fit(theta, marginals, separators, observations.answers(propagation, marginals), log_total)


def sweep(
    observations: Observations, tables: Floats, targets: Floats, wanted: npt.NDArray[np.bool_], times: int
) -> None:
    """Fit directed conditionals to observed marginals in proportion, in place, so many times over the tree."""
    plan = observations.plan
    if not wanted.any():
        return
    ratios = np.zeros(int(plan.observed[:, 2].max()))
    scratch = np.zeros(plan.separator_cells)
    for _ in range(times):
        kernels.fit_proportions(
            tables,
            scratch,
            plan.walk,
            targets,
            wanted,
            ratios,
            plan.cliques,
            plan.observed,
            plan.first_observed,
            *plan.shapes,
        )


def newton_step(
    observations: Observations, propagation: Propagation, fit: Fit, wanted: Floats, weights: Floats
) -> Fit | None:
    """The field after one Newton step towards the wanted answers; None when there is no better one.

    Minimises log Z(theta - B^T s) + s @ wanted over s; a slight ridge (in units of noise) keeps the system regular.
    """
    apart = fit.answers - wanted
    spread = observations.diagonal(propagation, fit.marginals) - fit.answers**2
    ridge = 1e-6 / weights + 1e-12 * max(float(spread.max(initial=0.0)), 1e-300)
    spare = np.empty_like(fit.theta)

    def hessian(direction: Floats) -> Floats:
        spare[:] = 0.0
        observations.blame(propagation, 1.0, direction, spare)
        propagation.covariance(fit.marginals, fit.separators, spare)
        return ridge * direction + observations.answers(propagation, spare)

    step, _ = conjugate_gradients(hessian, apart, np.maximum(spread, 0.0) + ridge, 1e-2, _CG_STEPS)
    length = 1.0
    for _ in range(_HALVINGS):
        theta = fit.theta.copy()
        observations.blame(propagation, -length, step, theta)
        trial = field(observations, propagation, theta)
        change = trial.log_total - fit.log_total + length * float(dot(step, wanted))
        if trial.log_total > -np.inf and change <= -1e-4 * length * float(dot(step, apart)):
            propagation.rebase(trial.theta, trial.separators)
            return trial
        length *= 0.3
    return None
