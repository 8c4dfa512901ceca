"""Who the simulated people are: age, marriage, race, origin, schooling."""

from __future__ import annotations

import numpy as np

from understudy_contest.census1940.chance import Floats, Ints, Mask, crossed, log_linear, scattered, zipf
from understudy_contest.census1940.draft import Draft

OLDEST = 108
AGES = np.arange(OLDEST + 1)
MEXICO, CANADA = 200, 150
HISPANIC_PLACES = (MEXICO, 438)
DETAILED_BIRTHPLACES = {  # documented detailed codes of some birthplaces; elsewhere it is the code and "00"
    150: (15000, 15010, 15030, 15040, 15050, 15060, 15081, 15070, 15080),
    410: (41000, 41010, 41020),
    414: (41400, 41410),
    453: (45300, 45310, 45320, 45330),
    450: (45000, 45010, 45020),
    465: (46500, 46510, 46520, 46530, 46540),
    40: (4000, 4010),
    46: (4600, 4610),
}
TONGUE_OF = {  # mother tongue by birthplace; English elsewhere
    200: 12,
    438: 12,
    453: 2,
    450: 2,
    465: 18,
    435: 10,
    405: 5,
    404: 7,
    400: 6,
    401: 24,
    455: 21,
    452: 20,
    454: 25,
    457: 23,
    433: 16,
    462: 26,
    500: 43,
    501: 48,
    537: 57,
    412: 15,
    421: 11,
    425: 4,
    436: 13,
}
INDIAN_NATIONS = (300, 302, 315, 318, 325, 328, 304, 323)


def draw_people(draft: Draft) -> None:
    """Set the columns that describe persons."""
    for step in (
        _sex_and_age,
        _sample_line,
        _marriage,
        _race,
        _hispanic,
        _birthplace,
        _parents,
        _citizenship,
    ):
        step(draft)
    _schooling(draft)


def _sex_and_age(draft: Draft) -> None:
    chance, kind = draft.chance, draft.kind
    female = chance.coin(np.array([0.52, 0.505, 0.485, 0.465])[kind])
    draft["SEX"] = 1 + female
    base = np.exp(-0.011 * AGES - (AGES / 74.0) ** 5 + draft.state.youth * (20 - AGES) / 60)
    rounded = np.where(
        AGES >= 20, 1 + 0.22 * (AGES % 10 == 0) + 0.1 * (AGES % 5 == 0) - 0.07 * (AGES % 10 == 1), 1
    )
    prime = -(((AGES - 33.0) / 14) ** 2) / 2
    table = log_linear(
        base * rounded,
        ([0.45, 0.2, 0.0, 0.0], np.exp(prime)),
        ([0.0, 0.15], (AGES > 70) * 1.0 + np.exp(prime) / 2),
    )
    young = log_linear(
        np.ones(OLDEST + 1), ([-0.25, 0.0, 0.1, 0.35], (AGES < 18) * 1.0), ([0.0, 0.0], AGES * 0.0)
    )
    draft["AGE"] = chance.pick_by(crossed((kind, 4), (draft["SEX"] - 1, 2)), table * young)
    infants = np.flatnonzero(draft["AGE"] == 0)
    months = chance.pick(np.append(np.full(12, 1.0) + 0.3 * (np.arange(12) % 3 == 0), 0.03), len(infants))
    draft["AGEMONTH"] = scattered(len(draft), infants, months, 99)


def _sample_line(draft: Draft) -> None:
    draft["SLREC"] = 1 + draft.chance.coin(0.05, len(draft))


def _marriage(draft: Draft) -> None:
    age, sex = AGES[None, :], np.array([0, 1])[:, None]
    ever = np.where(age >= 15, 0.9 / (1 + np.exp(-(age - 25 + 3.2 * sex) / 3.0)), 0)
    widowed = ever * (0.45 + 0.5 * sex) / (1 + np.exp(-(age - 73 + 4 * sex) / 8))
    divorced = ever * 0.022 * (age < 75)
    apart = ever * 0.028
    separated = ever * 0.009
    present = np.maximum(ever - widowed - divorced - apart - separated, 1e-6 * (age >= 15))
    table = np.stack([present, apart, separated, divorced, widowed, 1 - ever], axis=-1).reshape(-1, 6)
    draft["MARST"] = 1 + draft.chance.pick_by(
        crossed((draft["SEX"] - 1, 2), (draft["AGE"], OLDEST + 1)), table
    )


def _race(draft: Draft) -> None:
    chance, state = draft.chance, draft.state
    shares = np.array(state.races)
    crowding = np.minimum(draft.places.ethnic, 0.9 / max(1 - shares[0], 1e-9))
    table = shares[None, 1:] * crowding[:, None] ** np.array([1.0, 1.6, 1.0, 1.2, 1.0])
    table = np.column_stack([np.maximum(1 - table.sum(axis=1), 0.02), table])
    race = 1 + chance.pick_by(draft.district, table)
    detailed = race * 100
    black, indian, other = (np.flatnonzero(race == code) for code in (2, 3, 6))
    detailed[black] = 200 + 10 * chance.coin(0.01, len(black))
    nation = chance.pick_by(draft["COUNTY"][indian] // 10 % 5, _rotated(len(INDIAN_NATIONS), 5))
    detailed[indian] = np.array(INDIAN_NATIONS)[nation]
    detailed[other] = np.array([600, 610, 620])[chance.pick([5, 2, 1], len(other))]
    draft.split("RACED", "RACE", detailed, 100)


def _rotated(count: int, rows: int) -> Floats:
    return np.stack([np.roll(zipf(count, 1.5), row) for row in range(rows)])


def _hispanic(draft: Draft) -> None:
    chance = draft.chance
    white = draft["RACE"] == 1
    share = _crowded(draft, white)[draft.district]
    hispanic = np.flatnonzero(chance.coin(np.where(white, share, 0.01)))
    older = (draft["AGE"][hispanic] >= 35).astype(np.int64)
    detailed = np.array([100, 107, 450, 480, 498 - 38, 200, 300])[
        chance.pick_by(older, [[80, 6, 3, 9, 0.2, 0.3, 0.1], [66, 14, 5, 13, 0.3, 0.3, 0.2]])
    ]
    draft.split("HISPAND", "HISPAN", scattered(len(draft), hispanic, detailed, 0), 100)
    named = chance.coin(np.where(draft["HISPAN"] > 0, 0.88, 0.004))
    draft["SPANNAME"] = 1 + named


def _crowded(draft: Draft, white: Mask) -> Floats:
    """For each district the share of its white people who are of Hispanic origin: in all, the state's share."""
    state, raw = draft.state, draft.places.ethnic**1.3
    people = np.bincount(draft.district[white], minlength=len(raw)) / max(len(draft), 1)
    scale = state.hispanic
    for _ in range(20):
        found = float(people @ np.minimum(scale * raw, 0.85))
        scale *= state.hispanic / found if found > 0 else 1.0
    return np.minimum(scale * raw, 0.85)


def _birthplace(draft: Draft) -> None:
    chance, state = draft.chance, draft.state
    age, hispanic = draft["AGE"], draft["HISPAN"] > 0
    grown = 1 / (1 + np.exp(-(age - 38) / 11))
    foreign = chance.coin(np.clip(state.foreign_born * 2.4 * grown * np.where(hispanic, 1.9, 1.0), 0, 0.9))
    foreign &= draft["RACE"] <= 2
    foreign |= (draft["RACE"] >= 4) & chance.coin(0.25 + 0.6 * grown)
    here = chance.coin(np.clip(1.25 - 0.017 * age + 0.6 * (state.native_to_state - 0.55), 0.12, 0.97))
    here |= (draft["RACE"] == 3) & chance.coin(0.93, len(draft))
    cohort = np.minimum(age // 12, 6)
    region = draft["SEA"] % 3
    neighbours = np.stack(
        [np.roll(zipf(len(state.neighbours), 1.1), s) + zipf(len(state.neighbours), 0.9) for s in (0, 1, 3)]
    )
    older = np.arange(7)[:, None] * np.linspace(-0.22, 0.22, len(state.neighbours))[None, :]
    table = (neighbours[:, None, :] * np.exp(older)[None, :, :]).reshape(-1, len(state.neighbours))
    elsewhere = np.array(state.neighbours)[chance.pick_by(crossed((region, 3), (cohort, 7)), table)]
    born = np.where(here, state.fips, elsewhere)
    born[foreign] = _abroad(draft, np.flatnonzero(foreign))
    draft.split("BPLD", "BPL", _detail_birthplace(draft, born), 100)
    rule = np.where(np.isin(draft["BPL"], HISPANIC_PLACES), 1, np.where(draft["SPANNAME"] == 2, 6, 5))
    draft["HISPRULE"] = np.where(hispanic, rule, 0)


def _abroad(draft: Draft, who: Ints) -> Ints:
    chance, state = draft.chance, draft.state
    places = np.array(state.abroad)
    older = np.minimum(draft["AGE"][who] // 25, 3)
    base = zipf(len(places), 1.0)
    table = log_linear(base, ([0, 0, 0.3, 0.6], np.isin(places, (453, 405, 410, 414, 411)) * 1.0))
    born = places[chance.pick_by(older, table)]
    race, hispanic = draft["RACE"][who], draft["HISPAN"][who] > 0
    born = np.where(hispanic, np.where(draft["HISPAND"][who] == 450, 438, MEXICO), born)
    born = np.where(~hispanic & (born == MEXICO), CANADA, born)
    return np.select([race == 4, race == 5, race == 6], [500, 501, 515], born)


def _detail_birthplace(draft: Draft, born: Ints) -> Ints:
    detailed = born * 100
    for code, choices in DETAILED_BIRTHPLACES.items():
        who = np.flatnonzero(born == code)
        detailed[who] = np.array(choices)[draft.chance.pick(zipf(len(choices), 1.4), len(who))]
    return detailed


def _parents(draft: Draft) -> None:
    chance, who = draft.chance, np.flatnonzero(draft.sampled)
    own, foreign = draft["BPL"][who], draft["BPL"][who] >= CANADA
    parents = {}
    for name in ("FBPL", "MBPL"):
        away = chance.coin(np.where(own == draft.state.fips, 0.45, 0.35))
        abroad = chance.coin(np.where(draft["HISPAN"][who] > 0, 0.45, 0.13))
        state = np.array(draft.state.neighbours)[
            chance.pick(zipf(len(draft.state.neighbours), 0.8), len(who))
        ]
        parent = np.where(foreign, own, np.where(abroad, _abroad(draft, who), np.where(away, state, own)))
        parents[name] = parent
    same = chance.coin(0.72, len(who))  # couples come from the same place more often than chance
    parents["MBPL"] = np.where(same, parents["FBPL"], parents["MBPL"])
    for name, parent in parents.items():
        draft.split(name + "D", name, scattered(len(draft), who, _detail_birthplace(draft, parent), 0), 100)
    father, mother = parents["FBPL"] >= CANADA, parents["MBPL"] >= CANADA
    nativity = np.select([foreign, father & mother, father, mother], [5, 4, 2, 3], 1)
    draft["NATIVITY"] = scattered(len(draft), who, nativity, 0)
    tongue = _tongue(draft, np.where(father, parents["FBPL"], parents["MBPL"]), who)
    draft.split("MTONGUED", "MTONGUE", scattered(len(draft), who, tongue, 0), 100)


def _tongue(draft: Draft, family: Ints, who: Ints) -> Ints:
    lookup = np.ones(1000, np.int64)
    lookup[list(TONGUE_OF)] = list(TONGUE_OF.values())
    tongue = lookup[family]
    spanish = (draft["HISPAN"][who] > 0) & draft.chance.coin(0.9, len(who))
    french = (family == CANADA) & draft.chance.coin(0.4, len(who))
    tongue = np.select([spanish, french], [12, 11], tongue)
    detailed: Ints = tongue * 100 + 10 * ((tongue == 2) & draft.chance.coin(0.06, len(who)))
    return detailed


def _citizenship(draft: Draft) -> None:
    who = np.flatnonzero(draft["BPL"] >= CANADA)
    settled = np.minimum(draft["AGE"][who] // 20, 4)
    mexican = (draft["BPL"][who] == MEXICO).astype(np.int64)
    table = log_linear(
        [0.04, 0.62, 0.27, 0.07],
        ([0.0, -1.4], np.array([0, 1, 0, 0])),
        ([-1.2, -0.6, 0, 0.4, 0.9], np.array([0, 1, 0, 0])),
    )
    status = 1 + draft.chance.pick_by(crossed((mexican, 2), (settled, 5)), table)
    draft["CITIZEN"] = scattered(len(draft), who, status, 0)


def _schooling(draft: Draft) -> None:
    chance, age, count = draft.chance, draft["AGE"], len(draft)
    attend = np.interp(
        AGES,
        [4, 5, 6, 7, 15, 16, 18, 19, 21, 25, 30],
        [0, 0.2, 0.7, 0.96, 0.93, 0.8, 0.4, 0.24, 0.1, 0.03, 0.003],
    )
    farm_gap = np.where((draft.kind == 3) & (age >= 14), 0.85, 1.0)
    draft["SCHOOL"] = 1 + chance.coin(attend[age] * farm_gap)
    years = (
        8.6 + draft.state.schooling + 0.8 * (draft.kind == 0) - 0.6 * (draft.kind == 3) + 0.6 * draft.wealth
    )
    years = years - 0.05 * np.maximum(age - 25, 0) - 2.8 * (draft["HISPAN"] > 0) - 2.6 * (draft["RACE"] == 3)
    years = years + np.where(draft["BPL"] >= CANADA, -1.6, 0.0) + 2.8 * chance.normal(count)
    # Schooling ends at a step more often than between steps: 8th grade, high school, college.
    whole = np.clip(np.rint(years), 0, 19)
    step = np.select([whole <= 9, whole <= 13], [8, 12], 16)
    whole = np.where((whole > 6) & chance.coin(0.55, count), step, whole)
    whole = np.minimum(whole, np.maximum(age - 6 - chance.coin(0.4, count), 0)).astype(np.int64)
    whole = np.where(
        (draft["SCHOOL"] == 2) & (age < 18), np.maximum(age - 7 - chance.coin(0.35, count), 0), whole
    )
    whole = np.minimum(whole, 17)
    draft.split("HIGRADED", "HIGRADE", np.where(age < 5, 0, np.where(whole == 0, 10, 10 * (whole + 3))), 10)
    steps = np.array([2, 14, 15, 16, 17, 22, 23, 25, 26, 30, 40, 50, 60, 70, 80, 90, 100, 110])
    detailed = np.where(age < 5, 1, steps[whole])
    unknown = chance.coin(0.012, count) & (age >= 5)
    draft["HIGRADED"] = np.where(unknown, 999, draft["HIGRADED"])
    draft["HIGRADE"] = np.where(unknown, 99, draft["HIGRADE"])
    draft.split("EDUCD", "EDUC", np.where(unknown, 999, detailed), 10)
