"""Fit a field to measurements: the paper's equation for theta, solved to a certified optimum."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.model.fit_report import FitReport, Listener, OptimalityCertificate
from understudy.model.fitting import starting_point
from understudy.model.fitting.absolute_errors import reweight
from understudy.model.fitting.dual.quadratic_programme import QuadraticProgramme
from understudy.model.fitting.least_squares_loss import LeastSquares
from understudy.model.fitting.loss import Loss, as_loss
from understudy.model.fitting.mirror_descent import descend
from understudy.model.fitting.observations import Observations, check
from understudy.model.fitting.record_total import estimate_total
from understudy.model.fitting.refinement import Goal, Refinement, refine
from understudy.model.markov_field import MarkovField
from understudy.model.tree.junction_tree import LIMIT_CELLS, JunctionTree, build_tree
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats

TOLERANCE = 0.01  # of the number of measured cells
_FINE = 1e-9  # what a small model goes on to, since it costs next to nothing
_FINE_WORK, _FINE_STEPS = 4_500_000, 1_000  # cells times steps, and steps
_WORK = 200_000_000
_ROUNDING = 1e-13  # of the loss: what sums of so large numbers cannot tell apart
_STEP = 1_500  # cells that a pass costs as much as whatever the model's size


def estimate(
    domain: Domain,
    measurements: Iterable[Measurement],
    *,
    total: float | None = None,
    warm_start: MarkovField | None = None,
    tolerance: float = TOLERANCE,
    max_steps: int | None = None,
    work: float | None = None,
    loss: Any = "l2",
    callback: Listener | None = None,
    zeros: Mapping[Clique, npt.ArrayLike] | None = None,
    limit_cells: int | None = LIMIT_CELLS,
) -> MarkovField:
    """The field of maximum entropy among those that explain the measurements best. Deterministic, and free.

    Minimises `1/2 sum ((query(mu) - values) / stddev)^2` over distributions with the given total.

    Parameters:
        domain: the columns and how many codes each has.
        measurements: noisy marginals, as a curator's `measure` returns them.
        total: how many records, above 0; by default what the measurements say.
        warm_start: an earlier field to begin at, whatever its tree; by default the nearest that least squares give.
        tolerance: stop once the loss is proven to be within so many times the number of measured values of the
            optimum; a hundredth by default, far below the noise.
        max_steps: passes over the tree after which to stop all the same; thousands by default, more for a small
            one. `field.fit` says how it ended.
        work: the same limit by time: cells of the tree times passes, of which a core makes some 2e8 a second; by
            default no limit but `max_steps`. Counted, not timed, so that the same answers always give the same field.
        loss: "l2", "l1", or an object with `value` and `gradient` of answers; "l2" by default, which suits
            Gaussian noise.
        callback: called with a certificate of optimality as the fit proceeds; by default nobody is told.
        zeros: cliques -> masks, true where a cell is impossible; none by default.
        limit_cells: the most cells of the model's tree; by default what a laptop's memory holds. None: no limit.

    Returns:
        A field: ask it any marginal, conditional or event, and sample from it.

    Raises:
        ParameterError: a measurement or an option does not fit the domain.
        SizeError: the measured cliques join into a tree that is too large.

    Example:
        >>> import numpy as np
        >>> import understudy as us
        >>> measured = us.Measurement(("sex",), np.array([60.0, 40.0]), np.array(1.0))
        >>> us.estimate(us.Domain({"sex": 2}), [measured]).marginal("sex").counts.round().tolist()
        [60.0, 40.0]
    """
    begun = time.perf_counter()
    asked = list(measurements)
    check(domain, asked)
    _check_options(tolerance, max_steps, work)
    chosen = as_loss(loss)
    records = _total(domain, asked, total)
    # Passes are fastest where the innermost columns are long: the fit has its own order of them.
    ordered = Domain(sorted(domain.items(), key=lambda column: column[1]))
    masks = _masks(ordered, zeros or {})
    if warm_start is not None and dict(warm_start.domain) != dict(domain):
        raise ParameterError("the warm start is a field over another domain.", hint="give one over the same.")
    tree = build_tree(domain, [m.clique for m in asked] + list(masks), limit_cells=limit_cells)
    inner = tree.over(ordered)
    problem = _Problem(inner, asked, records, masks)
    count = max(problem.count, 1)
    limit = _limit(tree.cells, max_steps, work)
    patience = min(_FINE_WORK // (tree.cells + _STEP), _FINE_STEPS, limit)
    goal = Goal(tolerance * count, min(_FINE, tolerance) * count, patience, limit)
    marginals, found = problem.solve(chosen, warm_start, goal, callback)
    report = FitReport(
        loss=found.loss,
        gap=found.gap,
        steps=found.steps,
        seconds=time.perf_counter() - begun,
        converged=found.gap <= max(goal.target, _ROUNDING * found.loss),
        measured_cells=problem.count,
        tolerance=tolerance,
    )
    tables = [
        table.transpose([names.index(name) for name in clique])
        for clique, names, table in zip(
            tree.cliques, inner.cliques, problem.observations.layout.split(marginals), strict=True
        )
    ]
    return MarkovField(tree, tables, records, report)


class _Problem:
    """A fit in shares of the total: measurements, structural zeros, and the buffers of one tree."""

    def __init__(
        self,
        tree: JunctionTree,
        measurements: list[Measurement],
        total: float,
        masks: Mapping[Clique, npt.NDArray[np.bool_]],
    ) -> None:
        self.tree, self.measurements, self.total = tree, measurements, total
        self.observations = Observations(tree, measurements)
        self.propagation = Propagation(self.observations.layout)
        self.count = sum(m.values.size for m in measurements)
        self.possible = _possible(self.observations, masks)

    def begin(self, warm_start: MarkovField | None) -> tuple[Floats, Floats]:
        """The field to begin at, as directed conditionals, and that field fitted to the closed-form answers."""
        layout = self.observations.layout
        tables = (
            starting_point.uniform(layout) if warm_start is None else starting_point.warm(layout, warm_start)
        )
        if self.possible is not None:
            tables[np.isinf(self.possible)] = 0.0
        if self.propagation.calibrate(tables.copy(), np.empty(layout.separator_cells)) == -math.inf:
            raise ParameterError("the structural zeros leave no possible record.", hint="allow some cells.")
        fitted = starting_point.fitted(self.observations, tables.copy(), self.total)
        return tables, fitted

    def solve(
        self, loss: Loss | str, warm_start: MarkovField | None, goal: Goal, callback: Listener | None
    ) -> tuple[Floats, OptimalityCertificate]:
        """The clique marginals of the optimum and its certificate."""
        first, fitted = self.begin(warm_start)
        if loss == "l2":
            return self.squares(self.measurements, first, fitted, goal, callback)
        common = (self.measurements, self.observations)
        if loss == "l1":

            def squares(rescaled: list[Measurement]) -> tuple[Floats, int]:
                marginals, found = self.squares(rescaled, first, fitted.copy(), goal, None)
                return marginals, found.steps

            return reweight(*common, self.possible, self.total, squares, goal, callback)
        assert not isinstance(loss, str)
        return descend(*common, fitted, self.possible, self.total, loss, goal, callback)

    def squares(
        self,
        measurements: list[Measurement],
        first: Floats,
        fitted: Floats,
        goal: Goal,
        callback: Listener | None,
    ) -> tuple[Floats, OptimalityCertificate]:
        """The least-squares optimum and its certificate; `fitted` is overwritten."""
        same = measurements is self.measurements
        observations = self.observations if same else Observations(self.tree, measurements)
        offset = observations.offset
        values, weights = observations.values / self.total, observations.weights * self.total**2
        problem = LeastSquares(observations, self.propagation, values, weights, self.possible)
        self.propagation.calibrate(fitted, np.empty(observations.layout.separator_cells))
        programme = QuadraticProgramme(
            observations, measurements, self.total, self.possible, fitted, goal.limit
        )
        state = Refinement(problem, programme, first, fitted, programme.loss(fitted), np.empty_like(fitted))

        def shifted(found: OptimalityCertificate) -> OptimalityCertificate:
            return OptimalityCertificate(found.loss + offset, found.gap, found.steps)

        report = None if callback is None else lambda found: callback(shifted(found))
        found = refine(state, goal, report)
        return state.marginals, shifted(found)


def _limit(cells: int, max_steps: int | None, work: float | None) -> int:
    """The most passes over a tree of so many cells."""
    if max_steps is None and work is None:
        return max(5_000, min(50_000, _WORK // cells))
    limits = [] if max_steps is None else [max_steps]
    limits += [] if work is None else [int(work) // (cells + _STEP)]
    return min(limits)


def _check_options(tolerance: float, max_steps: int | None, work: float | None) -> None:
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ParameterError(f"tolerance {tolerance!r} is not a finite number of at least 0.")
    if max_steps is not None and max_steps < 0:
        raise ParameterError(f"max_steps {max_steps!r} is negative.")
    if work is not None and not (math.isfinite(work) and work >= 0):
        raise ParameterError(f"work {work!r} is not a finite number of at least 0.")


def _total(domain: Domain, measurements: list[Measurement], total: float | None) -> float:
    if total is None:
        return estimate_total(domain, measurements)
    if not (math.isfinite(total) and total > 0):
        raise ParameterError(
            f"total {total!r} is not a positive, finite number.", hint="leave it out to have it estimated."
        )
    return float(total)


def _masks(domain: Domain, zeros: Mapping[Clique, npt.ArrayLike]) -> dict[Clique, npt.NDArray[np.bool_]]:
    """Structural zeros by clique in the domain's order; masks of the same columns are joined."""
    masks: dict[Clique, npt.NDArray[np.bool_]] = {}
    for names, given in zeros.items():
        clique = domain.clique(names)
        mask = np.asarray(given)
        if mask.dtype != np.bool_ or mask.size != domain.size(clique):
            raise ParameterError(
                f"zeros of {clique!r}: a mask of {domain.size(clique)} booleans is needed, true where a cell "
                f"is impossible; this one has {mask.size} of type {mask.dtype}."
            )
        order = domain.order(clique)
        turned = mask.reshape(domain.shape(clique)).transpose([clique.index(name) for name in order])
        masks[order] = masks[order] | turned if order in masks else turned
    return masks


def _possible(observations: Observations, masks: Mapping[Clique, npt.NDArray[np.bool_]]) -> Floats | None:
    """For every cell of the tree 0, or inf where a structural zero forbids it; None when nothing is forbidden."""
    if not masks:
        return None
    layout = observations.layout
    tree = layout.tree
    cost = np.zeros(layout.cells)
    for clique, table in zip(tree.cliques, layout.split(cost), strict=True):
        for names, mask in masks.items():
            if set(names) <= set(clique):
                shape = [tree.domain[name] if name in names else 1 for name in clique]
                np.add(table, np.where(mask.reshape(shape), math.inf, 0.0), out=table)
    return cost
