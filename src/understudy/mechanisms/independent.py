"""Every column on its own: the baseline that keeps no dependence at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.mechanisms.empty_slots import fit_without_empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.privacy import Budget, Curator, Group, Role


@dataclass(frozen=True)
class Independent:
    """Measures all one-way marginals with the whole budget; it takes no parameter.

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
        return fit_without_empty_slots(domain, log)
