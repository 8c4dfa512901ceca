"""Every column on its own: the baseline that keeps no dependence at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.marginals import Counter, Measurement
from understudy.mechanisms.empty_slots import without_empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.public.public_prior import NEAR, questions, told, usable
from understudy.mechanisms.public.public_start import begin
from understudy.mechanisms.tables.column_readings import read_columns
from understudy.model import estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Group, Role


@dataclass(frozen=True)
class Independent:
    """Measures all one-way marginals with the whole budget.

    The noisy counts of columns are pulled towards what all of them have in common, as far as their noise suggests.

    Parameters:
        public: a public table with the same columns and codes, as `us.table` makes it: columns are pulled towards its
            own, and go together as it says where that is found to be nearer to the records than independence is.
            None by default.

    Example:
        >>> import understudy as us
        >>> us.Independent().name
        'independent'
    """

    public: Counter | None = None

    @property
    def name(self) -> str:
        return "independent"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        asked = questions(self.public, domain)
        share = Fraction(1) - sum(group.share for group in asked)
        return (Group("one-way", "measure", share, weights=(1.0,) * len(domain), role=Role.ONE_WAY), *asked)

    def cliques(self, domain: Domain) -> list[Clique]:
        return []

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget) if isinstance(budget, Budget) else budget
        log = curator.measure([(name,) for name in domain], budget=losses["one-way"])
        public = usable(self.public, domain)
        begun = begin(public, curator, log, losses)
        said = () if public is None or NEAR not in losses else (told(begun is not None),)
        if begun is not None:
            return Fit(begun.step.log, begun.known.field, begun.step.compression, said)
        compression = without_empty_slots(domain, log)
        kept = [compression.measurement(m) for m in log]
        records = estimate_total(domain, log)
        likely = read_columns(kept, records)
        pulled = [Measurement(m.clique, likely[m.clique[0]], m.stddev) for m in kept]
        field = estimate(compression.domain(domain), pulled, total=records)
        return Fit(tuple(kept), field, compression, said)
