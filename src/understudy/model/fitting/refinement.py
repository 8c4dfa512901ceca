"""From a start to a certified optimum.

Where every clique of the tree was measured whole, dual Newton steps of the quadratic programme end at the optimum.
Where cliques join several measured ones, entropic steps find a field of nearly the least loss and of maximum entropy,
and the programme, held to it, the bound that certifies it; whichever of the two is behind goes on. A small model on
which both stall is solved directly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.model.fit_report import Listener, OptimalityCertificate
from understudy.model.fitting import maximum_entropy, starting_point
from understudy.model.fitting.dual.quadratic_programme import QuadraticProgramme
from understudy.model.fitting.entropic_steps import proximal_step
from understudy.model.fitting.interior_point import LARGEST, SMALL, interior_point, unknowns
from understudy.model.fitting.least_squares_loss import LeastSquares
from understudy.model.tree.propagation import directed
from understudy.model.tree.tree_layout import Floats

_ACCURACY = 0.1
_SWEEPS = 20
_ROUNDS = 20
_SETTLE = 10
_FAILURES, _HELD_FAILURES = 4, 8  # steps without a gain, one after another
_DIRECT = 3  # times that a small model is solved whole, each from where the last ended
_SMALL_STEPS = 1_000  # after which a small model is solved by a direct method
_TRIES = 4  # at maximum entropy, before a field without it will do
_NEWTON_STEPS = 12
_PULL, _SHRINK = 0.1, 0.3  # of the first entropic step, in parts of the gap; from one to the next


@dataclass(frozen=True)
class Goal:
    """When to stop: at a gap of `target`; of `fine` if that takes no more than `patience` steps; at `limit` steps."""

    target: float
    fine: float
    patience: int
    limit: int

    def reached(self, found: OptimalityCertificate) -> bool:
        near = found.gap <= self.target and found.steps >= self.patience
        return found.gap <= self.fine or near or found.steps >= self.limit


@dataclass
class Refinement:
    """The best field so far, the best bound so far, and the programme that improves both."""

    problem: LeastSquares
    programme: QuadraticProgramme
    first: Floats  # directed conditionals of the field to begin at: the entropy is relative to it
    marginals: Floats
    loss: float
    spare: Floats  # room for another field; large arrays are slow to come by
    bound: float = -np.inf
    extra: int = 0
    tries: int = 0
    closeness: float = 0.1  # how nearly the cells of a dual step must agree, in shares of the total
    plain: Floats | None = None  # the programme's cells joined along the tree: not of maximum entropy
    plain_loss: float = np.inf
    fit: maximum_entropy.EntropyFit | None = None  # the field that entropic steps have come to
    pull: float = 0.0  # of the next entropic step

    def found(self) -> OptimalityCertificate:
        return OptimalityCertificate(
            self.loss, max(self.loss - self.bound, 0.0), self.programme.steps + self.extra
        )

    def keep(self, marginals: Floats) -> bool:
        """Whether these marginals are the best so far."""
        loss = self.programme.loss(marginals)
        better = bool(loss < self.loss)
        if better:
            self.marginals, self.loss = marginals, loss
        return better

    def offer_plain(self, marginals: Floats) -> None:
        """Keep these marginals for the case that no field of maximum entropy is found that comes as close."""
        loss = self.programme.loss(marginals)
        if loss < self.plain_loss:
            self.plain, self.plain_loss = marginals, loss

    def plain_will_do(self, goal: Goal) -> bool:
        """Whether maximum entropy was tried for long enough and a plain field has come within the target."""
        tried = self.tries >= _TRIES and self.found().steps >= goal.patience
        return tried and self.plain_loss - self.bound <= goal.target

    def settle_for_plain(self, goal: Goal) -> OptimalityCertificate:
        """The last certificate; beyond the target the loss counts for more than the entropy."""
        if self.plain is not None and self.loss - self.bound > goal.target and self.plain_loss < self.loss:
            self.marginals, self.loss = self.plain, self.plain_loss
        return self.found()


def refine(state: Refinement, goal: Goal, callback: Listener | None) -> OptimalityCertificate:
    """The certificate at the end; `state.marginals` holds the field."""
    failures = 0
    problem = state.problem
    answers = problem.observations.answers(problem.propagation, state.marginals)
    state.bound = problem.lower_bound(problem.gradient(answers), state.spare)
    advance, most = (_held, _HELD_FAILURES) if state.programme.held else (_whole, _FAILURES)
    small, solvable = unknowns(problem) <= SMALL, unknowns(problem) <= LARGEST
    advanced = (
        replace(goal, limit=min(goal.limit, _SMALL_STEPS)) if small else goal
    )  # one step may have many passes
    while True:
        found = state.found()
        if callback is not None:
            callback(found)
        stalled = failures >= most or (small and found.steps >= _SMALL_STEPS)
        if goal.reached(found) or stalled or state.plain_will_do(goal):
            found = state.settle_for_plain(goal)
            direct = solvable and found.gap > goal.target and found.steps < goal.limit
            return _solve_whole(state, goal, callback) if direct else found
        accuracy = _ACCURACY if failures == 0 else 1e-3
        moved = advance(state, accuracy, advanced)
        gained = state.found().gap < found.gap * (1 - 1e-3)
        failures = 0 if moved or gained else failures + 1


def _solve_whole(state: Refinement, goal: Goal, callback: Listener | None) -> OptimalityCertificate:
    """The certificate after a small model was solved by a direct method, where the others gave up.

    From a far start prices are only as exact as those of that start; solved again from near it, they are exact.
    """
    problem, layout = state.problem, state.programme.layout
    for _ in range(_DIRECT):
        found = interior_point(problem, state.marginals, goal.fine)
        state.extra += found.steps
        state.bound = max(state.bound, problem.lower_bound(found.dual, state.spare))
        state.keep(starting_point.joined(layout, np.maximum(found.cells, 0.0)))
        if callback is not None:
            callback(state.found())
        if goal.reached(state.found()) or state.loss - state.bound <= goal.target:
            break
    return state.found()


def _whole(state: Refinement, accuracy: float, goal: Goal) -> bool:
    """Take one dual step; say whether it gained. Its cells, joined along the tree, are a field; its value a bound."""
    before = state.programme.bound
    state.programme.advance(accuracy)
    state.bound = max(state.bound, state.programme.bound)
    rise = state.programme.bound - before
    if rise <= max(state.loss - state.bound, goal.fine):  # else far from agreeing, and not worth joining
        last = state.marginals
        if state.keep(starting_point.joined(state.programme.layout, state.programme.cells, state.spare)):
            state.spare = last
    return rise > max(1e-3 * (state.loss - before), 1e-13 * abs(before))


def _held(state: Refinement, accuracy: float, goal: Goal) -> bool:
    """Take entropic steps while the field is behind, proximal steps of the programme while its bound is."""
    programme, problem = state.programme, state.problem
    if state.fit is None:
        _approach(state, goal)
        programme.hold_at(state.marginals)
        return False
    spare = np.empty_like(programme.cells)
    before = state.found().gap
    settled, reached = False, state.loss
    for _ in range(_ROUNDS):
        enough = 0.1 * max(min(before, 1e3 * goal.target), goal.fine)
        settled = _settle(programme, accuracy, enough, state.closeness, goal)
        state.bound = max(state.bound, problem.lower_bound(programme.dual(), spare))
        reached = problem.loss(problem.observations.answers(problem.propagation, programme.cells))
        near = abs(reached - state.bound) <= max(0.1 * before, 0.3 * goal.fine)
        if near or goal.reached(state.found()):
            break
        programme.recentre(looser=settled)
    if goal.reached(state.found()):
        return True
    if state.found().steps < goal.patience:
        _complete(state, goal)
    if state.loss - reached > reached - state.bound:
        _entropic(state, goal)
    state.tries += 1
    if state.found().gap > goal.target:
        state.offer_plain(starting_point.joined(programme.layout, programme.cells))
    programme.recentre(looser=settled)
    state.closeness = max(state.closeness * 0.1, 1e-12)
    return False


def _approach(state: Refinement, goal: Goal) -> None:
    """Take entropic steps until the pull is about what the loss may be above the optimum in the end."""
    problem = state.problem
    with np.errstate(divide="ignore"):
        theta = np.log(directed(state.programme.layout, state.marginals))
    state.fit = maximum_entropy.field(problem.observations, problem.propagation, theta)
    state.pull = max(_PULL * min(state.found().gap, state.loss), goal.target)
    while _entropic(state, goal) and state.pull * _SHRINK > goal.target:
        pass


def _entropic(state: Refinement, goal: Goal) -> bool:
    """Take one entropic step; say whether another one, at a smaller pull, may follow."""
    left = goal.limit - state.found().steps
    if state.fit is None or left <= 0:
        return False
    enough = 0.02 * max(min(goal.target, state.pull), goal.fine)
    step = proximal_step(state.problem, state.fit, state.pull, enough, left)
    state.extra += step.steps
    state.bound = max(state.bound, state.problem.lower_bound(step.dual, state.spare))
    if state.keep(step.fit.marginals):
        state.fit = step.fit
    state.pull *= _SHRINK if step.settled else 1.0 / _SHRINK
    return step.settled


def _settle(
    programme: QuadraticProgramme, accuracy: float, enough: float, closeness: float, goal: Goal
) -> bool:
    """Whether dual steps have come to where one gains no more than `enough` and the cells nearly agree."""
    stuck = 0
    for _ in range(_SETTLE):
        before = programme.bound
        stuck = 0 if programme.advance(accuracy) else stuck + 1
        error, stake = programme.disagreement()
        if programme.bound - before <= enough and stake <= enough and error <= closeness:
            return True
        if programme.steps >= goal.limit or stuck > 2:
            break
    return False


def _complete(state: Refinement, goal: Goal) -> None:
    """Look for the field of maximum entropy that gives the answers of the dual step."""
    problem, programme = state.problem, state.programme
    observations, propagation = problem.observations, problem.propagation
    wanted = observations.answers(propagation, programme.cells)
    tables = state.first.copy()
    targets, which = starting_point.targets_from(observations, propagation, programme.cells)
    maximum_entropy.sweep(observations, tables, targets, which, _SWEEPS)
    state.extra += _SWEEPS
    with np.errstate(divide="ignore"):
        theta = np.log(tables)
    fit = maximum_entropy.field(observations, propagation, theta)
    if observations.has_questions:
        fit = _moved_to_face(state, fit, programme.dual())
    if fit.log_total == -np.inf:
        return
    floor = problem.loss(wanted)
    near = floor + 0.1 * max(floor - state.bound, goal.fine)
    for _ in range(_NEWTON_STEPS):
        if abs(problem.loss(fit.answers) - floor) <= near - floor:
            break
        following = maximum_entropy.newton_step(observations, propagation, fit, wanted, problem.weights)
        state.extra += 1
        if following is None:
            break
        fit = following
    state.keep(fit.marginals)


def _moved_to_face(
    state: Refinement, fit: maximum_entropy.EntropyFit, dual: Floats
) -> maximum_entropy.EntropyFit:
    """The field moved towards the face of records that the optimum allows, as far as that lowers the loss.

    At the optimum only records of least price B^T r have mass; exp(-eta B^T r) says so ever more clearly.
    """
    problem = state.problem
    best, best_loss = fit, problem.loss(fit.answers) if fit.log_total > -np.inf else np.inf
    eta = 0.1 / max(float(np.abs(dual).max(initial=0.0)), 1e-300)
    for _ in range(24):
        theta = fit.theta.copy()
        problem.observations.add_transpose(problem.propagation, -eta, dual, theta)
        trial = maximum_entropy.field(problem.observations, problem.propagation, theta)
        state.extra += 1
        loss = problem.loss(trial.answers) if trial.log_total > -np.inf else np.inf
        if loss < best_loss:
            best, best_loss = trial, loss
        eta *= 3.0
    return best
