"""The dual of the quadratic programme and its Hessian, applied clique by clique on every core."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from understudy.model.fitting.dual.clique_marginals import CliqueMarginals, lay_out_marginals
from understudy.model.fitting.dual.dual_kernels import EVALUATE, MULTIPLY, respond
from understudy.model.fitting.observations import Observations
from understudy.model.tree.propagation_kernels import exchange
from understudy.model.tree.tree_layout import Floats, Integers, TreeLayout
from understudy.processors import available_cores

_LARGE = 500_000  # cells from which a second thread pays
_NONE = np.zeros(0)
_ALL = np.zeros(0, np.bool_)


class Hessian:
    """The map from prices to disagreement: one pass over all cells, each of which is priced, answers and is summed.

    Pieces of work do not share what they write, so they are divided among threads; they are the same ones, and
    their sums are made in the same order, on any number of threads.
    """

    def __init__(self, layout: TreeLayout, partial: Observations) -> None:
        """`layout` observes the marginals asked about; answers to them (`partial`) are further prices."""
        self.partial = partial
        self._answers = slice(layout.separator_cells, layout.separator_cells + partial.count)
        self._observed = slice(layout.separator_cells, layout.separator_cells + layout.observed_cells)
        self._marginals = lay_out_marginals(layout)
        self._lots = _lots(self._marginals)
        self._places = np.zeros(self._marginals.ports.cells)
        self._prices, self._sums = np.zeros(self._marginals.cells), np.zeros(self._marginals.room)
        self._longest = int(self._marginals.tables[:, 3].max(initial=1))
        self._pool: Executor | None = None

    @contextmanager
    def threads(self) -> Iterator[None]:
        """Lends a thread pool to the calls made in the meantime, unless one thread is as fast."""
        if len(self._lots) == 1 or self._pool is not None:
            yield
            return
        with ThreadPoolExecutor(len(self._lots)) as pool:
            self._pool = pool
            try:
                yield
            finally:
                self._pool = None

    def apply(self, prices: Floats, yielding: Floats, out: Floats) -> None:
        """Write into `out` what the cells' response to these prices says of separators, answers and totals."""
        self._carry(prices)
        self._respond(MULTIPLY, _NONE, yielding, _ALL, _NONE)
        self._bring(out, self.partial.from_cells)

    def evaluate(
        self,
        prices: Floats,
        values: Floats,
        weights: Floats,
        allowed: npt.NDArray[np.bool_],
        cells: Floats,
        out: Floats,
    ) -> float:
        """The least of 1/2 w (b - y)^2 + price b over cells b >= 0, summed; the cells, and `out` as in `apply`."""
        self._carry(prices)
        value = self._respond(EVALUATE, values, weights, allowed, cells)
        self._bring(out, self.partial.from_cells)
        return value

    def diagonal(self, cells: Floats, weights: Floats, yielding: Floats, out: Floats) -> None:
        """How much every cell gives way to its price, and the diagonal of `apply` with that."""
        np.divide(cells > 0.0, weights, out=yielding)
        self._prices[:] = 0.0
        for start, size in self._marginals.spans[self._marginals.tables[:, 4]].tolist():
            self._prices[start : start + size] = 1.0  # one marginal a clique: every cell has price one
        self._respond(MULTIPLY, _NONE, yielding, _ALL, _NONE)
        self._bring(out, self.partial.diagonal_of, signed=False)

    def _carry(self, prices: Floats) -> None:
        """Lift prices to the marginals."""
        marginals, places = self._marginals, prices
        if not self.partial.plain:
            places = self._places
            places[: self._answers.start] = prices[: self._answers.start]
            places[self._observed] = self.partial.to_cells(prices[self._answers])
            places[self._observed.stop :] = prices[self._answers.stop :]
        self._prices[:] = 0.0
        exchange(True, 1.0, self._prices, places, marginals.spans, marginals.ports.arrays, marginals.shapes)

    def _bring(self, out: Floats, answers: Callable[[Floats], Floats], *, signed: bool = True) -> None:
        """Read separators, answers and totals off what the marginals were summed up to."""
        marginals, places = self._marginals, out if self.partial.plain else self._places
        places[:] = 0.0
        ports = marginals.ports if signed else marginals.ports.unsigned
        exchange(False, 1.0, self._sums, places, marginals.spans, ports.arrays, marginals.shapes)
        if not self.partial.plain:
            out[: self._answers.start] = places[: self._answers.start]
            out[self._answers] = answers(places[self._observed])
            out[self._answers.stop :] = places[self._observed.stop :]

    def _respond(
        self, mode: int, values: Floats, weights: Floats, allowed: npt.NDArray[np.bool_], cells: Floats
    ) -> float:
        """What the cells are worth together; their sums over marginals are left in `_sums`."""
        prices, sums, arrays = self._prices, self._sums, self._marginals.arrays
        sums[:] = 0.0
        gains = [np.empty(len(units)) for units in self._lots]

        def work(units: Integers, gain: Floats) -> None:
            row = np.empty(self._longest)
            respond(mode, (units, gain, row), prices, sums, weights, (values, allowed, cells), arrays)

        if self._pool is None:
            for units, gain in zip(self._lots, gains, strict=True):
                work(units, gain)
        else:
            list(self._pool.map(work, self._lots, gains))
        for beside, place in self._marginals.spare:
            sums[place] += sums[beside]
        try:
            return math.fsum(gain for part in gains for gain in part.tolist())
        except (ValueError, OverflowError):  # a trial may leave what numbers can hold: it is no gain
            return math.nan


def _lots(marginals: CliqueMarginals) -> list[Integers]:
    """The units of work divided into one lot a core, of nearly equal numbers of cells; one lot for a small model."""
    loads = (marginals.units[:, 2] - marginals.units[:, 1]) * marginals.tables[marginals.units[:, 0], 3]
    cores = min(available_cores(), 8) if loads.sum() >= _LARGE else 1
    lots: list[list[int]] = [[] for _ in range(cores)]
    carried = [0] * cores
    for unit in sorted(range(len(loads)), key=lambda unit: -int(loads[unit])):
        least = carried.index(min(carried))
        lots[least].append(unit)
        carried[least] += int(loads[unit])
    return [marginals.units[sorted(lot)] for lot in lots if lot]
