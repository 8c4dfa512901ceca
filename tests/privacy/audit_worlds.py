"""Engines whose every cell is a run of its own, so that one measurement audits half a million runs.

The worst case of an audit: a base of identical records and a target that shares no value with them. In every
measured marginal the target then has a cell to itself, whose noise is independent of all other cells. So a
marginal whose cells all hold the target's count is as many independent runs, through the curator's real code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from audit_bounds import epsilon_proved, gaussian_epsilon, mu_proved

from understudy.domain import Domain
from understudy.marginals import Marginal
from understudy.privacy import Budget, Curator, Group, Neighbours
from understudy.privacy.noise.randomness import OperatingSystem, Randomness

COLUMNS = 5
RUNS = 500_000
ALPHA = 1e-4
RECORD = Neighbours()


@dataclass(frozen=True)
class Filled:
    """An engine that counts `cells` in every one-way marginal, whatever the column."""

    cells: np.ndarray
    columns: tuple[str, ...]

    @property
    def domain(self) -> Domain:
        return Domain({name: self.cells.size for name in self.columns})

    def count(self, cliques: Sequence[tuple[str, ...]]) -> list[Marginal]:
        return [Marginal(clique, self.cells.copy()) for clique in cliques]

    def recode(self, maps: Mapping[str, np.ndarray]) -> Filled:
        return self


def plan(columns: int = COLUMNS, weights: Sequence[float] | None = None) -> list[Group]:
    """The plan of MST: a third for columns, a third for choices, a third for pairs."""
    third = Fraction(1, 3)
    ones = (1.0,) * columns
    return [
        Group("columns", "measure", third, weights=ones if weights is None else tuple(weights)),
        Group("choices", "choose", third, count=columns - 1),
        Group("pairs", "measure", third, weights=ones[1:]),
    ]


@dataclass(frozen=True)
class Audit:
    """What a million runs in each of two worlds prove, and the most that they could have."""

    proved: float
    proved_by_definition: float
    ceiling: float
    claim: float


def audit(
    budget: Budget,
    neighbours: Neighbours = RECORD,
    *,
    source: Randomness | None = None,
    runs: int = RUNS,
    repeats: int = 2,
    weights: Sequence[float] | None = None,
) -> Audit:
    """The audit of an MST plan's measurements, with and without one unit."""
    chosen = OperatingSystem() if source is None else source
    without, with_, mu = [], [], 0.0
    for _ in range(repeats):
        for present, statistics in ((False, without), (True, with_)):
            own = np.full(runs, neighbours.records if present else 0, dtype=np.int64)
            statistic, mu = _statistic(budget, neighbours, chosen, own, weights)
            statistics.append(statistic)
    out, in_ = np.concatenate(without), np.concatenate(with_)
    return Audit(
        proved=gaussian_epsilon(budget.delta, mu_proved(out, in_, ALPHA)),
        proved_by_definition=epsilon_proved(out, in_, budget.delta, ALPHA),
        ceiling=gaussian_epsilon(budget.delta, mu),
        claim=budget.epsilon,
    )


def _statistic(
    budget: Budget,
    neighbours: Neighbours,
    source: Randomness,
    own: np.ndarray,
    weights: Sequence[float] | None,
) -> tuple[np.ndarray, float]:
    """The log-likelihood ratio of each run's noisy log, and how many of its deviations the worlds are apart.

    A unit that is added moves its own cell up; one that is replaced moves another cell down as well.
    """
    k, runs = neighbours.records, own.size
    replaced = neighbours.relation == "replace"
    cells = np.concatenate([own, k - own]) if replaced else own
    names = tuple(f"c{i}" for i in range(2 * COLUMNS - 1))
    curator = Curator(Filled(cells, names), budget, neighbours=neighbours, source=source)
    losses = curator.commit(plan(COLUMNS, weights))
    measured = curator.measure(names[:COLUMNS], budget=losses["columns"], weights=weights)
    measured += curator.measure(names[COLUMNS:], budget=losses["pairs"])
    statistic, square = np.zeros(runs), 0.0
    for measurement in measured:
        precision = float(np.broadcast_to(measurement.stddev, (1,))[0]) ** -2
        values = measurement.values
        moved = values[:runs] - values[runs:] if replaced else values - k / 2
        statistic += k * precision * moved
        square += k**2 * precision * (2 if replaced else 1)
    return statistic, math.sqrt(square)
