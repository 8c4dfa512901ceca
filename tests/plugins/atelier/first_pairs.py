"""Every column on its own, then so many pairs of neighbours: as simple as a mechanism with an option gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from understudy import Budget, Curator, Domain, Fit, Group, estimate
from understudy.mechanisms import MechanismKind, Setting
from understudy.privacy import Loss, Role
from understudy.transforms import Compression


@dataclass(frozen=True)
class FirstPairs:
    """Measures all columns alone with half the budget, and the first `pairs` pairs of neighbours with the rest."""

    pairs: int = 1

    @property
    def name(self) -> str:
        return "first-pairs"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        half = Fraction(1, 2)
        return (
            Group("alone", "measure", half, weights=(1.0,) * len(domain), role=Role.ONE_WAY),
            Group("together", "measure", half, weights=(1.0,) * len(self.cliques(domain))),
        )

    def cliques(self, domain: Domain) -> list[tuple[str, ...]]:
        neighbours = zip(domain.names, domain.names[1:], strict=False)
        return list(neighbours)[: self.pairs]

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Mapping[str, Loss]) -> Fit:
        losses = curator.commit(self.plan(domain)) if isinstance(budget, Budget) else budget
        log = [
            *curator.measure([(name,) for name in domain], budget=losses["alone"]),
            *curator.measure(self.cliques(domain), budget=losses["together"]),
        ]
        return Fit(tuple(log), estimate(domain, log), Compression.none(domain))


KIND = MechanismKind(
    "first-pairs",
    f"{__name__}:FirstPairs",
    "columns alone, and some neighbours",
    (Setting("pairs", "pairs", "integer", "how many"),),
)
