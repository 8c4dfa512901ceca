"""Which cliques a round may choose from: small enough for their noise, and for a model that is refitted in time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from understudy.domain import Clique, Domain
from understudy.mechanisms.field_estimates import FieldEstimates
from understudy.mechanisms.spanning_tree import components
from understudy.mechanisms.tables.noise_price import OF_NOISE, noise_price
from understudy.mechanisms.workload.workload import whole_weights
from understudy.model.tree.junction_tree import JunctionTree, predict

MOST_CELLS = 5_000  # of one clique after the first round
MOST_BESIDE = 50_000  # of a pair that may stand beside the model
# The most that noise in a later clique of so many columns may add up to, in tables of records.
OF_RECORDS = {2: 0.8, 3: 0.2}
FAR = 4  # times as many cells as there is room for, or as few: of a candidate that is not looked at again


class Candidates:
    """The candidates of one round, and which of them are left after each choice."""

    def __init__(
        self,
        estimates: FieldEstimates,
        scale: float,
        cell_limit: int,
        *,
        first: bool,
        triples: bool,
        noise: Callable[[Clique], float] = lambda clique: 1.0,
        matters: Callable[[Clique], float] | None = None,
        beside: bool = False,
    ) -> None:
        self._domain: Domain = estimates.field.domain
        self._tree: JunctionTree = estimates.field.tree
        self._limit, self._first, self._beside = cell_limit, first, beside
        self._chosen: list[Clique] = []
        self._used: set[Clique] = set()
        records = estimates.field.total
        orders = (2,) if first or not triples else (2, 3)
        possible = (c for order in orders for c in itertools.combinations(self._domain.names, order))
        scales = {clique: scale * noise(clique) for clique in possible}
        self._left = [
            clique
            for clique, noisy in scales.items()
            if self._small(clique, noisy, records) and (matters is None or matters(clique) > 0)
        ]
        # Misfit and price are weighed alike: what is not worth its noise is not, however much it matters.
        weights = [1.0 if matters is None else matters(clique) for clique in self._left]
        self._weights = (
            None if matters is None else dict(zip(self._left, whole_weights(weights), strict=True))
        )
        estimates.expect(self._left)
        self._prices = {clique: noise_price(estimates(clique), scales[clique]) for clique in self._left}
        self._growth: dict[Clique, int] = {}  # cells that each candidate would add, as far as worked out
        self._moved: set[Clique] = set()  # of them, those whose columns lie otherwise since

    def _small(self, clique: Clique, scale: float, records: float) -> bool:
        cells = self._domain.size(clique)
        if self._first:
            return cells <= self._limit
        most = MOST_BESIDE if self._beside and len(clique) == 2 else MOST_CELLS
        return cells <= most and OF_NOISE * scale * cells <= OF_RECORDS[len(clique)] * records

    def offered(self) -> list[Clique]:
        """The cliques that may be chosen next: in the first round no loops, later no pair of columns twice.

        A pair for which the model has no room may stand beside it, where records can follow it there.
        """
        if self._first:
            part = components(self._domain.names, self._chosen)
            self._left = [clique for clique in self._left if part[clique[0]] != part[clique[1]]]
        else:
            self._left = [clique for clique in self._left if self._used.isdisjoint(_pairs(clique))]
        room = self._limit - self._tree.cells
        return [
            clique
            for clique in self._left
            if (self._beside and len(clique) == 2)
            or self._at_most(clique) <= room
            or self._added(clique, room) <= room
        ]

    def _at_most(self, clique: Clique) -> int:
        """The cells that a candidate could add at the very most: were all of it but one column in every clique."""
        sizes = self._domain.shape(clique)
        return (math.prod(sizes) // max(sizes) - 1) * self._tree.cells

    def _added(self, clique: Clique, room: int) -> int:
        """The cells that a candidate would add: at most, to a forest; else as its columns lay when last looked at.

        To work it out anew for every candidate at every choice would take minutes where columns are many. So one that
        would have added far less than there is room for, or far more, is not looked at again: `take` leaves it if it
        must.
        """
        if self._first:
            return self._domain.size(clique)
        known = self._growth.get(clique)
        if known is None or (clique in self._moved and room / FAR < known < room * FAR):
            self._moved.discard(clique)
            known = self._growth[clique] = predict(self._tree, clique) - self._tree.cells
        return known

    def weights(self, offered: Sequence[Clique]) -> list[int] | None:
        """How much each candidate's misfit counts; None where all count alike."""
        return None if self._weights is None else [self._weights.get(clique, 1) for clique in offered]

    def costs(self, offered: Sequence[Clique]) -> list[int]:
        """What each candidate's misfit is lowered by, in the weight it counts with; to stop costs nothing."""
        weights = self.weights(offered) or [1] * len(offered)
        return [round(w * self._prices.get(clique, 0.0)) for clique, w in zip(offered, weights, strict=True)]

    def take(self, clique: Clique) -> bool:
        """Take in what was chosen; where its model turns out too large after all, leave it and say so."""
        if predict(self._tree, clique) > self._limit:
            if self._beside and len(clique) == 2:
                self._chosen.append(clique)
                self._used.add(clique)
                return True
            self._left.remove(clique)
            return False
        before = set(self._tree.cliques)
        self._chosen.append(clique)
        self._used.update(_pairs(clique))
        self._tree = self._tree.with_clique(clique)
        moved = {name for other in self._tree.cliques if other not in before for name in other}
        self._moved.update(other for other in self._growth if not moved.isdisjoint(other))
        return True


def _pairs(clique: Sequence[str]) -> list[Clique]:
    return list(itertools.combinations(clique, 2))
