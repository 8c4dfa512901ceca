"""The rounds of an adaptive run: choose what the model explains badly, measure it together, refit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.mechanisms.adaptive.beyond_columns import beyond_columns, noise_left
from understudy.mechanisms.adaptive.candidates import Candidates
from understudy.mechanisms.adaptive.choice_stages import WIDE
from understudy.mechanisms.adaptive.every_pair import EveryPair
from understudy.mechanisms.adaptive.limited_weights import measured_within
from understudy.mechanisms.adaptive.measured_tables import MeasuredTables
from understudy.mechanisms.field_estimates import FieldEstimates
from understudy.mechanisms.tables.noise_price import Cells, cells_above_noise
from understudy.mechanisms.workload.workload import Importance
from understudy.privacy import Curator, Gaussian, Loss
from understudy.privacy.accounting.losses import GaussianPortion

STOP: Clique = ()  # the candidate that means "nothing more is worth its noise"
# Of the model beyond its first tree: at epsilon 1, and at most. What is refitted in about a second.
CELLS, MOST_CELLS = 400_000, 1_000_000
TREE_CELLS = 4_000_000  # of the first tree, which has no more than are measured; minutes where all are used
BY_CELLS = 0.4  # the power of a table's cells that its weight beside others is
MOST_FOLLOWED = 3e7  # codes of records that follow pairs beside the model: some ten seconds
LEAST_MATTERING = 0.01  # beside the column that matters most


@dataclass
class Rounds:
    """What the rounds of one run share: who answers, and what is left of the budget for measuring."""

    curator: Curator
    pool: Gaussian
    left: Fraction
    last: int  # the number of the last round
    triples: bool  # whether sets of three columns are measured too
    matters: Importance | None  # how much each set of columns does; None where all do alike
    cell_limit: int | None  # the most cells of the model, where somebody said
    room: int = 0  # cells that the model had to begin with
    chosen: list[tuple[list[Clique], bool]] = field(
        default_factory=list
    )  # each round's, and if it stopped short

    def round(self, tables: MeasuredTables, number: int, planned: int, count: int, choice: Loss) -> None:
        """Choose up to `count` cliques, measure them together, refit. What stopping saves goes to later rounds.

        `planned` is how many cliques this round and all later ones may choose.
        """
        if not self.left:
            return
        share = self.left * Fraction(count, planned)
        scale = self._scale(self.pool.portion(share), count)
        pace = number / max(1, self.last)
        most = self._most(tables, pace) if number else None
        estimates = FieldEstimates(tables.field)
        candidates = Candidates(
            estimates,
            scale,
            self._limit(pace, first=number == 0) if most is None else most,
            first=number == 0,
            triples=self.triples and len(tables.domain) < WIDE,
            noise=lambda clique: noise_left(self._query(tables, clique, scale), self.curator.neighbours),
            matters=self.matters,
            beside=most is not None,
        )
        chosen: list[Clique] = []
        winner = STOP
        for _ in range(count):
            offered = [*candidates.offered(), STOP]
            costs, weights = candidates.costs(offered), candidates.weights(offered)
            place = self.curator.choose(offered, estimates, choice, costs=costs, weights=weights)
            winner = offered[place]
            if winner == STOP:
                break
            if candidates.take(winner):
                chosen.append(winner)
        self.chosen.append((chosen, winner == STOP))
        if chosen:
            expected = [estimates(clique) for clique in chosen]
            self._measure(tables, chosen, expected, share * Fraction(len(chosen), count), most)
        self.room = max(self.room, tables.field.tree.cells if number == 0 else 0)

    def every_pair(self, tables: MeasuredTables, every: EveryPair, planned: int) -> None:
        """Measure all pairs: first those that tell of columns too, so that the others need not.

        `planned` is how many cliques these and all later ones may be.
        """
        whole = self.left * Fraction(every.count, planned)
        for pairs, share in ((every.told, every.share * whole), (every.others, (1 - every.share) * whole)):
            if pairs:
                expected = [np.asarray(m.counts, np.float64) for m in tables.field.marginals(pairs)]
                self._measure(tables, pairs, expected, share)
        self.room = tables.field.tree.cells

    def spend_the_rest(self, tables: MeasuredTables) -> None:
        """What early stops left, and choices that were not made: everything measured so far is measured once more, or
        the columns if nothing was."""
        rests = [self.pool.portion(self.left)] if self.left else []
        refund = self.curator.refund()
        if refund is not None:
            rests.append(refund.portion(Fraction(1)))
        if not rests:
            return
        cliques = tables.cliques or [(name,) for name in tables.domain]
        expected = [np.asarray(m.counts, np.float64) for m in tables.field.marginals(cliques)]
        tables.add(
            [m for rest in rests for m in self._asked(tables, cliques, expected, rest)], self._most(tables)
        )
        self.left = Fraction(0)

    def _measure(
        self,
        tables: MeasuredTables,
        cliques: Sequence[Clique],
        expected: Sequence[Cells],
        share: Fraction,
        most: int | None = None,
    ) -> None:
        tables.add(self._asked(tables, cliques, expected, self.pool.portion(share)), most)
        self.left -= share

    def _asked(
        self,
        tables: MeasuredTables,
        cliques: Sequence[Clique],
        expected: Sequence[Cells],
        portion: GaussianPortion,
    ) -> list[Measurement]:
        scale = self._scale(portion, len(cliques))
        queries = [self._query(tables, clique, scale) for clique in cliques]
        parts = [noise_left(query, self.curator.neighbours) for query in queries]
        weights = [
            weight_of(cells, scale, part) * weight_of_what_matters(self.matters, clique)
            for clique, cells, part in zip(cliques, expected, parts, strict=True)
        ]
        batches = measured_within(self.curator, cliques, weights, portion, queries)
        return list(itertools.chain.from_iterable(batches))

    def _query(self, tables: MeasuredTables, clique: Clique, scale: float) -> Interactions | None:
        """What is asked of a clique: what was asked before, or what is not known yet at noise of such a scale."""
        before = tables.measured(clique)
        if before is not None:
            return before.query if isinstance(before.query, Interactions) else None
        return beyond_columns(tables.domain, clique, self.curator.neighbours, tables.noise, scale)

    def _scale(self, portion: GaussianPortion, count: int) -> float:
        """The noise of one of so many marginals that share such a portion."""
        return portion.whole.sigma * self.curator.neighbours.l2 * math.sqrt(count / portion.share)

    def _most(self, tables: MeasuredTables, pace: float = 1.0) -> int | None:
        """The most cells of the model where pairs beyond them can stand beside it; None where none can."""
        return self._limit(pace, beside=True) if worth_following(tables.domain, tables.records) else None

    def _limit(self, pace: float, *, first: bool = False, beside: bool = False) -> int:
        """The most cells of the model: beyond a first tree, more where there is more budget to fill them.

        So much of it as `pace` says, which rises to one with the rounds: else a few large cliques fill it at once,
        and many small ones that tell more find no room. Where pairs may stand beside it, more room is worth little.
        """
        beyond = CELLS if beside else cells_beyond(self.curator.budget.epsilon)
        return self.cell_limit or (TREE_CELLS if first else self.room + round(beyond * pace))


def worth_following(domain: Domain, records: float) -> bool:
    """Whether so many records can follow pairs that the model has no room for, in seconds."""
    return records * len(domain) <= MOST_FOLLOWED


def cells_beyond(epsilon: float) -> int:
    """The most cells that rounds may add to the first tree."""
    return round(min(CELLS * max(1.0, epsilon), MOST_CELLS))


def weight_of_what_matters(matters: Importance | None, clique: Clique) -> float:
    """How much of a budget a set of columns deserves by how much it matters: in the same power as by its cells.

    A column that nobody asks for is measured all the same, as others are told by it.
    """
    if matters is None:
        return 1.0
    return math.pow(max(matters(clique) / matters.most, LEAST_MATTERING), BY_CELLS)


def weight_of(expected: Cells, scale: float, part: float = 1.0) -> float:
    """How much of a budget a table deserves beside others, as a weight: more where noise reaches more cells.

    Were every cell's error its noise, the sum of errors would be least with weights as the cube root of cells. Tables
    of many cells are shrunk, and are in more of what the model infers: somewhat more for them errs least on most of
    the sets that it was tried on. `part` of the noise is left by what is asked of it.
    """
    return math.pow(part * cells_above_noise(expected, part * scale), BY_CELLS)
