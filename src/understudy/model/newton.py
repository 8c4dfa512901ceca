"""Polish a fit to a certified optimum: the proximal-point method with Newton steps in the dual.

The problem is min L(p) over marginals p of the tree, L(p) = 1/2 sum w (B p - y)^2. A proximal step from the field
theta solves min L(p) + KL(p, p_theta) / eta. Its dual has one number r an answer,

    G(r) = sum r^2 / 2w + r y + log Z(theta - eta B^T r) / eta,

smooth and convex, with gradient r / w + y - B p(r) and Hessian 1/w + eta B cov B^T, and cov is one pass over
the tree without an exponential: conjugate gradients solve the Newton system without ever forming it. Every
iterate is theta less measured marginals' functions: always a field with one factor a measured clique.
eta grows, so the steps approach the optimum faster than any fixed rate; r is a dual point, and so a certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.model.certificate import Certificate
from understudy.model.observations import Observations
from understudy.model.plan import Floats
from understudy.model.propagation import Propagation

_GROWTH = 4.0
_CG_STEPS = 60
_CG_ACCURACY = 0.1


@dataclass(eq=False)
class Fit:
    """A field under way: its log-potentials, its marginals, and what they answer."""

    theta: Floats
    marginals: Floats
    separators: Floats
    answers: Floats
    log_total: float


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """1/2 sum w (B p - y)^2 over tables p that sum to one."""

    observations: Observations
    propagation: Propagation
    values: Floats
    weights: Floats

    def fit(self, theta: Floats) -> Fit:
        """The field with these log-potentials."""
        marginals = np.empty_like(theta)
        separators = np.empty(self.observations.plan.separator_cells)
        log_total = self.propagation.marginals(theta, marginals, separators)
        return Fit(theta, marginals, separators, self.observations.answers(self.propagation, marginals), log_total)

    def loss(self, answers: Floats) -> float:
        difference = answers - self.values
        return 0.5 * float(np.dot(self.weights * difference, difference))

    def gradient(self, answers: Floats) -> Floats:
        return self.weights * (answers - self.values)

    def lower_bound(self, dual: Floats, possible: Floats | None, spare: Floats) -> float:
        """No distribution has a loss below this, whatever `dual` is: -L*(r) + min over records of B^T r."""
        spare[:] = 0.0
        self.observations.blame(self.propagation, 1.0, dual, spare)
        if possible is not None:
            spare += possible
        conjugate = float(np.dot(dual, 0.5 * dual / self.weights + self.values))
        return self.propagation.cheapest(spare) - conjugate


class Newton:
    """The polish of one problem, step by step."""

    def __init__(self, problem: LeastSquares, fit: Fit, possible: Floats | None, limit: int) -> None:
        self.problem, self.fit, self.possible = problem, fit, possible
        self.dual = problem.gradient(fit.answers)
        self.steps = 0
        self.limit = limit
        self._spare = np.empty_like(fit.theta)
        empty = np.empty_like
        self._trial = Fit(empty(fit.theta), empty(fit.theta), empty(fit.separators), fit.answers, 0.0)
        self.best_bound = -np.inf

    def certificate(self) -> Certificate:
        """The loss now and a proven bound on what is left."""
        loss = self.problem.loss(self.fit.answers)
        for dual in (self.problem.gradient(self.fit.answers), self.dual):
            bound = self.problem.lower_bound(dual, self.possible, self._spare)
            self.best_bound = max(self.best_bound, bound)
        return Certificate(loss, max(loss - self.best_bound, 0.0), self.steps)

    def first_stride(self) -> float:
        """An eta that moves a typical log-potential by about one."""
        typical = float(np.median(np.abs(self.dual))) if self.dual.size else 0.0
        return 1.0 / max(typical, 1e-12 * float(np.abs(self.dual).max(initial=0.0)), 1e-30)

    def advance(self, eta: float) -> float:
        """The decrease in loss as a share of what the linear model promised; no step is kept that has none."""
        problem, fit, trial = self.problem, self.fit, self._trial
        slope = problem.values - fit.answers
        dual, left = self._solve(slope, eta)
        np.copyto(trial.theta, fit.theta)
        problem.observations.blame(problem.propagation, -eta, dual, trial.theta)
        trial.log_total = problem.propagation.marginals(trial.theta, trial.marginals, trial.separators)
        self.steps += 1
        loss = problem.loss(fit.answers)
        promised = loss - 0.5 * float(np.dot(problem.weights, np.square(dual / problem.weights + left)))
        if trial.log_total == -np.inf or not promised > 0:
            return -1.0
        trial.answers = problem.observations.answers(problem.propagation, trial.marginals)
        share = (loss - problem.loss(trial.answers)) / promised
        if share > 1e-3:
            self.dual = dual
            self.fit, self._trial = trial, fit
            problem.propagation.rebase(trial.theta, trial.separators)
        return share

    def _solve(self, slope: Floats, eta: float) -> tuple[Floats, Floats]:
        """The Newton direction, by preconditioned conjugate gradients."""
        problem = self.problem
        inverse = 1.0 / problem.weights
        spread = problem.observations.diagonal(problem.propagation, self.fit.marginals)
        scale = 1.0 / (inverse + eta * np.maximum(spread - self.fit.answers**2, 0.0))
        solution = np.zeros_like(slope)
        residual = -slope
        preconditioned = scale * residual
        direction = preconditioned.copy()
        energy = first = float(residual @ preconditioned)
        goal = first * _CG_ACCURACY**2
        for _ in range(_CG_STEPS):
            if energy <= goal or self.steps >= self.limit:
                break
            image = self._hessian(direction, eta, inverse)
            length = energy / float(direction @ image)
            solution += length * direction
            residual -= length * image
            np.multiply(scale, residual, out=preconditioned)
            before, energy = energy, float(residual @ preconditioned)
            direction *= energy / before
            direction += preconditioned
        return solution, residual

    def _hessian(self, direction: Floats, eta: float, inverse: Floats) -> Floats:
        problem = self.problem
        self._spare[:] = 0.0
        problem.observations.blame(problem.propagation, eta, direction, self._spare)
        problem.propagation.covariance(self.fit.marginals, self.fit.separators, self._spare)
        self.steps += 1
        return inverse * direction + problem.observations.answers(problem.propagation, self._spare)


def polish(
    newton: Newton,
    *,
    target: float,
    fine: float,
    patience: int,
    callback: Callable[[Certificate], None] | None,
) -> Certificate:
    """The certificate once the gap is at most `target`, and `fine` if that takes no more than `patience` steps."""
    eta = newton.first_stride()
    found = newton.certificate()
    stalled = 0
    while True:
        if callback is not None:
            callback(found)
        enough = found.gap <= fine or (found.gap <= target and newton.steps >= patience)
        if enough or newton.steps >= newton.limit or stalled >= 12:
            return found
        share = newton.advance(eta)
        before, found = found, newton.certificate()
        stalled = 0 if found.gap < 0.99 * before.gap else stalled + 1
        eta *= _GROWTH if share > 0.6 else 1.0 if share > 0.2 else 0.25
