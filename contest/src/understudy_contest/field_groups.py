"""Field groups, the contest's fourth entry (Gardn999): full histograms of small groups, drawn independently.

Every cell of a group's product domain gets discrete Laplace noise, and what is below `1.9 * scale * log10(cells)`
becomes zero. It differs from what was submitted:

- the entry's 39 groups were made by hand; here they are given, or found on public data;
- the entry's scale is groups / epsilon; here the groups compose by the accountant of this package, at less noise;
- noise on the cells that no record falls in is drawn without visiting them, with the same law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter, Marginal
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.mutual_information import all_pairs, pair_information
from understudy.privacy import Budget, Curator, Group, Laplace
from understudy.transforms.compress import Compression
from understudy_contest.group_histograms import GroupHistograms

MOST_FILLED = 10**6  # cells of a histogram that a plan reckons with where the number of records is not known


@dataclass(frozen=True)
class FieldGroups:
    """Measures the whole histogram of each group of columns, cuts it off, and draws groups independently.

    `groups`: sets of columns, each column in one at most; a column in none is a group of its own. Without groups,
    a `public` table with the same columns tells: the pairs that say most of each other are joined, as long as a
    group has no more than `limit_cells` cells and a pair says at least `least_information` (nats), and as long as no
    more than `most_lost` of the public records lie in cells that the cut-off at the noise `scale` would empty (a
    scale of 0: none would be). `factor`: what the cut-off is a multiple of.
    """

    groups: tuple[Clique, ...]
    public: Counter | None
    limit_cells: int
    least_information: float
    scale: float
    most_lost: float
    factor: float

    def __init__(
        self,
        groups: Sequence[Sequence[str]] = (),
        *,
        public: Counter | None = None,
        limit_cells: int = 10**6,
        least_information: float = 0.1,
        scale: float = 0.0,
        most_lost: float = 0.1,
        factor: float = 1.9,
    ) -> None:
        if not groups and public is None:
            raise ParameterError(
                "field groups need groups of columns, or a public table to find them on.",
                hint="give groups (--clique A,B,C, each column once at most) or a public table (--public FILE).",
            )
        if not (limit_cells >= 1 and factor > 0 and min(least_information, scale, most_lost) >= 0):
            raise ParameterError(
                "limit_cells and factor must be positive, least_information, scale and most_lost not negative."
            )
        given = tuple((group,) if isinstance(group, str) else tuple(group) for group in groups)
        for name, value in (
            ("groups", given),
            ("public", public),
            ("limit_cells", int(limit_cells)),
            ("least_information", float(least_information)),
            ("scale", float(scale)),
            ("most_lost", float(most_lost)),
            ("factor", float(factor)),
        ):
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "field-groups"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        return (Group("groups", "laplace", Fraction(1), count=len(self.all_groups(domain))),)

    def cliques(self, domain: Domain) -> list[Clique]:
        """The groups."""
        return self.all_groups(domain)

    def largest(self, domain: Domain, losses: Allotment, rows: int, l1: int) -> list[Clique]:
        """The groups, however many records there are."""
        return self.all_groups(domain)

    def model_cells(self, domain: Domain, cliques: Sequence[Clique], rows: int | None) -> int:
        """As many as records can fill: a histogram holds no others, but for a few that noise lifts."""
        return sum(min(domain.size(clique), rows or MOST_FILLED) for clique in cliques)

    def all_groups(self, domain: Domain) -> list[Clique]:
        """The groups, every column in one."""
        found = [domain.clique(group) for group in self.groups]
        if not found and self.public is not None:
            if self.public.domain != domain:
                raise ParameterError(
                    "the public table's columns or their sizes differ from the private table's.",
                    hint="encode both with one schema.",
                )
            return self._found
        covered = [name for group in found for name in group]
        if len(set(covered)) != len(covered):
            raise ParameterError("a column is in two groups.", hint="put each column in one group at most.")
        return found + [(name,) for name in domain if name not in covered]

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        loss = allot(curator, self.plan(domain), budget)["groups"]
        assert isinstance(loss, Laplace)
        scale = curator.neighbours.l1 / loss.epsilon
        groups = self.all_groups(domain)
        found = [curator.histogram(group, loss, self._cut_off(domain, group, scale)) for group in groups]
        # What was cut off is missing from a group's sum: the one with the fewest cells misses least.
        surest = min(range(len(groups)), key=lambda i: domain.size(groups[i]))
        total = float(max(1, int(found[surest].counts.sum())))
        cells = [(cells.places, cells.counts.astype(np.float64)) for cells in found]
        return Fit((), GroupHistograms(domain, groups, cells, total), Compression.none(domain))

    @cached_property
    def _found(self) -> list[Clique]:
        assert self.public is not None
        return found_groups(
            self.public, self.limit_cells, self.least_information, self._loses, self.most_lost
        )

    def _loses(self, marginal: Marginal) -> float:
        """The share of a public marginal's records in cells that the cut-off would empty."""
        counts = np.asarray(marginal.counts)
        below = counts < self.factor * self.scale * math.log10(max(counts.size, 1))
        return float(counts[below].sum() / max(int(counts.sum()), 1))

    def _cut_off(self, domain: Domain, group: Clique, scale: float) -> int:
        return max(1, math.ceil(self.factor * scale * math.log10(max(domain.size(group), 1))))


def found_groups(
    public: Counter,
    limit_cells: int,
    least: float,
    loses: Callable[[Marginal], float] = lambda marginal: 0.0,
    most_lost: float = 0.0,
) -> list[Clique]:
    """Groups of columns that say much of each other on a public table: pairs joined, the strongest first."""
    domain = public.domain
    information = pair_information(public, all_pairs(domain, limit_cells))
    member = {name: [name] for name in domain}

    def fits(columns: list[str]) -> bool:
        if domain.size(columns) > limit_cells:
            return False
        return loses(next(iter(public.count([domain.order(columns)])))) <= most_lost

    refused: set[frozenset[str]] = set()
    for pair in sorted(information, key=lambda pair: -information[pair]):
        first, second = member[pair[0]], member[pair[1]]
        if information[pair] < least:
            break
        joined = [*first, *second]
        if first is second or frozenset(joined) in refused:
            continue
        if not fits(joined):
            refused.add(frozenset(joined))
            continue
        first.extend(second)
        for name in second:
            member[name] = first
    return [domain.order(group) for group in {id(group): group for group in member.values()}.values()]
