"""The contest's third metric: income inequality and the gender wage gap, city by city."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy.evaluation.columns import Codes

HALF = 500_000.0  # each of the two halves of the score


@dataclass(frozen=True)
class Roles:
    """Which columns hold sex, city and wage, and what their codes mean; the defaults are the contest's.

    Wages of `wage_missing` and above mean "not applicable" and are left out.
    """

    sex: str = "SEX"
    city: str = "CITY"
    wage: str = "INCWAGE"
    wage_missing: int = 999_998
    male: int = 1
    female: int = 2

    def __post_init__(self) -> None:
        if len({self.sex, self.city, self.wage}) < 3:
            raise ParameterError(f"roles {self.sex!r}, {self.city!r}, {self.wage!r} name a column twice.")
        if self.male == self.female:
            raise ParameterError(f"roles: male and female are both code {self.male}.")

    @property
    def columns(self) -> tuple[str, str, str]:
        """The three columns, in the order sex, city, wage."""
        return self.sex, self.city, self.wage


@dataclass(frozen=True)
class City:
    """What the metric knows of one city: its Gini index, its pay gap, and its place by pay gap."""

    gini: float
    gap: float
    rank: int


def gini(wages: npt.NDArray[Any]) -> float:
    """The contest's Gini index: 1 - 2 * (sum of running sums of ascending wages) / (n * total).

    It is 1 where there are no wages or they are all 0. (Equal wages give -1/n, not 0: the contest's
    formula counts each running sum whole.)
    """
    running = np.cumsum(np.sort(wages).astype(np.float64))
    if not len(running) or running[-1] == 0:
        return 1.0
    return float(1.0 - 2.0 * running.sum() / (len(running) * running[-1]))


def cities(table: Mapping[str, Codes], roles: Roles) -> dict[int, City]:
    """Every city of the table by its code, ranked by pay gap, largest first (ties: smaller code first).

    A record whose city is not a code belongs to none; one whose wage is not a code counts as not applicable.
    """
    sex, city, wage = (table[name].astype(np.int64) for name in roles.columns)
    found = np.unique(city[city >= 0])
    earning = (city >= 0) & (wage >= 0) & (wage < roles.wage_missing)
    sex, city, wage = sex[earning], city[earning], wage[earning]
    order = np.argsort(city, kind="stable")
    bounds = np.searchsorted(city[order], np.append(found, found[-1:] + 1))
    ginis, gaps = [], []
    for start, stop in itertools.pairwise(bounds):
        members = order[start:stop]
        ginis.append(gini(wage[members]))
        gaps.append(
            _mean(wage[members][sex[members] == roles.male])
            - _mean(wage[members][sex[members] == roles.female])
        )
    ranks = np.empty(len(found), np.int64)
    ranks[np.argsort(-np.array(gaps), kind="stable")] = np.arange(1, len(found) + 1)
    return {
        int(code): City(g, gap, int(rank))
        for code, g, gap, rank in zip(found, ginis, gaps, ranks, strict=True)
    }


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else 0.0


def income_error(true: Mapping[int, City], synthetic: Mapping[int, City]) -> float:
    """1 - (s1 + s2) / 1e6 over the true cities; one missing from the synthetic table adds 0 to both."""
    count = len(true)
    inequality, places = 0.0, 0.0
    for code, here in true.items():
        there = synthetic.get(code)
        if there is None:
            continue
        inequality += (1.0 - abs(there.gini - here.gini)) ** 2
        places += _place(abs(there.rank - here.rank), count) ** 2
    s1 = HALF * math.sqrt(inequality / count)
    s2 = HALF * math.sqrt(places / count)
    return 1.0 - (s1 + s2) / (2 * HALF)


def _place(difference: int, count: int) -> float:
    if count == 1:  # the rule divides by K - 1: with one city, its place is right or it is not
        return 1.0 if difference == 0 else 0.0
    return max(0.0, 1.0 - difference / (count - 1))
