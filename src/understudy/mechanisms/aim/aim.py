"""AIM: an adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau, VLDB 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter
from understudy.mechanisms.aim.aim_rounds import AimRounds
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.one_way import compressed
from understudy.mechanisms.public.public_prior import CELLS, NEAR, questions, told, usable
from understudy.mechanisms.public.public_start import PublicStart, begin
from understudy.mechanisms.tree_capacity import largest_forest
from understudy.mechanisms.workload.workload import Workload
from understudy.model import estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Filtered, Group, Role

ROUNDS_A_COLUMN = 16  # that the budget is planned for; fewer are asked where noise is found to be too large
OF_CHOICES = Fraction(1, 10)  # of a round's rho: the rest measures what was chosen
PUBLIC_PART = 20  # of the cells, a public model may have one: rounds refit it hundreds of times
HASTE = 3  # times as little is worked on those refits
MOST_SETS = 20_000  # to choose from: where there are more, the largest are left out


@dataclass(frozen=True)
class AIM:
    """Measures every column, then one marginal a round: the one of the workload that the model explains worst.

    What a misfit is worth is weighed by the workload, and lowered by the noise that measuring would add. Noise is
    halved whenever a measurement hardly moved the model, so how many rounds there are depends on the answers.

    Parameters:
        workload: what matters: a number of columns (3: all triples), "3-way", sets of columns, or a mapping of
            sets to weights. All triples by default; of a table so wide that they are too many, all pairs.
        target: a column that every set of the workload holds; none by default.
        cell_limit: the most cells of the model; a million by default, which a laptop refits in a second or two.
        threshold: codes whose noisy count is below so many standard deviations are merged, at least 0. By default 0,
            AIM as published: none is. MST's 3 helps where columns have very many codes.
        public: a public table with the same columns and codes, as `us.table` makes it: where it is found to be nearer
            to the records than independence is, rounds begin there, and what they measure is pulled towards what the
            model said before. None by default, as published.

    Raises:
        ParameterError: a number is out of its range, or the workload cannot be read.

    Example:
        >>> import understudy as us
        >>> us.AIM(workload=[("sex", "age"), ("age", "income")]).name
        'aim'
    """

    workload: Workload
    cell_limit: int
    threshold: float
    public: Counter | None = None

    def __init__(
        self,
        workload: Any = None,
        *,
        target: str | None = None,
        cell_limit: int = 10**6,
        threshold: float = 0.0,
        public: Counter | None = None,
    ) -> None:
        if isinstance(cell_limit, bool) or not isinstance(cell_limit, int) or cell_limit < 1:
            raise ParameterError(f"cell_limit {cell_limit!r} is not a whole number of at least 1.")
        if not threshold >= 0:
            raise ParameterError(f"threshold {threshold!r} is not a number of at least 0.")
        object.__setattr__(self, "workload", Workload.of(workload, target))
        object.__setattr__(self, "cell_limit", cell_limit)
        object.__setattr__(self, "threshold", float(threshold))
        object.__setattr__(self, "public", public)

    @property
    def name(self) -> str:
        return "aim"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        self.workload.check(domain)
        alone, columns = (1.0,) * len(domain), len(domain)
        asked = questions(self.public, domain)
        if columns < 2:
            return (Group("one-way", "measure", Fraction(1), weights=alone, role=Role.ONE_WAY),)
        share = (1 - OF_CHOICES) / ROUNDS_A_COLUMN  # as much a column as a round has to measure
        rest = 1 - sum(group.share for group in asked)
        return (
            Group("one-way", "measure", share * rest, weights=alone, role=Role.ONE_WAY),
            *asked,
            Group("rounds", "filter", (1 - share) * rest, count=ROUNDS_A_COLUMN * columns, role=Role.ROUNDS),
        )

    def cliques(self, domain: Domain) -> list[Clique]:
        """The largest pairs of a tree that could be chosen; more is chosen only where the model stays small."""
        return list(largest_forest(domain, self.cell_limit))

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget) if isinstance(budget, Budget) else budget
        kept = () if self.threshold else domain.names  # below nothing there are noisy counts as well
        measured = curator.measure([(name,) for name in domain], budget=losses["one-way"])
        public = usable(self.public, domain)
        begun = begin(
            public, curator, measured, losses, cell_limit=min(CELLS, self.cell_limit // PUBLIC_PART)
        )
        step = compressed(curator, measured, self.threshold, exempt=kept) if begun is None else begun.step
        merged, alone = step.curator.domain, list(step.log)
        records = estimate_total(merged, alone)
        field = estimate(merged, alone, total=records)
        if "rounds" not in losses:
            return Fit(step.log, field, step.compression)
        reserve = losses["rounds"]
        assert isinstance(reserve, Filtered)
        planned = ROUNDS_A_COLUMN * len(domain)
        share = 1 - (1 - OF_CHOICES) / ROUNDS_A_COLUMN
        rounds = AimRounds(
            step.curator,
            self.workload.closure(merged, MOST_SETS),
            self.cell_limit,
            whole=reserve.rho / float(share),
            left=reserve.rho * (1 - 1e-9),
            a_round=reserve.rho / float(share) / planned,
        )
        said = () if public is None or NEAR not in losses else (told(begun is not None),)
        if begun is None:
            log, field = rounds.run(alone, field)
        else:
            start = PublicStart(begun.likely, begun.known, cell_limit=self.cell_limit, haste=HASTE)
            log, field = rounds.run(alone, begun.known.field, start)
            field = start.settle()
        return Fit(tuple(log), field, step.compression, said)
