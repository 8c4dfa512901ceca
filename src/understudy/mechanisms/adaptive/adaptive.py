"""Rounds of choosing and measuring, as many marginals as the budget and the data are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter, Measurement
from understudy.mechanisms.adaptive.choice_stages import ChoiceStage, choice_stages
from understudy.mechanisms.adaptive.columns_alone import spend_on_columns, together_of
from understudy.mechanisms.adaptive.decisions import (
    FOUND_LITTLE,
    ONLY_COLUMNS,
    decided,
    intended,
    intended_of_all,
    usual_columns,
)
from understudy.mechanisms.adaptive.doubt import doubted
from understudy.mechanisms.adaptive.every_pair import EveryPair, every_pair, later_rounds, of_all
from understudy.mechanisms.adaptive.limited_weights import largest_part, measured_within
from understudy.mechanisms.adaptive.measured_tables import MeasuredTables
from understudy.mechanisms.adaptive.one_way_share import (
    ALONE,
    PAIRS_A_COLUMN,
    OneWayShare,
    one_way_share,
    rounds_worth,
)
from understudy.mechanisms.adaptive.rounds import (
    MOST_CELLS,
    TREE_CELLS,
    Rounds,
    cells_beyond,
    weight_of,
    weight_of_what_matters,
)
from understudy.mechanisms.empty_slots import without_empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, Foresight, allot
from understudy.mechanisms.one_way import THRESHOLD, compressed
from understudy.mechanisms.public.public_prior import CELLS as PUBLIC_CELLS
from understudy.mechanisms.public.public_prior import Supposed, likely_columns, questions, supposed, usable
from understudy.mechanisms.tables.column_readings import read_columns
from understudy.mechanisms.tables.least_risk import shrunk_column
from understudy.mechanisms.tables.noise_price import Cells
from understudy.mechanisms.tree_capacity import largest_forest
from understudy.mechanisms.workload.workload import Importance, Workload
from understudy.model import MarkovField, estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Gaussian, Group, Role
from understudy.transforms.compress import Compression

Begin = Callable[[Curator, Compression, MarkovField, Sequence[Measurement]], Supposed | None]
LOOK = Fraction(6, 100)  # of the rest: a first look at the columns
FEW = 4  # codes of a column from which on rare ones are merged
LIKELY_ALONE = 0.9  # of what pairs tell: where noise is found to hide more, columns are measured alike
CERTAIN = 0.97  # of what pairs tell: where noise is forecast to hide more, nothing is spent on choosing pairs


@dataclass(frozen=True)
class Adaptive:
    """Looks at the columns, then measures in rounds what the model explains badly, while that is worth its noise.

    How much goes to columns alone is forecast from a first look; rare codes are merged; each round chooses several
    pairs and triples whose misfit exceeds the error that measuring them would leave, measures them together and
    refits the model. Where noise would hide every pair, all is spent on the columns.

    Parameters:
        rounds: how often it chooses and measures at most; ten by default, fewer where noise hides much or columns are
            many. With 0, all is spent on the columns alone.
        triples: measure sets of three columns too, after the first round; on by default.
        cell_limit: the most cells of the model; by default what the budget can fill and a laptop refits in a second.
        workload: what matters: sets of columns, a mapping of sets to weights, or a number of columns. Only what such
            a set asks is measured beyond single columns. By default every pair and triple matters alike.
        target: a column that matters more than others: what holds it is chosen first. None by default.
        public: a public table with the same columns and codes, as `us.table` makes it: where it is found to be nearer
            to the records than independence is, the model begins at what it says. None by default.

    Raises:
        ParameterError: a number is out of its range, or the workload cannot be read.

    Example:
        >>> import understudy as us
        >>> us.Adaptive(rounds=3).name
        'adaptive'
    """

    rounds: int = 10
    triples: bool = True
    cell_limit: int | None = None
    workload: Any = None
    target: str | None = None
    public: Counter | None = None

    def __post_init__(self) -> None:
        if self.workload is not None or self.target is not None:
            object.__setattr__(self, "workload", Workload.of(self.workload, self.target))
        for name, value, least in (("rounds", self.rounds, 0), ("cell_limit", self.cell_limit, 1)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ParameterError(f"{name} {value!r} is not a whole number of at least {least}.")

    @property
    def name(self) -> str:
        return "adaptive"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        if isinstance(self.workload, Workload):
            self.workload.check(domain)
        look = Group("look", "measure", Fraction(1), weights=(1.0,) * len(domain), role=Role.ONE_WAY)
        asked = questions(self.public, domain)  # how far public tables are, and independence
        if len(domain) < 2:
            return (look,)
        stages = self.stages(domain)
        rest = 1 - sum(stage.share for stage in stages)
        return (
            Group("look", "measure", LOOK * rest, weights=look.weights, role=Role.ONE_WAY),
            Group(
                "measure",
                "measure",
                (1 - LOOK - sum(group.share for group in asked)) * rest,
                largest=largest_part(len(domain)),
            ),
            *(replace(group, share=group.share * rest) for group in asked),
            *(stage.group for stage in stages),
        )

    @property
    def measures_triples(self) -> bool:
        """Whether sets of three columns are measured too."""
        return self.triples and (not isinstance(self.workload, Workload) or self.workload.order != 2)

    def matters(self, domain: Domain) -> Importance | None:
        """How much each set of columns matters; None where all matter alike."""
        told = self.workload
        return Importance(told, domain) if isinstance(told, Workload) and not told.even else None

    def _weight(self, domain: Domain, column: str) -> float:
        """How much of the budget a column deserves by how much it matters."""
        return weight_of_what_matters(self.matters(domain), (column,))

    def _wanted(self, domain: Domain) -> list[float]:
        """How well each column should be known where there are columns alone, in proportion."""
        return [self._weight(domain, name) ** 2 for name in domain]

    def _weights(
        self,
        domain: Domain,
        alone: Sequence[Clique],
        columns: Mapping[str, Cells],
        asked: OneWayShare,
        scale: float,
    ) -> list[float]:
        """How much of a batch each of these columns gets, at about such noise.

        Where columns are likely all there will be, all alike; beside pairs, those of many codes get more.
        """
        even = asked.hidden > LIKELY_ALONE
        return [
            (1.0 if even else weight_of(columns[name], scale)) * self._weight(domain, name)
            for (name,) in alone
        ]

    def may_ask_all(self, domain: Domain) -> bool:
        """Whether all pairs may be measured at once: where all matter alike, and no table is public."""
        return self.public is None and self.matters(domain) is None

    @property
    def most_cells(self) -> int:
        """The most cells that the model has beyond its first tree, whatever the budget."""
        return self.cell_limit or MOST_CELLS

    def stages(self, domain: Domain) -> tuple[ChoiceStage, ...]:
        """The rounds that may be, with how many cliques each may choose and what that costs."""
        return choice_stages(domain, self.rounds, self.most_cells)

    def counts(self, domain: Domain) -> list[int]:
        """How many cliques each round may choose."""
        return [count for stage in self.stages(domain) for count in stage.counts]

    def cliques(self, domain: Domain) -> list[Clique]:
        """The largest pairs of a tree that could be chosen; loops and triples come only where the model is small."""
        return list(largest_forest(domain, self.cell_limit or TREE_CELLS))

    def grown_cells(self, tree: int, epsilon: float) -> int:
        """The most cells of the model, where all of its first tree would have so many."""
        if not self.rounds:
            return tree
        return self.cell_limit or min(tree, TREE_CELLS) + cells_beyond(epsilon)

    def foreseen(self, domain: Domain, losses: Allotment, rows: int | None, l2: float) -> Foresight:
        """What it would likely do with a table of so many rows, a public figure; without choices where noise would
        hide every pair of it, so that nothing is spent on them."""
        stages, pool = self.stages(domain), losses.get("measure")
        asked, worth, noise, told = None, self.rounds, None, None
        if stages and rows and isinstance(pool, Gaussian) and isinstance(losses["look"], Gaussian):
            asked = one_way_share(
                usual_columns(domain, rows),
                rows,
                losses["look"].scales[0] * l2,
                pool.sigma * l2,
                self.counts(domain),
            )
            worth = rounds_worth(asked.hidden)
            first, whole = losses["look"].scales[0] * l2, pool.sigma * l2
            share = 1.0 if asked.hidden > CERTAIN else float(asked.share)
            noise = (first**-2 + share * whole**-2 / len(domain)) ** -0.5
            # Were all pairs measured, each column would be told by all that have it.
            told = whole * math.sqrt(len(domain) / max(1 - float(asked.share), 0.05))
        alone = asked is not None and asked.hidden > CERTAIN
        if asked is not None and rows and self.may_ask_all(domain) and of_all(domain, asked, self.most_cells):
            later = min(later_rounds(asked), len(self.counts(domain)) - 1)
            pairs = math.comb(len(domain), 2)
            return Foresight(self, intended_of_all(pairs, later, asked, rows), 2 + later, told, pairs)
        kept = replace(self, rounds=0) if alone else self
        said = intended(kept.stages(domain), self.measures_triples, asked, rows, worth)
        return Foresight(kept, said, min(worth, len(kept.counts(domain))), noise)

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget) if isinstance(budget, Budget) else budget
        public = usable(self.public, domain)
        alone = [(name,) for name in domain]
        log = [curator.measure(alone, budget=losses["look"])]
        if "measure" not in losses:
            return _independent(curator, log, log[0], public)[0]
        pool, left = losses["measure"], Fraction(1)
        assert isinstance(pool, Gaussian)
        whole = pool.sigma * curator.neighbours.l2
        columns = _likely(log[0], public)
        records = estimate_total(domain, log[0])
        asked = ALONE
        if self.rounds:
            asked = one_way_share(columns, records, float(log[0][0].stddev), whole, self.counts(domain))
        most = self.cell_limit or cells_beyond(curator.budget.epsilon)  # as the forecast of memory has it
        every = every_pair(domain, log[0], asked, most) if self.may_ask_all(domain) else None
        again = [(name,) for name in domain if every is None or name not in every.columns]
        share = asked.share * Fraction(len(again), len(domain))
        if share:
            weights = self._weights(domain, again, columns, asked, whole * math.sqrt(len(again) / share))
            log.extend(measured_within(curator, again, weights, pool.portion(share)))
            left -= share
        if asked.independent:
            spend_on_columns(curator, log, pool, left, self._wanted(domain))
        together = together_of(log)

        def begin(
            merged: Curator, compression: Compression, field: MarkovField, alone: Sequence[Measurement]
        ) -> Supposed | None:
            if public is None:
                return None
            return supposed(
                public.recode(compression.maps),
                merged,
                field,
                alone,
                losses,
                cell_limit=self.cell_limit or PUBLIC_CELLS,
                triples=self.measures_triples,
            )

        if asked.independent:
            found, begun = _independent(curator, log, together, public, begin)
            return replace(found, decisions=decided(asked, (), None if public is None else begun))
        pairs = whole * math.sqrt(PAIRS_A_COLUMN * len(domain) / left)
        likely = likely_columns(public, together)
        # Of two or three codes none is rare: to merge them is to lose the column, of which pairs tell more later.
        few = [name for name, size in domain.items() if size < FEW]
        step = compressed(curator, together, THRESHOLD, exempt=few, pair_noise=pairs, likely=likely)
        tables = MeasuredTables(
            step.curator.domain,
            step.log,
            estimate_total(domain, together),
            step.values(domain),
            step.unstated(domain),
        )
        if every is None and public is None:
            matters = self.matters(step.curator.domain)
            doubt = doubted(step.curator, tables.field, step.log, pool, asked.hidden, matters)
            left -= doubt.spent
            if not doubt.worth:
                why = FOUND_LITTLE if doubt.spent else ONLY_COLUMNS
                return _without_pairs(curator, log, pool, left, self._wanted(domain), why)
        first, room, known = 0, 0, begin(step.curator, step.compression, tables.field, step.log)
        if known is not None:
            tables.suppose(known.tables, known.field)
            first, room = 1, known.field.tree.cells  # a tree of pairs to begin with would be of no use
        run = self._chosen(step.curator, tables, losses, left, asked, every, first, room)
        run.spend_the_rest(tables)
        if tables.cliques:
            tables.settle()
        released = [step.compression.measurement(m) for several in log for m in several]
        used = None if public is None else known is not None
        said = decided(asked, run.chosen, used, every.count if every else 0, len(tables.field.beside))
        return Fit((*released, *tables.log), tables.field, step.compression, said)

    def _chosen(
        self,
        curator: Curator,
        tables: MeasuredTables,
        losses: Allotment,
        left: Fraction,
        asked: OneWayShare,
        every: EveryPair | None,
        first: int,
        room: int,
    ) -> Rounds:
        """The rounds, once they were made: `first` is the number of the first, `room` the cells to begin with."""
        pool, domain = losses["measure"], curator.domain
        assert isinstance(pool, Gaussian)
        planned = [(count, losses[stage.name]) for stage in self.stages(domain) for count in stage.counts]
        planned = planned[: rounds_worth(asked.hidden)]
        if every is not None:
            first, planned = 1, planned[: min(later_rounds(asked), self.rounds - 1)]
        run = Rounds(
            curator,
            pool,
            left,
            first + len(planned) - 1,
            self.measures_triples,
            self.matters(domain),
            self.cell_limit,
            room,
        )
        if every is not None:
            run.every_pair(tables, every, every.count + sum(count for count, _ in planned))
        for number, (count, choice) in enumerate(planned):
            run.round(tables, number + first, sum(later for later, _ in planned[number:]), count, choice)
        return run


def _without_pairs(
    curator: Curator,
    log: list[list[Measurement]],
    pool: Gaussian,
    left: Fraction,
    wanted: Sequence[float],
    why: str,
) -> Fit:
    """Every column on its own, once all that is left was spent on them."""
    spend_on_columns(curator, log, pool, left, wanted)
    found, _ = _independent(curator, log, together_of(log), None)
    return replace(found, decisions=(why,))


def _likely(log: Sequence[Measurement], public: Counter | None) -> dict[str, Cells]:
    """What the codes of each column are thought to hold."""
    found = likely_columns(public, log)
    return found or {m.clique[0]: shrunk_column(m.values, float(m.stddev)) for m in log}


def _independent(
    curator: Curator,
    log: Sequence[Sequence[Measurement]],
    together: Sequence[Measurement],
    public: Counter | None,
    begin: Begin = lambda curator, compression, field, alone: None,
) -> tuple[Fit, bool]:
    """Every column on its own, by what its codes likely hold; `together` is the log with repeats averaged.

    How they go together is what a public table says, where `begin` finds that it is of use: whether it did.
    """
    domain = curator.domain
    compression = without_empty_slots(domain, together)
    kept = [compression.measurement(m) for m in together]
    known_public = None if public is None else public.recode(compression.maps)
    records = estimate_total(domain, together)
    columns = likely_columns(known_public, kept) or read_columns(kept, records)
    shrunk = [Measurement(m.clique, columns[m.clique[0]], m.stddev) for m in kept]
    field = estimate(compression.domain(domain), shrunk, total=records)
    known = begin(curator.recode(compression.maps), compression, field, shrunk)
    # Each answer as it was charged for: an average of two charges is a measurement that none of them paid.
    released = tuple(compression.measurement(m) for several in log for m in several)
    return Fit(released, field if known is None else known.field, compression), known is not None
