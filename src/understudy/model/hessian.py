"""The Hessian of the quadratic programme's dual, applied clique by clique on every core."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from understudy.model import kernels
from understudy.model.observations import Observations
from understudy.model.plan import Floats, Integers, Plan

_CLEAR, _LIFT, _WEIGH, _DROP = 1, 2, 4, 8  # modes of `kernels.press`
_LARGE = 1_000_000  # cells from which a second thread pays


class Hessian:
    """Prices in, disagreement out: one pass in which every clique is lifted, weighed and dropped while it is near.

    Cliques do not share what they write, so they are divided among threads; sums are always made in one order.
    """

    def __init__(self, plan: Plan, asked: int) -> None:
        """`plan` observes the marginals asked about; answers to them are `asked` further prices."""
        self.plan = plan
        edges, observed, roots = plan.separator_cells, plan.observed_cells, plan.tree.roots
        self._edges, self._observed = edges, slice(2 * edges, 2 * edges + observed)
        self._roots = slice(self._observed.stop, self._observed.stop + len(roots))
        self._answers = slice(edges, edges + asked)
        self._ports = plan.all_ports()
        self._shares = _shares(plan)
        self._vector, self._result = np.zeros(self._ports.cells), np.zeros(self._ports.cells)
        self._cells = np.empty(plan.cells)

    def threads(self) -> AbstractContextManager[Executor | None]:
        """A pool for the calls to come, or none where one thread is as fast."""
        return ThreadPoolExecutor(len(self._shares)) if len(self._shares) > 1 else nullcontext()

    def apply(
        self, prices: Floats, partial: Observations, weights: Floats, out: Floats, pool: Executor | None
    ) -> None:
        """Write into `out` what the cells' response to these prices says of separators, answers and totals."""
        self.carry(prices, partial)
        self._result[:] = 0.0
        self._press(_CLEAR | _LIFT | _WEIGH | _DROP, self._cells, weights, pool)
        self.bring(partial, out)

    def lift(self, prices: Floats, partial: Observations, cells: Floats) -> None:
        """What every cell pays: the prices carried from separators, answers and totals to the cliques."""
        self.carry(prices, partial)
        self._press(_CLEAR | _LIFT, cells, cells, None)

    def drop(self, cells: Floats, partial: Observations, out: Floats) -> None:
        """The transpose of `lift`: disagreement on separators, answers, totals."""
        self._result[:] = 0.0
        self._press(_DROP, cells, cells, None)
        self.bring(partial, out)

    def diagonal(self, cells: Floats, partial: Observations, out: Floats) -> None:
        """The diagonal of lift, weigh, drop: like `drop`, but both sides of a separator add."""
        self._result[:] = 0.0
        self._press(_DROP, cells, cells, None)
        np.add(
            self._result[: self._edges], self._result[self._edges : 2 * self._edges], out=out[: self._edges]
        )
        out[self._answers] = partial.diagonal_of(self._result[self._observed])
        out[self._answers.stop :] = self._result[self._roots]

    def carry(self, prices: Floats, partial: Observations) -> None:
        vector, edges = self._vector, self._edges
        vector[:edges] = prices[:edges]
        vector[edges : 2 * edges] = prices[:edges]
        vector[self._observed] = partial.to_cells(prices[self._answers])
        vector[self._roots] = prices[self._answers.stop :]

    def bring(self, partial: Observations, out: Floats) -> None:
        result, edges = self._result, self._edges
        np.subtract(result[:edges], result[edges : 2 * edges], out=out[:edges])
        out[self._answers] = partial.from_cells(result[self._observed])
        out[self._answers.stop :] = result[self._roots]

    def _press(self, mode: int, cells: Floats, weights: Floats, pool: Executor | None) -> None:
        plan, ports = self.plan, self._ports

        def press(members: Integers) -> None:
            kernels.press(
                members,
                mode,
                1.0,
                cells,
                weights,
                self._vector,
                self._result,
                plan.cliques,
                ports.first,
                ports.rows,
                *plan.shapes,
            )

        if pool is None:
            for members in self._shares:
                press(members)
        else:
            list(pool.map(press, self._shares))


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
