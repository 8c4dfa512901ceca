"""Belief propagation: from potentials on a junction tree to its marginals, in the probability domain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.errors import ParameterError
from understudy.model import kernels, projections
from understudy.model.junction_tree import JunctionTree
from understudy.model.plan import Floats, Plan, make_plan


class Propagation:
    """The passes over one plan, with the buffers they need; one thread at a time."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._messages = np.zeros(plan.separator_cells)

    def marginals(self, theta: Floats, out: Floats, separators: Floats) -> float:
        """The log of the sum of exp(theta) over all records; `out` becomes the marginals, which sum to one.

        `separators` receives the marginals of the separators.
        """
        shifted = kernels.shift(theta, out, self.plan.cliques)
        np.exp(out, out=out)
        return float(shifted + self.calibrate(out, separators))

    def calibrate(self, tables: Floats, separators: Floats) -> float:
        """The same from potentials that are not logarithms, in place."""
        plan = self.plan
        log_total = kernels.calibrate(tables, self._messages, separators, plan.cliques, *plan.shapes)
        return float(log_total)

    def rebase(self, theta: Floats, separators: Floats) -> None:
        """The same field with log-potentials that are conditionals given the parent, in place.

        Only for the theta last propagated. Messages are then all one, however far theta has wandered.
        """
        plan = self.plan
        # After calibration a message holds separator / sum from below.
        collected = np.zeros_like(self._messages)
        known = (separators > 0) & (self._messages > 0) & np.isfinite(self._messages)
        collected[known] = np.log(separators[known]) - np.log(self._messages[known])
        for a, _, above, m, _, down, up in plan.cliques.tolist():
            if above >= 0:
                to_child, to_parent = plan.projections[down], plan.projections[up]
                projections.add_back(theta, a, -1.0, collected, m, to_child, plan.sizes, plan.strides)
                start = int(plan.cliques[above, 0])
                projections.add_back(theta, start, 1.0, collected, m, to_parent, plan.sizes, plan.strides)

    def covariance(self, marginals: Floats, separators: Floats, direction: Floats) -> None:
        """Turn a change of theta into the change of these marginals, in place."""
        plan = self.plan
        kernels.covariance(marginals, separators, direction, self._messages, plan.cliques, *plan.shapes)

    def cheapest(self, cost: Floats) -> float:
        """The least cost of any record, where a record's cost is summed over cliques; spends `cost`."""
        plan = self.plan
        messages = np.full(plan.separator_cells, math.inf)
        total = 0.0
        for a, n, above, m, _, down, up in plan.cliques.tolist():  # one min-sum pass up the tree
            if above < 0:
                total += float(cost[a : a + n].min())
                continue
            grid = plan.sizes, plan.strides
            projections.least_onto(cost, a, messages, m, plan.projections[down], *grid)
            start = int(plan.cliques[above, 0])
            projections.add_back(cost, start, 1.0, messages, m, plan.projections[up], *grid)
        return total

    def observe(self, tables: Floats, cells: Floats) -> None:
        """Read every observed marginal off the tables into `cells`."""
        plan, ports = self.plan, self.plan.observed
        cells[:] = 0.0
        kernels.press(False, 1.0, tables, cells, plan.cliques, ports.first, ports.rows, *plan.shapes)

    def credit(self, tables: Floats, factor: float, cells: Floats) -> None:
        """Add `factor` times the observed cells to the tables: the transpose of `observe`."""
        plan, ports = self.plan, self.plan.observed
        kernels.press(True, factor, tables, cells, plan.cliques, ports.first, ports.rows, *plan.shapes)


def directed(plan: Plan, marginals: Floats, out: Floats | None = None) -> Floats:
    """Potentials of the field with these clique marginals: every child given its separator, roots as they are.

    A conditional on a separator cell without mass is zero. Messages of this form are all near one. `out` is
    room for them.
    """
    tables = np.empty_like(marginals) if out is None else out
    tables[:] = marginals
    separators = np.zeros(plan.separator_cells)
    for a, _, above, m, width, down, _ in plan.cliques.tolist():
        if above < 0:
            continue
        onto = plan.projections[down]
        projections.sum_onto(marginals, a, 1.0, separators, m, onto, plan.sizes, plan.strides)
        part = separators[m : m + width]
        np.divide(1.0, part, out=part, where=part > 0)
        projections.multiply_back(tables, a, separators, m, onto, plan.sizes, plan.strides)
    return tables


def propagate(tree: JunctionTree, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
    """The clique marginals (each sums to one) of a product of non-negative tables, and the log of its sum.

    One table a clique of the tree, axes in the clique's order. When every record has potential zero the
    logarithm is -inf and the marginals are zero.
    """
    plan = make_plan(tree)
    tables = plan.flatten(potentials)
    log_total = Propagation(plan).calibrate(tables, np.empty(plan.separator_cells))
    if log_total == -math.inf:
        tables[:] = 0.0
    return plan.split(tables), log_total


def condition(
    tree: JunctionTree, marginals: Sequence[Floats], evidence: Mapping[str, Any]
) -> tuple[list[Floats], float]:
    """The clique marginals given evidence, and the log of the evidence's probability.

    `marginals` are calibrated and may have any total. Evidence on a column is a code, or one
    non-negative weight a code (a set of codes is an indicator).
    """
    plan = make_plan(tree)
    flat = plan.flatten(marginals)
    for a, n in plan.cliques[:, :2].tolist():
        total = flat[a : a + n].sum()
        flat[a : a + n] /= total if total > 0 else 1.0
    tables = plan.split(directed(plan, flat))
    for name, given in evidence.items():
        home = tree.home((name,))
        assert home is not None
        weights = _weights(name, given, tree.domain[name])
        axis = tree.cliques[home].index(name)
        tables[home] *= weights.reshape([-1 if k == axis else 1 for k in range(tables[home].ndim)])
    return propagate(tree, tables)


def _weights(name: str, given: Any, size: int) -> Floats:
    """Evidence on one column as a weight for every code."""
    array = np.asarray(given)
    if array.ndim == 0:
        if array.dtype.kind not in "iu" or not 0 <= int(array) < size:
            raise ParameterError(f"evidence on column {name!r}: {given!r} is not a code in 0..{size - 1}.")
        weights = np.zeros(size)
        weights[int(array)] = 1.0
        return weights
    weights = array.astype(np.float64)
    if weights.shape != (size,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ParameterError(
            f"evidence on column {name!r}: weights must be {size} finite numbers of at least 0, one a code."
        )
    return weights
