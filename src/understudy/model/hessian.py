"""The Hessian of the quadratic programme's dual, applied clique by clique on every core."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numba import njit

from understudy.model.observations import Observations
from understudy.model.plan import Floats, Integers, Plan
from understudy.model.projections import add_back, sum_onto

_LARGE = 1_000_000  # cells from which a second thread pays


class Hessian:
    """Prices in, disagreement out: one pass in which every clique is lifted, weighed and dropped while it is near.

    Cliques do not share what they write, so they are divided among threads; sums are always made in one order.
    """

    def __init__(self, plan: Plan, partial: Observations, answers: slice, totals: slice) -> None:
        self.plan, self.partial = plan, partial
        self._edges, self._answers, self._totals = plan.separator_cells, answers, totals
        tree = plan.tree
        children = [child for below in tree.children for child in below]
        self._child = np.array(children, np.int64)
        self._first_child = np.cumsum([0, *(len(below) for below in tree.children)]).astype(np.int64)
        self._roots = np.array(tree.roots, np.int64)
        self._shares = _shares(plan)
        self._down, self._up = np.zeros(self._edges), np.zeros(self._edges)
        self._asked = np.zeros(partial.plan.observed_cells)
        self._total = np.zeros(len(tree.cliques))
        self._root_price = np.zeros(len(tree.cliques))
        self._cells = np.empty(plan.cells)

    def threads(self) -> AbstractContextManager[Executor | None]:
        """A pool for the calls to come, or none where one thread is as fast."""
        return ThreadPoolExecutor(len(self._shares)) if len(self._shares) > 1 else nullcontext()

    def apply(self, prices: Floats, yielding: Floats, out: Floats, pool: Executor | None) -> None:
        """Write into `out` what the cells' response to these prices says of separators, answers and totals."""
        for array in (self._down, self._up, self._asked):
            array[:] = 0.0
        self._root_price[self._roots] = prices[self._totals]
        asked = self.partial.to_cells(prices[self._answers])

        def press(members: Integers) -> None:
            _press(
                members,
                self._cells,
                yielding,
                prices,
                self._root_price,
                asked,
                self._down,
                self._up,
                self._total,
                self._asked,
                self.plan.cliques,
                self._first_child,
                self._child,
                self.partial.plan.observed,
                self.partial.plan.first_observed,
                *self.plan.shapes,
                *self.partial.plan.shapes,
            )

        if pool is None:
            for members in self._shares:
                press(members)
        else:
            list(pool.map(press, self._shares))
        np.subtract(self._down, self._up, out=out[: self._edges])
        out[self._answers] = self.partial.from_cells(self._asked)
        out[self._totals] = self._total[self._roots]


def _shares(plan: Plan) -> list[Integers]:
    """The cliques divided into one lot a core, of nearly equal numbers of cells; one lot for a small model."""
    cores = min(os.cpu_count() or 1, 8) if plan.cells >= _LARGE else 1
    lots: list[list[int]] = [[] for _ in range(cores)]
    loads = [0] * cores
    for k in sorted(range(len(plan.cliques)), key=lambda k: -int(plan.cliques[k, 1])):
        least = loads.index(min(loads))
        lots[least].append(k)
        loads[least] += int(plan.cliques[k, 1])
    return [np.array(sorted(lot), np.int64) for lot in lots if lot]


@njit(cache=True, nogil=True)
def _press(
    members: Any,
    cells: Any,
    yielding: Any,
    prices: Any,
    root_price: Any,
    asked: Any,
    down: Any,
    up: Any,
    total: Any,
    answered: Any,
    cliques: Any,
    first_child: Any,
    child: Any,
    observed: Any,
    first_observed: Any,
    projections: Any,
    sizes: Any,
    strides: Any,
    asked_projections: Any,
    asked_sizes: Any,
    asked_strides: Any,
) -> None:
    """Carry prices to the cells of some cliques, weigh them, and sum what comes back."""
    for k in members:
        a, n, above, m = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3]
        for i in range(a, a + n):
            cells[i] = root_price[k]
        if above >= 0:
            add_back(cells, a, 1.0, prices, m, projections[cliques[k, 5]], sizes, strides)
        for e in range(first_child[k], first_child[k + 1]):
            c = child[e]
            add_back(cells, a, -1.0, prices, cliques[c, 3], projections[cliques[c, 6]], sizes, strides)
        for j in range(first_observed[k], first_observed[k + 1]):
            onto = asked_projections[observed[j, 3]]
            add_back(cells, a, 1.0, asked, observed[j, 1], onto, asked_sizes, asked_strides)
        whole = 0.0
        for i in range(a, a + n):
            cells[i] *= yielding[i]
            whole += cells[i]
        total[k] = whole
        if above >= 0:
            sum_onto(cells, a, down, m, projections[cliques[k, 5]], sizes, strides)
        for e in range(first_child[k], first_child[k + 1]):
            c = child[e]
            sum_onto(cells, a, up, cliques[c, 3], projections[cliques[c, 6]], sizes, strides)
        for j in range(first_observed[k], first_observed[k + 1]):
            onto = asked_projections[observed[j, 3]]
            sum_onto(cells, a, answered, observed[j, 1], onto, asked_sizes, asked_strides)
