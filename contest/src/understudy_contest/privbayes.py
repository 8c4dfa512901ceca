"""PrivBayes (Zhang, Cormode, Procopiuc, Srivastava, Xiao 2017): a Bayesian network, chosen and filled privately.

The contest's third entry was PrivBayes, but its code is not public; this is the published algorithm. It differs:

- rare codes are merged after a first look at every column, which also tells how many records there are: the paper
  takes that number as public, and merges codes by a taxonomy that a person must supply;
- the score is the paper's R times twice the number of records, rounded down, so that it is an exact integer;
- parent sets of at most `degree` columns are tried, and of many only a public random sample;
- the first column of the table is the root; the paper draws it at random;
- the questions compose by the accountant of this package, which leaves less noise than adding epsilons up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.mechanisms.mechanism import Allotment, Fit, allot, shares
from understudy.mechanisms.one_way import measure_and_compress
from understudy.model.fitting.record_total import estimate_total
from understudy.privacy import Budget, Curator, Gaussian, Group, Laplace, Loss, Role
from understudy_contest.bayesian_network import BayesianNetwork


@dataclass(frozen=True)
class PrivBayes:
    """Chooses for each column the parents it depends on most, measures each family, and draws ancestrally.

    `degree`: the most parents a column may have. `theta`: a family is small enough when its average cell holds so
    many times the noise ("theta-useful"). `noise`: "laplace" as published, or "gaussian". `one_way`, `network`,
    `tables`: shares of the budget. `threshold`: codes whose noisy count is below so many standard deviations are
    merged, except in `exempt` columns. `candidates`: the most parent sets tried for one column in one round.
    """

    degree: int
    theta: float
    noise: str
    one_way: Fraction
    network: Fraction
    tables: Fraction
    threshold: float
    exempt: tuple[str, ...]
    candidates: int

    def __init__(
        self,
        degree: int = 2,
        *,
        theta: float = 4.0,
        noise: str = "laplace",
        one_way: Fraction | float = Fraction(1, 10),
        network: Fraction | float = Fraction(3, 10),
        tables: Fraction | float = Fraction(6, 10),
        threshold: float = 3.0,
        exempt: Sequence[str] = (),
        candidates: int = 100,
    ) -> None:
        if noise not in ("laplace", "gaussian"):
            raise ParameterError(f"noise {noise!r} is not known.", hint='use "laplace" or "gaussian".')
        if not (theta > 0 and threshold >= 0 and int(degree) >= 0 and int(candidates) >= 1):
            raise ParameterError("theta, threshold, degree and candidates must not be negative or zero.")
        values: dict[str, Any] = shares(one_way=one_way, network=network, tables=tables) | {
            "degree": int(degree),
            "theta": float(theta),
            "noise": noise,
            "threshold": float(threshold),
            "exempt": tuple(exempt),
            "candidates": int(candidates),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "privbayes"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        columns = len(domain)
        one_way = Group("one-way", "measure", self.one_way, weights=(1.0,) * columns, role=Role.ONE_WAY)
        if columns < 2:
            return (Group("one-way", "measure", Fraction(1), weights=(1.0,) * columns, role=Role.ONE_WAY),)
        tables = (
            Group("tables", "laplace", self.tables, count=columns, role=Role.MARGINALS)
            if self.noise == "laplace"
            else Group("tables", "measure", self.tables, weights=(1.0,) * columns)
        )
        return one_way, Group("network", "choose", self.network, count=columns - 1, role=Role.NETWORK), tables

    def cliques(self, domain: Domain) -> list[Clique]:
        """The root, and every other column with the largest parents it could have if records were no object."""
        return largest_families(domain, self.degree, math.inf)

    def largest(self, domain: Domain, losses: Allotment, rows: int, l1: int) -> list[Clique]:
        """The same, where a family's average cell must hold `theta` times the noise."""
        if "tables" not in losses:
            return []
        return largest_families(domain, self.degree, self._most(losses["tables"], domain, rows, l1))

    def model_cells(self, domain: Domain, cliques: Sequence[Clique], rows: int | None) -> int:
        """Those of every family: they are kept as they are, and never joined into larger cliques."""
        return sum(domain.size(clique) for clique in cliques or [(name,) for name in domain])

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget)
        step = measure_and_compress(
            curator, losses["one-way"], weights={}, threshold=self.threshold, exempt=self.exempt
        )
        known = step.curator.domain
        total = estimate_total(known, step.log)
        families: list[Clique] = [known.names[:1]]
        measured: Sequence[Measurement] = step.log
        if "tables" in losses:
            most = self._most(losses["tables"], known, total, curator.neighbours.l1)
            families = self._network(step.curator, losses["network"], most)
            measured = step.curator.measure(families, budget=losses["tables"])
        tables = [
            np.moveaxis(np.maximum(m.values, 0.0).reshape(known.shape(m.clique)), 0, -1) for m in measured
        ]
        network = BayesianNetwork(known, families, tables, total)
        log = step.log if measured is step.log else (*step.log, *measured)
        return Fit(log, network, step.compression)

    def _most(self, tables: Loss, domain: Domain, total: float, l1: int) -> float:
        """The cells of the largest family that is useful (the paper's theta-usefulness)."""
        return total / (self.theta * _scale(tables, len(domain), l1))

    def _network(self, curator: Curator, loss: Loss, most: float) -> list[Clique]:
        """The families in the order they were chosen: each the most dependent, given those before (greedy Bayes)."""
        domain = curator.domain
        pool = ParentSets(domain, self.degree, most, self.candidates)
        root, rest = domain.names[0], list(domain.names[1:])
        families: list[Clique] = [(root,)]
        pool.add(root, rest)
        while rest:
            offered = [family for column in rest for family in pool.families(column)]
            families.append(offered[curator.choose_dependent(offered, loss)])
            rest.remove(families[-1][0])
            pool.add(families[-1][0], rest)
        return families


class ParentSets:
    """For each column still to be placed, sets of placed columns that could be its parents.

    A set has at most `degree` columns, and its family at most so many cells; sets that could still take one more
    column are left out (the paper's maximal parent sets). Of more than `keep` sets a random sample is kept, by a
    fixed seed: which ones says nothing of the records.
    """

    def __init__(self, domain: Domain, degree: int, most: float, keep: int) -> None:
        self._domain, self._degree, self._most, self._keep = domain, degree, most, keep
        self._random = np.random.default_rng(0)
        self._placed: list[str] = []
        self._sets: dict[str, list[Clique]] = {name: [()] for name in domain}
        self._seen = dict.fromkeys(domain, 0)

    def add(self, placed: str, rest: Sequence[str]) -> None:
        """Take up a column that has just been placed, as a parent of those that have not."""
        sizes = self._domain
        for column in rest:
            room = self._most / sizes[column]
            for size in range(min(self._degree, len(self._placed) + 1)):
                for others in itertools.combinations(self._placed, size):
                    if sizes.size(others) * sizes[placed] <= room:
                        self._offer(column, (*others, placed))
        self._placed.append(placed)

    def families(self, column: str) -> list[Clique]:
        """The column before each of its possible parent sets; alone where it has none."""
        kept = self._sets[column]
        inside = {frozenset(less) for parents in kept for less in _one_fewer(parents)}
        return [(column, *parents) for parents in kept if frozenset(parents) not in inside]

    def _offer(self, column: str, parents: Clique) -> None:
        """Keep each set offered so far with the same chance (reservoir sampling)."""
        self._seen[column] += 1
        kept = self._sets[column]
        if len(kept) < self._keep:
            kept.append(parents)
        elif (place := int(self._random.integers(self._seen[column]))) < self._keep:
            kept[place] = parents


def largest_families(domain: Domain, degree: int, most: float) -> list[Clique]:
    """The first column, and each other with the parents, at most `degree`, that make its largest allowed family."""
    falling = sorted(domain, key=lambda name: -domain[name])
    families: list[Clique] = [domain.names[:1]]
    for column in domain.names[1:]:
        others = [name for name in falling if name != column]
        families.append((column, *_largest_parents(domain, others, degree, most / domain[column])))
    return families


def _largest_parents(domain: Domain, others: Sequence[str], degree: int, room: float) -> Clique:
    """At most `degree` of the others, given in falling order, that have the most cells there is room for."""
    best: Clique = ()
    for place, name in enumerate(others if degree else ()):
        if domain[name] ** degree <= domain.size(best):
            break  # neither this column nor those after it can do better
        if domain[name] <= room:
            rest = _largest_parents(domain, others[place + 1 :], degree - 1, room / domain[name])
            best = max(best, (name, *rest), key=domain.size)
    return best


def _one_fewer(parents: Clique) -> list[Clique]:
    return [parents[:i] + parents[i + 1 :] for i in range(len(parents))]


def _scale(loss: Loss, columns: int, records: int) -> float:
    """The scale of the noise on a cell of a family."""
    if isinstance(loss, Laplace):
        return records / loss.epsilon
    assert isinstance(loss, Gaussian)
    return float(loss.sigma * math.sqrt(columns) * records)
