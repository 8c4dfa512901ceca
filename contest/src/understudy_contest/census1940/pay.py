"""What the simulated people earn, and the scores that an occupation carries."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from understudy_contest.census1940.chance import Ints, crossed, log_linear, scattered
from understudy_contest.census1940.codes import WAGE_NOT_APPLICABLE, values
from understudy_contest.census1940.draft import Draft
from understudy_contest.census1940.states import State
from understudy_contest.census1940.work import jobs

Floats = npt.NDArray[np.float64]
TOP_WAGE = 5_000  # wages above were recorded as "over 5,000"
OVER_TOP = 5_001
SCORES = ("OCCSCORE", "SEI", "PRESGL", "ERSCOR50", "EDSCOR50", "NPBOSS50")
STANDING = np.array([2.0, -0.4, 1.6, 0.5, 0.7, 0.5, 0.0, -1.8, -0.7, -1.5, -0.8])  # of the major groups
UNITS = np.array([100, 20, 50, 25, 10, 5, 2, 1])  # the paper's periods of INCWAGE, in its order


def draw_pay(draft: Draft) -> None:
    """Set wages, other income, and the occupational scores."""
    table = score_table()
    for name in SCORES:
        draft[name] = table[name][draft["OCC1950"]]
    _wage(draft)
    _other_income(draft)


@cache
def score_table() -> dict[str, Ints]:
    """For each score, its value by 1950 occupation code: made up, but as fixed as the real ones."""
    work, world = jobs(), np.random.default_rng([1940, 50])
    standing = STANDING[work.group] + 0.45 * world.standard_normal(len(work.occupations))
    table = {}
    shapes = {
        "OCCSCORE": (24, 7, 80, 0),
        "SEI": (36, 19, 96, 0),
        "PRESGL": (370, 120, 815, 0),
        "ERSCOR50": (480, 220, 1000, 9999),
        "EDSCOR50": (160, 150, 1000, 9999),
        "NPBOSS50": (480, 200, 1000, 9999),
    }
    for name, (middle, spread, top, blank) in shapes.items():
        own = standing + 0.25 * world.standard_normal(len(standing))
        score = np.clip(np.rint(middle + spread * own), 3, top).astype(np.int64)
        column = np.full(max(values("OCC1950")) + 1, blank, np.int64)
        column[work.occupations] = score
        table[name] = column
    return table


def _wage(draft: Draft) -> None:
    chance, count = draft.chance, len(draft)
    paid = np.flatnonzero((draft["CLASSWKR"] == 2) & (draft["CLASSWKRD"] != 29) & (draft["WKSWORK1"] > 0))
    age, weeks = draft["AGE"][paid], draft["WKSWORK1"][paid]
    standing = _standing(draft.state)[draft["CITY"][paid]]
    city = (draft["CITY"][paid] > 0) * (0.12 + 0.05 * (draft["CITYPOP"][paid] > 600) + 0.12 * standing)
    woman = draft["SEX"][paid] == 2
    # Pay and its gap differ from city to city, as the third contest metric asks.
    gap = 0.34 + 0.25 * standing + 0.2 * (draft["OCCSCORE"][paid] > 26)
    log = np.log(1_150 * draft.state.wage) + 0.034 * (draft["OCCSCORE"][paid] - 24) + city - gap * woman
    log = (
        log
        + 0.95 * np.log(np.maximum(weeks, 1) / 52)
        - 0.9 * np.exp(-((age - 14) / 7.0))
        - 0.00035 * (age - 45.0) ** 2
    )
    log = (
        log + 0.12 * draft.wealth[paid] - 0.2 * (draft["HISPAN"][paid] > 0) + 0.42 * chance.normal(len(paid))
    )
    dollars = np.exp(log)
    # Round sums: the larger the wage the rounder (paper, "Preprocess": multiples of 100, then 20, 50, 25).
    size = np.digitize(dollars, [100, 500, 1_200])
    table = log_linear(
        [40, 17, 10, 7, 9, 4, 6, 4],
        ([-1.6, -0.3, 0.25, 0.9], np.array([1, 0, 0.2, 0, -0.2, -0.2, -0.4, -0.5])),
    )
    unit = UNITS[chance.pick_by(size, table)]
    wage = np.maximum(np.rint(dollars / unit) * unit, unit).astype(np.int64)
    wage = np.where(wage > TOP_WAGE, OVER_TOP, wage)
    unknown = chance.coin(0.02, len(paid))
    column = scattered(count, paid, np.where(unknown, WAGE_NOT_APPLICABLE, wage), 0)
    draft["INCWAGE"] = np.where(draft.working_age, column, WAGE_NOT_APPLICABLE)


def _standing(state: State) -> Floats:
    """For each city code from -1 (low pay, small gap) to 1, evenly apart: no two cities of a state are alike.

    Where two are, the contest's places of cities by their gaps are a matter of luck to every system.
    """
    codes = sorted(city.code for city in state.cities)
    standing = np.zeros(max(codes) + 1)
    standing[codes] = np.linspace(-1, 1, len(codes)) if len(codes) > 1 else 0.0
    return standing


def _other_income(draft: Draft) -> None:
    who = np.flatnonzero(draft.working_age)
    own = np.where(draft["CLASSWKR"][who] == 1, 2, (draft["LABFORCE"][who] == 2).astype(np.int64))
    stage = np.digitize(draft["AGE"][who], [25, 60])
    table = log_linear(
        [0.8, 0.19, 0.012], ([-0.2, 0.0, 3.2], np.array([0, 1, 0])), ([-1.0, 0, 0.9], np.array([0, 1, 0]))
    )
    answer = np.array([1, 2, 9])[draft.chance.pick_by(crossed((own, 3), (stage, 3)), table)]
    draft["INCNONWG"] = scattered(len(draft), who, answer, 0)
