"""PrivSyn (Zhang, Wang, Li, Honorio, Backes, He, Chen, Zhang 2021), the contest's second entry as DPSyn.

Many pairs measured with equal noise, made consistent, and records that are moved until they follow them. It differs
from what was submitted:

- pairs are chosen privately, or given; the entry chose its 190 on the public state;
- each pair is drawn by the exponential mechanism on its dependence less the noise it would cost, which is the gain
  that PrivSyn's DenseMarg adds up; PrivSyn itself adds noise to all dependences and then decides;
- all cliques share one accountant, also those with Laplace noise, for which the entry set epsilons aside; none has
  it unless asked for (the entry: INCWAGE, ENUMDIST and (INCWAGE, SEX, CITY));
- records are copied only once overwriting has done the coarse work; the entry alternated from the start, by which
  on many columns records grow alike; and what is overwritten is, where it can be, one column of the two;
- codes below `threshold` standard deviations, or `least` records, are merged (the entry: 4.5 and 800).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.mechanisms.mechanism import Allotment, Fit, allot, shares
from understudy.mechanisms.mutual_information import all_pairs
from understudy.mechanisms.one_way import measure_and_compress
from understudy.mechanisms.repeated_measurement import measure_repeated
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Gaussian, Group, Role
from understudy_contest.consistency import consistent
from understudy_contest.gradual_update import GradualUpdate


@dataclass(frozen=True)
class PrivSyn:
    """Measures one-way marginals and many pairs, makes them agree, and moves records until they follow.

    `pairs`: how many are chosen. `forced`: cliques measured with them, and their weights (a pair weighs 1); with
    `pairs=0` they are all there is. `laplace`: cliques measured with Laplace noise, and each one's share of the
    budget. `one_way`, `select`, `two_way`: shares of the rest. `threshold`, `least`: codes whose noisy count is
    below so many standard deviations, or so many records, are merged, except in `exempt` columns. `limit_cells`:
    larger pairs are not considered. `rounds`: the most, of making consistent and of moving records.
    """

    pairs: int
    forced: tuple[tuple[Clique, float], ...]
    laplace: tuple[tuple[Clique, Fraction], ...]
    one_way: Fraction
    select: Fraction
    two_way: Fraction
    threshold: float
    least: float
    exempt: tuple[str, ...]
    limit_cells: int
    rounds: int

    def __init__(
        self,
        pairs: int = 190,
        *,
        forced: Mapping[Clique, float] | Sequence[Clique] = (),
        laplace: Mapping[Clique, Fraction | float] | None = None,
        one_way: Fraction | float = Fraction(1, 10),
        select: Fraction | float = Fraction(1, 10),
        two_way: Fraction | float = Fraction(8, 10),
        threshold: float = 4.5,
        least: float = 0.0,
        exempt: Sequence[str] = (),
        limit_cells: int = 10**6,
        rounds: int = 100,
    ) -> None:
        weighted = forced.items() if isinstance(forced, Mapping) else [(clique, 1.0) for clique in forced]
        pure = {
            tuple(clique): Fraction(share).limit_denominator(10**6)
            for clique, share in (laplace or {}).items()
        }
        if not (int(pairs) >= 0 and threshold >= 0 and least >= 0 and int(rounds) >= 0):
            raise ParameterError("pairs, threshold, least and rounds must not be negative.")
        if any(share <= 0 for share in pure.values()) or sum(pure.values()) >= 1:
            raise ParameterError(
                "the shares of cliques with Laplace noise must be positive and below 1 in all."
            )
        values: dict[str, Any] = shares(one_way=one_way, select=select, two_way=two_way) | {
            "pairs": int(pairs),
            "forced": tuple((tuple(clique), float(weight)) for clique, weight in weighted),
            "laplace": tuple(pure.items()),
            "threshold": float(threshold),
            "least": float(least),
            "exempt": tuple(exempt),
            "limit_cells": int(limit_cells),
            "rounds": int(rounds),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "privsyn"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        wanted = self._wanted(domain)
        parts = {"one-way": self.one_way}
        if 0 < wanted < len(self._offered(domain)):  # else none or all of them are taken: nothing to choose
            parts["select"] = self.select
        if wanted or self.forced:
            parts["two-way"] = self.two_way
        pure = [Group(_pure(clique), "laplace", share) for clique, share in self.laplace]
        rest = (1 - sum((group.share for group in pure), Fraction(0))) / sum(parts.values())
        weights = {
            "one-way": (1.0,) * len(domain),
            "two-way": tuple(weight for _, weight in self.forced) + (1.0,) * wanted,
        }
        roles = {"one-way": Role.ONE_WAY, "select": Role.PAIRS, "two-way": Role.MARGINALS}
        groups = [
            Group(name, "choose", share * rest, count=wanted, role=roles[name])
            if name == "select"
            else Group(name, "measure", share * rest, weights=weights[name], role=roles[name])
            for name, share in parts.items()
        ]
        return (groups[0], *pure, *groups[1:])

    def cliques(self, domain: Domain) -> list[Clique]:
        """The forced cliques and the largest pairs that could be chosen."""
        falling = sorted(self._offered(domain), key=lambda pair: -domain.size(pair))
        return [domain.clique(clique) for clique, _ in self.forced] + falling[: self._wanted(domain)]

    def largest(self, domain: Domain, losses: Allotment, rows: int, l1: int) -> list[Clique]:
        """The same, however many records there are."""
        return self.cliques(domain)

    def model_cells(self, domain: Domain, cliques: Sequence[Clique], rows: int | None) -> int:
        """Those of every marginal: they are followed as they are, and never joined into larger ones."""
        return sum(domain.size(clique) for clique in [*cliques, *((name,) for name in domain)])

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget)
        step = measure_and_compress(
            curator,
            losses["one-way"],
            weights={},
            threshold=self.threshold,
            least=self.least,
            exempt=self.exempt,
        )
        log = list(step.log)
        for clique, _ in self.laplace:
            log += step.curator.measure([clique], budget=losses[_pure(clique)])
        if "two-way" in losses:
            cliques = [*(clique for clique, _ in self.forced), *self._select(step.curator, losses)]
            log += measure_repeated(step.curator, cliques, losses["two-way"])
        known = step.curator.domain
        total = estimate_total(known, log)
        tables = consistent(known, log, total, self.rounds)
        return Fit(tuple(log), GradualUpdate(known, tables, total, self.rounds), step.compression)

    def _select(self, curator: Curator, losses: Allotment) -> list[Clique]:
        """As many pairs as were planned, each the most dependent of those left, less the noise it would cost.

        Columns whose codes were learned may be larger or smaller than planned, and so make fewer or more pairs
        than planned small enough. Where there are fewer, some are measured again; where none, the columns are.
        """
        two_way = losses["two-way"]
        assert isinstance(two_way, Gaussian) and two_way.weights is not None
        wanted = len(two_way.weights) - len(self.forced)
        left = self._offered(curator.domain)
        noise = math.sqrt(2 / math.pi) * two_way.scales[-1]
        chosen: list[Clique] = [] if "select" in losses else left[:wanted]  # all, or none
        while "select" in losses and left and len(chosen) < wanted:
            costs = [round(noise * curator.domain.size(pair)) for pair in left]
            chosen.append(left.pop(curator.choose_dependent(left, losses["select"], costs)))
        again = itertools.cycle(chosen or [(name,) for name in curator.domain])
        return list(itertools.islice(again, wanted))

    def _offered(self, domain: Domain) -> list[Clique]:
        """The pairs that may be chosen: small enough, and not forced."""
        forced = {frozenset(domain.clique(clique)) for clique, _ in self.forced}
        return [pair for pair in all_pairs(domain, self.limit_cells) if frozenset(pair) not in forced]

    def _wanted(self, domain: Domain) -> int:
        return min(self.pairs, len(self._offered(domain)))


def _pure(clique: Clique) -> str:
    return "laplace " + ", ".join(clique)
