"""Belief propagation: from potentials on a junction tree to its marginals, in the probability domain."""

from __future__ import annotations

import math

import numpy as np

from understudy.model.tree import projection_kernels
from understudy.model.tree import propagation_kernels as kernels
from understudy.model.tree.tree_layout import Floats, TreeLayout


class Propagation:
    """The passes over one layout, with the buffers they need; one thread at a time."""

    def __init__(self, layout: TreeLayout) -> None:
        self.layout = layout
        self._messages = np.zeros(layout.separator_cells)
        self._between = np.zeros(layout.routes.onto_tables.cells)

    def marginals(self, theta: Floats, out: Floats, separators: Floats) -> float:
        """The log of the sum of exp(theta) over all records; `out` becomes the marginals, which sum to one.

        `separators` receives the marginals of the separators.
        """
        shifted = kernels.shift(theta, out, self.layout.cliques)
        np.exp(out, out=out)
        return float(shifted + self.calibrate(out, separators))

    def calibrate(self, tables: Floats, separators: Floats) -> float:
        """`marginals` of potentials that are not logarithms, in place: they become the marginals."""
        layout = self.layout
        log_total = kernels.calibrate(tables, self._messages, separators, layout.cliques, layout.shapes)
        return float(log_total)

    def rebase(self, theta: Floats, separators: Floats) -> None:
        """The same field with log-potentials that are conditionals given the parent, in place.

        Only for the theta last propagated. Messages are then all one, however far theta has wandered.
        """
        layout = self.layout
        # After calibration a message holds separator / sum from below.
        collected = np.zeros_like(self._messages)
        known = (separators > 0) & (self._messages > 0) & np.isfinite(self._messages)
        collected[known] = np.log(separators[known]) - np.log(self._messages[known])
        for a, _, above, m, _, down, up in layout.cliques.tolist():
            if above >= 0:
                start = int(layout.cliques[above, 0])
                projection_kernels.add_back(theta, a, -1.0, collected, m, down, layout.shapes)
                projection_kernels.add_back(theta, start, 1.0, collected, m, up, layout.shapes)

    def covariance(self, marginals: Floats, separators: Floats, direction: Floats) -> None:
        """Turn a change of theta into the change of these marginals, in place."""
        layout = self.layout
        kernels.covariance(marginals, separators, direction, self._messages, layout.cliques, layout.shapes)

    def cheapest(self, cost: Floats) -> float:
        """The least cost of any record, where a record's cost is summed over cliques; `cost` is overwritten."""
        layout = self.layout
        messages = np.full(layout.separator_cells, math.inf)
        total = 0.0
        for a, n, above, m, _, down, up in layout.cliques.tolist():  # one min-sum pass up the tree
            if above < 0:
                total += float(cost[a : a + n].min())
                continue
            projection_kernels.least_onto(cost, a, messages, m, down, layout.shapes)
            start = int(layout.cliques[above, 0])
            projection_kernels.add_back(cost, start, 1.0, messages, m, up, layout.shapes)
        return total

    def observe(self, tables: Floats, cells: Floats) -> None:
        """Read every observed marginal off the tables into `cells`."""
        layout, routes = self.layout, self.layout.routes
        cells[:] = 0.0
        kernels.exchange(False, 1.0, tables, cells, layout.cliques, routes.direct.arrays, layout.shapes)
        if self._between.size:
            between = self._between
            between[:] = 0.0
            kernels.exchange(
                False, 1.0, tables, between, layout.cliques, routes.onto_tables.arrays, layout.shapes
            )
            kernels.exchange(
                False, 1.0, between, cells, routes.tables, routes.onto_marginals.arrays, layout.shapes
            )

    def add_observed(self, tables: Floats, factor: float, cells: Floats) -> None:
        """Add `factor` times the observed cells to the tables: the transpose of `observe`."""
        layout, routes = self.layout, self.layout.routes
        kernels.exchange(True, factor, tables, cells, layout.cliques, routes.direct.arrays, layout.shapes)
        if self._between.size:
            between = self._between
            between[:] = 0.0
            kernels.exchange(
                True, factor, between, cells, routes.tables, routes.onto_marginals.arrays, layout.shapes
            )
            kernels.exchange(
                True, 1.0, tables, between, layout.cliques, routes.onto_tables.arrays, layout.shapes
            )


def directed(layout: TreeLayout, marginals: Floats, out: Floats | None = None) -> Floats:
    """Potentials of the field with these clique marginals: every child given its separator, roots as they are.

    A conditional on a separator cell without mass is zero. Messages of this form are all near one. `out` is
    room for them.
    """
    tables = np.empty_like(marginals) if out is None else out
    tables[:] = marginals
    separators = np.zeros(layout.separator_cells)
    for a, _, above, m, width, down, _ in layout.cliques.tolist():
        if above < 0:
            continue
        projection_kernels.sum_onto(marginals, a, 1.0, separators, m, down, layout.shapes)
        part = separators[m : m + width]
        np.divide(1.0, part, out=part, where=part > 0)
        projection_kernels.multiply_back(tables, a, separators, m, down, layout.shapes)
    return tables
