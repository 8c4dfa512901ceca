"""The field of maximum entropy with given answers: proportional fitting, then Newton's method.

Many distributions may give the best answers. The paper's is the one of maximum entropy: a product of functions
of measured marginals. Both methods here change potentials by such functions only, so they end at it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.model.fitting.conjugate_gradients import conjugate_gradients
from understudy.model.fitting.observations import Observations
from understudy.model.tree import projection_kernels
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats, TreeLayout

_CG_STEPS = 100
_HALVINGS = 8


@dataclass(eq=False)
class EntropyFit:
    """A field under way: its log-potentials, its marginals, and what they answer."""

    theta: Floats
    marginals: Floats
    separators: Floats
    answers: Floats
    log_total: float


def field(observations: Observations, propagation: Propagation, theta: Floats) -> EntropyFit:
    """The field with these log-potentials."""
    marginals = np.empty_like(theta)
    separators = np.empty(observations.layout.separator_cells)
    log_total = propagation.marginals(theta, marginals, separators)
    return EntropyFit(theta, marginals, separators, observations.answers(propagation, marginals), log_total)


def sweep(
    observations: Observations, tables: Floats, targets: Floats, wanted: npt.NDArray[np.bool_], times: int
) -> None:
    """Fit directed conditionals to observed marginals in proportion, in place, in so many sweeps over the tree."""
    layout = observations.layout
    fits: dict[int, list[tuple[slice, int]]] = {}
    for (home, at, size), port, one in zip(
        layout.places, _ports_in_order(layout), wanted.tolist(), strict=True
    ):
        if one:
            fits.setdefault(home, []).append((slice(at, at + size), port))
    if fits:
        for _ in range(times):
            for step in layout.walk:
                _visit(layout, tables, step)
                for place, projection in fits.get(step, ()):
                    _fit(layout, tables, step, targets[place], projection)


def _ports_in_order(layout: TreeLayout) -> list[int]:
    """The projection of every observed marginal, in the order of the observed cells."""
    found = {at: projection for at, projection, _ in layout.observed.rows.tolist()}
    return [found[at] for _, at, _ in layout.places]


def _visit(layout: TreeLayout, tables: Floats, step: int) -> None:
    """Carry the marginal along one step of the walk.

    Entering clique k (step k) makes its table a marginal and its parent's a conditional; leaving it (step -k - 1)
    does the reverse. One clique at a time is a marginal, all others are conditionals directed away from it.
    """
    k = step if step >= 0 else -step - 1
    a, _, above, _, width, down, up = layout.cliques[k].tolist()
    if above < 0:
        return
    here, there, onto, back = int(layout.cliques[above, 0]), a, up, down
    if step < 0:
        here, there, onto, back = there, here, back, onto
    separator = np.zeros(width)
    projection_kernels.sum_onto(tables, here, 1.0, separator, 0, onto, layout.shapes)
    projection_kernels.multiply_back(tables, there, separator, 0, back, layout.shapes)
    inverse = np.divide(1.0, separator, out=np.zeros(width), where=separator > 1e-300)
    projection_kernels.multiply_back(tables, here, inverse, 0, onto, layout.shapes)


def _fit(layout: TreeLayout, tables: Floats, k: int, target: Floats, projection: int) -> None:
    """Multiply a clique's marginal so that its projection is the target, as far as its zeros allow."""
    a, n = layout.cliques[k, :2].tolist()
    now = np.zeros(target.size)
    projection_kernels.sum_onto(tables, a, 1.0, now, 0, projection, layout.shapes)
    ratio = np.divide(target, now, out=np.zeros(target.size), where=now > 1e-300)
    projection_kernels.multiply_back(tables, a, ratio, 0, projection, layout.shapes)
    table = tables[a : a + n]
    total = float(table.sum())
    if total > 0.0:
        table /= total


def possible(fit: EntropyFit) -> bool:
    """Whether these potentials allow any record, and are within what numbers can hold."""
    return fit.log_total > -np.inf and bool(np.isfinite(fit.answers).all())


def curvature(
    observations: Observations, propagation: Propagation, fit: EntropyFit
) -> tuple[Callable[[Floats], Floats], Floats]:
    """The product with the covariance of the answers at `fit`, and (nearly) the covariance's diagonal."""
    spare = np.empty_like(fit.theta)

    def covariance(direction: Floats) -> Floats:
        spare[:] = 0.0
        observations.add_transpose(propagation, 1.0, direction, spare)
        propagation.covariance(fit.marginals, fit.separators, spare)
        return observations.answers(propagation, spare)

    diagonal = observations.diagonal(propagation, fit.marginals) - fit.answers**2
    return covariance, np.maximum(diagonal, 0.0)


def newton_step(
    observations: Observations, propagation: Propagation, fit: EntropyFit, wanted: Floats, weights: Floats
) -> EntropyFit | None:
    """The field after one Newton step towards the wanted answers; None when there is no better one.

    Minimises log Z(theta - B^T s) + s @ wanted over s; a slight ridge (in units of noise) keeps the system regular.
    """
    apart = fit.answers - wanted
    hessian, spread = curvature(observations, propagation, fit)
    ridge = 1e-6 / weights + 1e-12 * max(float(spread.max(initial=0.0)), 1e-300)
    step, _ = conjugate_gradients(hessian, ridge, apart, spread + ridge, 1e-2, _CG_STEPS)
    length = 1.0
    for _ in range(_HALVINGS):
        theta = fit.theta.copy()
        observations.add_transpose(propagation, -length, step, theta)
        trial = field(observations, propagation, theta)
        change = trial.log_total - fit.log_total + length * float(dot(step, wanted))
        if possible(trial) and change <= -1e-4 * length * float(dot(step, apart)):
            propagation.rebase(trial.theta, trial.separators)
            return trial
        length *= 0.3
    return None
