"""Every column on its own: the baseline that keeps no dependence at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.mechanisms.empty_slots import empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.tables.least_risk import FEW_ALONE, shrunk_column
from understudy.model import estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Group, Role
from understudy.transforms.compress import Compression


@dataclass(frozen=True)
class Independent:
    """Measures all one-way marginals with the whole budget; it takes no parameter.

    The noisy counts of a column are pulled towards all codes alike, as far as their noise suggests.

    Example:
        >>> import understudy as us
        >>> us.Independent().name
        'independent'
    """

    @property
    def name(self) -> str:
        return "independent"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        return (Group("one-way", "measure", Fraction(1), weights=(1.0,) * len(domain), role=Role.ONE_WAY),)

    def cliques(self, domain: Domain) -> list[Clique]:
        return []

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget)
        log = curator.measure([(name,) for name in domain], budget=losses["one-way"])
        compression = Compression.none(domain, empty_slots(domain, log))
        kept = [compression.measurement(m) for m in log]
        field = estimate(
            compression.domain(domain), [_likely(m) for m in kept], total=estimate_total(domain, log)
        )
        return Fit(tuple(kept), field, compression)


def _likely(measured: Measurement) -> Measurement:
    """What the codes of a column likely hold."""
    if measured.values.size < FEW_ALONE:
        return measured
    return Measurement(
        measured.clique, shrunk_column(measured.values, float(measured.stddev)), measured.stddev
    )
