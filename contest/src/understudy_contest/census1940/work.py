"""What the simulated people do: labour, occupation, industry, class, weeks, hours, unemployment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from understudy_contest.census1940.chance import Floats, Ints, crossed, log_linear, scattered, zipf
from understudy_contest.census1940.codes import values
from understudy_contest.census1940.draft import Draft

# Major groups: professional, farmers, managers, clerical, sales, craft, operatives, household, service,
# farm labour, labour. For each: its 1950 codes, its 1940 codes.
GROUPS_1950 = (
    (0, 99),
    (100, 123),
    (200, 290),
    (300, 390),
    (400, 490),
    (500, 595),
    (600, 690),
    (700, 720),
    (730, 790),
    (810, 840),
    (910, 970),
)
GROUPS_1940 = (
    (1, 45),
    (98, 99),
    (100, 156),
    (200, 266),
    (270, 298),
    (300, 398),
    (400, 496),
    (500, 520),
    (600, 798),
    (844, 888),
    (900, 988),
)
FREQUENT = {
    93: 9,
    100: 9,
    230: 1,
    290: 9,
    350: 5,
    390: 9,
    310: 3,
    490: 9,
    510: 5,
    550: 4,
    523: 3,
    564: 3,
    515: 2,
    690: 9,
    650: 5,
    683: 6,
    720: 9,
    784: 5,
    770: 3,
    754: 3,
    820: 9,
    830: 4,
    970: 9,
    58: 3,
    910: 0.2,
}
SECTORS = (
    (105, 126),
    (206, 239),
    (246, 246),
    (306, 499),
    (506, 598),
    (606, 699),
    (716, 756),
    (806, 849),
    (856, 859),
    (868, 899),
    (906, 946),
)
# Rows: major groups; columns: agriculture, mining, construction, mills, transport, trade, finance,
# services, entertainment, professions, government.
SECTOR_OF_GROUP = (
    (0.2, 0.3, 0.4, 0.8, 0.5, 0.4, 0.3, 0.4, 0.8, 12, 1.0),
    (60, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01),
    (0.1, 0.3, 0.8, 1.2, 1.4, 8, 1.0, 1.6, 0.4, 0.3, 1.4),
    (0.1, 0.3, 0.3, 1.8, 3.0, 3.5, 2.4, 0.7, 0.2, 1.2, 3.2),
    (0.05, 0.05, 0.1, 1.0, 0.2, 11, 2.6, 0.3, 0.05, 0.05, 0.05),
    (0.1, 0.8, 6.5, 4.0, 2.8, 1.2, 0.1, 1.6, 0.1, 0.2, 0.8),
    (0.2, 4.5, 0.8, 5.0, 4.0, 2.6, 0.05, 1.3, 0.1, 0.1, 0.4),
    (0.02, 0.01, 0.01, 0.02, 0.01, 0.05, 0.02, 12, 0.01, 0.05, 0.02),
    (0.05, 0.1, 0.1, 0.6, 0.8, 4.0, 0.7, 4.0, 0.7, 2.6, 2.2),
    (60, 0.01, 0.02, 0.05, 0.02, 0.05, 0.01, 0.02, 0.01, 0.05, 0.05),
    (0.5, 1.0, 5.0, 3.0, 4.0, 1.6, 0.1, 0.8, 0.1, 0.2, 2.2),
)
CLASSES = np.array(
    [11, 12, 22, 24, 29]
)  # employer, own account, private wage, government wage, unpaid family
CLASS_OF_GROUP = (
    (3, 9, 34, 54, 0.1),
    (12, 80, 3, 0.2, 2),
    (26, 34, 36, 6, 0.1),
    (0.4, 1, 76, 22, 0.6),
    (2, 10, 86, 0.2, 2),
    (2, 11, 80, 7, 0.1),
    (1, 5, 90, 4, 0.3),
    (0.2, 4, 95, 0.3, 0.2),
    (2, 9, 70, 18, 0.6),
    (0.2, 1, 62, 0.6, 36),
    (0.2, 3, 76, 21, 0.3),
)
NO_OCC, NO_OCC1950, NO_IND, NO_IND1950 = 998, 999, 998, 0
AT_WORK, RELIEF, WITH_JOB, FORCES, SEEKING, NEW, HOUSEWORK, UNABLE, AT_SCHOOL, IDLE = (
    10,
    11,
    12,
    13,
    21,
    22,
    31,
    32,
    33,
    34,
)
STATUSES = np.array([AT_WORK, RELIEF, WITH_JOB, FORCES, SEEKING, NEW, HOUSEWORK, UNABLE, AT_SCHOOL, IDLE])


@dataclass(frozen=True, eq=False)
class Jobs:
    """The world of work, the same in every state: which occupations and industries go together."""

    occupations: Ints  # 1950 codes
    group: Ints  # major group of each occupation
    popularity: Floats
    female: Floats  # log-odds by which women are drawn to an occupation
    older: Ints  # the 1940 code of each occupation
    industries: Ints  # 1950 codes
    sector: Ints
    older_industries: Ints  # the 1940 code of each industry
    fit: Floats  # weights of industries, a row an occupation


@cache
def jobs() -> Jobs:
    """The world of work, made once from a fixed seed."""
    world = np.random.default_rng([1940, 1950])
    occupations, group, older = [], [], []
    old_codes = np.array(values("OCC"))
    for index, ((low, high), (first, last)) in enumerate(zip(GROUPS_1950, GROUPS_1940, strict=True)):
        codes = [code for code in values("OCC1950") if low <= code <= high]
        choices = old_codes[(old_codes >= first) & (old_codes <= last)]
        occupations += codes
        group += [index] * len(codes)
        older += [int(choices[i * len(choices) // len(codes)]) for i in range(len(codes))]
    popularity = np.array([FREQUENT.get(code, 0) + 0.15 * world.pareto(1.1) for code in occupations])
    lean = np.array([0.3, -2.5, -1.0, 0.9, -0.2, -2.6, -0.3, 2.6, 0.6, -1.6, -3.0])
    female = lean[group] + 0.8 * world.standard_normal(len(occupations))
    industries = np.array([c for c in values("IND1950") if any(a <= c <= b for a, b in SECTORS)])
    sector = np.array([next(i for i, (a, b) in enumerate(SECTORS) if a <= c <= b) for c in industries])
    span = np.linspace(1, 131, len(industries)).astype(np.int64)
    size = np.exp(1.1 * world.standard_normal(len(industries)))
    special = np.exp(1.7 * world.standard_normal((len(occupations), len(industries))))
    fit = np.array(SECTOR_OF_GROUP)[group][:, sector] * size[None, :] * special
    return Jobs(
        np.array(occupations),
        np.array(group),
        np.minimum(popularity, 12.0),
        female,
        np.array(older),
        industries,
        sector,
        span,
        fit,
    )


def draw_work(draft: Draft) -> None:
    """Set the columns about work in the week and the year of the census."""
    _status(draft)
    employed = np.flatnonzero(np.isin(draft["EMPSTATD"], (AT_WORK, RELIEF, WITH_JOB, FORCES, SEEKING)))
    occupation = _occupation(draft, employed)
    _class(draft, employed, occupation)
    _weeks(draft, employed)
    _hours(draft)
    _unemployed(draft)


def _status(draft: Draft) -> None:
    who = np.flatnonzero(draft.working_age)
    age, woman = draft["AGE"][who], (draft["SEX"][who] == 2).astype(np.int64)
    wife = ((draft["MARST"][who] == 1) & (woman == 1)).astype(np.int64)
    stage = np.digitize(age, [16, 18, 21, 25, 35, 45, 55, 65, 75])
    school = (draft["SCHOOL"][who] == 2).astype(np.int64)
    base = np.array([70, 4.5, 2.5, 0.5, 7, 0.8, 3, 3, 1.5, 3])
    working = np.array([1, 0.6, 1, 0.8, 0.9, 0, 0, 0, 0, 0])
    table = log_linear(
        base,
        ([-2.6, -1.3, -0.2, 0.2, 0.4, 0.3, 0.0, -0.5, -1.9, -3.2], working),
        ([0, 1.0], np.array([0, -1.2, -0.6, -3, -0.8, 0, 3.2, -0.6, 0, 0.2])),
        ([0, 1.0], np.array([-2.1, -2.4, -2, -2, -2, -2, 0.9, 0, -2, 0])),
        ([0, 1.0], np.array([-2.2, -2, -2, -3, -1.8, -0.5, -1.0, -1, 4.6, -0.5])),
    )
    table[:, 7] *= np.repeat([0.3, 0.4, 0.4, 0.4, 0.5, 0.7, 1.2, 2.6, 5, 9], 8)  # unable to work, by age
    status = STATUSES[draft.chance.pick_by(crossed((stage, 10), (woman, 2), (wife, 2), (school, 2)), table)]
    status = np.where((status == NEW) & (age > 30), SEEKING, status)
    status = np.where((draft["GQTYPE"][who] == 6) & draft.chance.coin(0.9, len(who)), FORCES, status)
    inmate = np.isin(draft["GQTYPE"][who], (2, 3, 4)) & draft.chance.coin(0.85, len(who))
    draft.split("EMPSTATD", "EMPSTAT", scattered(len(draft), who, np.where(inmate, IDLE, status), 0), 10)
    force = np.isin(draft["EMPSTAT"], (1, 2))
    draft["LABFORCE"] = np.where(draft.working_age, 1 + force, 0)


def _occupation(draft: Draft, who: Ints) -> Ints:
    work, state, chance = jobs(), draft.state, draft.chance
    learned = np.digitize(draft["EDUC"][who], [2, 3, 6, 7, 10])  # unknown (99) counts as college
    learned = np.where(draft["EDUC"][who] == 99, 1, learned)
    farm = np.where(draft["FARM"][who] == 2, 2, (draft["URBAN"][who] == 1).astype(np.int64))
    woman = (draft["SEX"][who] == 2).astype(np.int64)
    young = np.digitize(draft["AGE"][who], [22, 40])
    minority = ((draft["HISPAN"][who] > 0) | (draft["RACE"][who] > 1)).astype(np.int64)
    g = work.group
    climb = np.array([1.5, -0.2, 0.6, 0.8, 0.4, 0.0, -0.3, -0.6, -0.3, -0.7, -0.7])[g]
    land = np.array([-0.9, 2.3, -0.8, -1.0, -0.9, -0.6, -0.4, -0.5, -0.8, 2.2, 0.0])[g]
    age = np.array([-0.1, 1.2, 1.0, -0.6, -0.3, 0.6, -0.2, -0.2, 0.1, -1.1, -0.4])[g]
    barred = np.array([-1.5, -0.3, -1.2, -1.6, -1.0, -0.7, 0.1, 0.6, 0.4, 1.3, 1.2])[g]
    local = state.mining * np.isin(work.occupations, (650, 660, 622, 48)) + state.mills * np.isin(
        work.occupations, (675, 684, 690, 584)
    )
    table = log_linear(
        work.popularity * np.exp(local),
        ([-1.0, -0.3, 0.3, 0.9, 1.5, 2.6], climb),
        ([-0.9, 0.3, 1.6], land),
        ([0.0, 1.0], work.female),
        ([-1.0, 0.0, 0.7], age),
        ([0.0, 1.0], barred),
    )
    job = chance.pick_by(crossed((learned, 6), (farm, 3), (woman, 2), (young, 3), (minority, 2)), table)
    tilt = np.exp(state.mining * (work.sector == 1) + state.mills * (work.sector == 3))
    industry = chance.pick_by(job, work.fit * tilt)
    count = len(draft)
    draft["OCC1950"] = scattered(count, who, work.occupations[job], NO_OCC1950)
    draft["IND1950"] = scattered(count, who, work.industries[industry], NO_IND1950)
    draft["OCC"] = scattered(count, who, _old_code(draft, job, industry), NO_OCC)
    draft["IND"] = scattered(count, who, work.older_industries[industry], NO_IND)
    return job


def _old_code(draft: Draft, job: Ints, industry: Ints) -> Ints:
    # Where the 1950 scheme says "not elsewhere classified" the older one goes by industry: a real triple.
    work = jobs()
    old = np.array(sorted(set(work.older.tolist())))
    place = np.searchsorted(old, work.older[job])
    vague = np.isin(work.occupations[job], (290, 390, 690, 970)) & draft.chance.coin(0.45, len(job))
    return old[np.where(vague, np.maximum(place - 1 - work.sector[industry] % 4, 0), place)]


def _class(draft: Draft, who: Ints, job: Ints) -> None:
    work = jobs()
    government = (draft["IND1950"][who] >= 906) | np.isin(draft["EMPSTATD"][who], (RELIEF, FORCES))
    young = (draft["AGE"][who] < 22).astype(np.int64)
    table = log_linear(
        np.ones(5), ([0, 3.5], np.array([-1, -1, 0, 1, -1])), ([0, 1.0], np.array([-2, -1.5, 0.2, 0, 1.2]))
    )
    table = (np.array(CLASS_OF_GROUP)[:, None, :] * table[None, :, :]).reshape(-1, 5)
    groups = crossed((work.group[job], 11), (government.astype(np.int64), 2), (young, 2))
    kind = CLASSES[draft.chance.pick_by(groups, table)]
    kind = np.where(draft.chance.coin(0.006, len(who)), 98, kind)
    draft.split("CLASSWKRD", "CLASSWKR", scattered(len(draft), who, kind, 0), 10)


def _weeks(draft: Draft, who: Ints) -> None:
    chance = draft.chance
    weeks = np.arange(53)
    heaps = np.select(
        [
            weeks == 52,
            weeks == 0,
            weeks == 26,
            weeks == 40,
            np.isin(weeks, (50, 48, 36, 30, 20)),
            weeks % 4 == 0,
        ],
        [58, 9, 5, 3.2, 2.4, 1.3],
        0.35,
    )
    seeking = np.isin(draft["EMPSTATD"][who], (SEEKING, RELIEF)).astype(np.int64)
    steady = np.isin(draft["CLASSWKRD"][who], (24, 12, 11)).astype(np.int64)
    season = np.digitize(draft["OCC1950"][who], [500, 800])
    table = log_linear(
        heaps,
        ([0.0, -4.0], (weeks - 20) / 32),
        ([0.0, 0.8], (weeks == 52) * 1.0),
        ([0.5, 0, -0.9], (weeks > 44) * 1.0),
    )
    drawn = chance.pick_by(crossed((seeking, 2), (steady, 2), (season, 3)), table)
    draft["WKSWORK1"] = scattered(len(draft), who, drawn, 0)
    draft["WKSWORK2"] = np.digitize(draft["WKSWORK1"], [1, 14, 27, 40, 48, 50])


def _hours(draft: Draft) -> None:
    who = np.flatnonzero(draft["EMPSTATD"] == AT_WORK)
    hours = np.arange(1, 99)
    heaps = np.select(
        [
            hours == 40,
            hours == 48,
            hours == 44,
            hours == 60,
            np.isin(hours, (54, 50, 42, 70, 72)),
            hours % 10 == 0,
            hours % 2 == 0,
        ],
        [34, 17, 11, 10, 4, 2.2, 0.6],
        0.15,
    )
    groups = np.digitize(draft["OCC1950"][who], [100, 200, 300, 500, 600, 700, 800, 900])
    woman = (draft["SEX"][who] == 2).astype(np.int64)
    own = (draft["CLASSWKR"][who] == 1).astype(np.int64)
    table = log_linear(
        heaps,
        ([0, 1.4, 0.5, -0.2, -0.2, 0.1, 0.7, 1.2, 0], (hours - 44) / 14),
        ([0, -0.5], (hours - 44) / 14),
        ([0, 0.8], (hours - 44) / 14),
    )
    draft["HRSWORK1"] = scattered(
        len(draft), who, hours[draft.chance.pick_by(crossed((groups, 9), (woman, 2), (own, 2)), table)], 0
    )
    draft["HRSWORK2"] = np.digitize(draft["HRSWORK1"], [1, 15, 30, 35, 40, 41, 49, 60])


def _unemployed(draft: Draft) -> None:
    who = np.flatnonzero(np.isin(draft["EMPSTATD"], (RELIEF, SEEKING, NEW)))
    weeks = np.array(
        [1, 2, 3, 4, 6, 8, 10, 12, 13, 16, 20, 24, 26, 30, 36, 40, 52, 78, 104, 156, 208, 260, 520, 998]
    )
    stage = np.digitize(draft["AGE"][who], [22, 45])
    table = log_linear(
        zipf(len(weeks), 0.25) + 2.0 * np.isin(weeks, (26, 52, 104)),
        ([-0.8, 0, 0.6], np.linspace(-1, 1, len(weeks))),
    )
    draft["DURUNEMP"] = scattered(len(draft), who, weeks[draft.chance.pick_by(stage, table)], 999)
