"""Where the simulated people were five years before, and what sample-line persons added."""

from __future__ import annotations

import numpy as np

from understudy_contest.census1940.chance import Floats, Ints, crossed, log_linear, scattered, zipf
from understudy_contest.census1940.draft import Draft

SAME_HOUSE, SAME_COUNTY, OTHER_COUNTY, NEAR_STATE, FAR_STATE, ABROAD, UNKNOWN = 10, 21, 23, 31, 32, 40, 90
NO_COUNTY, UNKNOWN_COUNTY = 9999, 9997
FAR_CITIES = np.array([1190, 4610, 3730, 3260, 5330, 4150, 5010, 6210, 6290, 7230, 810, 1750])
FAR_METROS = np.array(
    [1600, 5600, 4480, 3760, 6160, 5120, 5920, 7160, 7360, 8840, 1120, 2160]
)  # of each city


def draw_past(draft: Draft) -> None:
    """Set the migration, veteran and sample-line columns."""
    _moves(draft)
    _veterans(draft)
    _usual_work(draft)


def _moves(draft: Draft) -> None:
    chance, state, count = draft.chance, draft.state, len(draft)
    asked = np.flatnonzero(draft["AGE"] >= 5)
    stage = np.digitize(draft["AGE"][asked], [16, 22, 35, 50])
    rents = (draft["OWNERSHP"][asked] == 2).astype(np.int64)
    native = (draft["BPL"][asked] == state.fips).astype(np.int64)
    moved = np.array([0, 0.6, 1, 1, 1, 0.6, 0])
    kinds = np.array([SAME_HOUSE, SAME_COUNTY, OTHER_COUNTY, NEAR_STATE, FAR_STATE, ABROAD, UNKNOWN])
    table = log_linear(
        np.array([64, 18, 7, 4.0, 4.0, 0.3, 1.5]),
        (np.array([-0.1, 0.3, 0.6, 0.0, -0.6]) + state.movers, moved),
        ([-0.6, 0.5], moved),
        ([0.35, -0.35], np.array([0, 0, 0, 1, 1, 2, 0])),
    )
    kind = kinds[chance.pick_by(crossed((stage, 5), (rents, 2), (native, 2)), table)]
    draft.split("MIGRATE5D", "MIGRATE5", scattered(count, asked, kind, 0), 10)
    within = np.flatnonzero(draft["MIGRATE5D"] == OTHER_COUNTY)
    away = np.flatnonzero(np.isin(draft["MIGRATE5D"], (NEAR_STATE, FAR_STATE)))
    abroad = np.flatnonzero(draft["MIGRATE5D"] == ABROAD)
    origin = _states(draft, away)
    place = np.zeros(count, np.int64)
    place[asked] = np.where(kind == UNKNOWN, 999, state.fips)
    place[draft["MIGRATE5D"] == SAME_HOUSE] = 0  # structural blank: whoever stayed was asked nothing more
    place[away], place[abroad] = (
        origin,
        np.array(state.abroad)[chance.pick(zipf(len(state.abroad), 1.2), len(abroad))],
    )
    draft["MIGPLAC5"] = place
    _origins(draft, within, away, origin)
    _same(draft, kind, asked)


def _states(draft: Draft, away: Ints) -> Ints:
    near = np.array(draft.state.neighbours)
    is_near = draft["MIGRATE5D"][away] == NEAR_STATE
    table = np.stack(
        [
            zipf(len(near), 1.0) * (np.arange(len(near)) >= 7),
            zipf(len(near), 0.9) * (np.arange(len(near)) < 7),
        ]
    )
    drawn = near[draft.chance.pick_by(is_near.astype(np.int64), table)]
    born = draft["BPL"][away]
    back = (born < 60) & (born != draft.state.fips) & draft.chance.coin(0.3, len(away))
    return np.where(back, born, drawn)


def _origins(draft: Draft, within: Ints, away: Ints, origin: Ints) -> None:
    """Set the former county, city, metropolitan area, economic area and type of place."""
    chance, places = draft.chance, draft.places
    former = _former_district(draft, within)
    stayed = draft["MIGRATE5D"] == SAME_COUNTY
    county = np.where(stayed, draft["COUNTY"], NO_COUNTY)
    county[within] = places.columns["COUNTY"][former]
    size = chance.pick(zipf(40, 0.8), len(away))
    county[away] = 10 + 20 * ((origin * 7 + size) % 60)
    draft["MIGCOUNTY"] = np.where(draft["MIGRATE5"] == 9, UNKNOWN_COUNTY, county)
    big = chance.coin(0.32, len(away))
    which = (origin + (size > 6)) % len(FAR_CITIES)
    city = np.where(stayed, draft["CITY"], 0)
    city[within] = places.columns["CITY"][former]
    city[away] = np.where(big, FAR_CITIES[which], 0)
    draft["MIGCITY5"] = np.where(draft["MIGRATE5"] == 9, 9999, city)
    metro = np.where(stayed, draft["METAREAD"], 0)
    metro[within] = places.columns["METAREAD"][former]
    metro[away] = np.where(big, FAR_METROS[which], 0)
    draft["MIGMET5"] = np.where(draft["MIGRATE5"] == 9, 9999, metro)
    area = np.where(stayed, draft["SEA"], 0)
    area[within] = places.columns["SEA"][former]
    area[away] = np.minimum(8 * origin + size % 8 + 1, 502)
    draft["MIGSEA5"] = np.where(draft["MIGRATE5"] == 9, 997, np.where(draft["MIGRATE5"] == 4, 990, area))
    kind = np.where(draft["MIGMET5"] > 0, np.where(draft["MIGCITY5"] > 0, 3, 4), 1)
    movers = np.isin(draft["MIGRATE5"], (2, 3))
    draft["MIGTYPE5"] = np.where(movers, kind, np.where(draft["MIGRATE5"] == 9, 9, 0))


def _former_district(draft: Draft, within: Ints) -> Ints:
    # Most came from a county nearby: the district's own number, shifted, else anywhere by population.
    chance, total = draft.chance, len(draft.places.weights)
    near = (draft.district[within] + 1 + chance.pick(zipf(60, 0.8), len(within))) % total
    anywhere = chance.pick(draft.places.weights, len(within))
    return np.where(chance.coin(0.6, len(within)), near, anywhere)


def _same(draft: Draft, kind: Ints, asked: Ints) -> None:
    chance, count = draft.chance, len(draft)
    place = np.select([kind == SAME_HOUSE, kind == SAME_COUNTY, kind == UNKNOWN], [0, 2, 9], 1)
    place = np.where((kind == SAME_COUNTY) & chance.coin(0.3, len(asked)), 1, place)
    draft["SAMEPLAC"] = scattered(count, asked, place, 0)
    near = draft["MIGSEA5"][asked] == draft["SEA"][asked]
    area = np.select(
        [kind == SAME_HOUSE, kind == SAME_COUNTY, kind == UNKNOWN, kind == ABROAD],
        [0, 1, 9, 4],
        np.where(near, 1, 2),
    )
    draft["SAMESEA5"] = scattered(count, asked, area, 0)


def _veterans(draft: Draft) -> None:
    chance, count, sampled = draft.chance, len(draft), draft.sampled
    who = np.flatnonzero(sampled & (draft["SEX"] == 1) & (draft["AGE"] >= 18))
    age = np.arange(109)
    served: Floats = (
        0.02 + 0.38 * np.exp(-(((age - 46) / 5.5) ** 2) / 2) + 0.06 * np.exp(-(((age - 63) / 5) ** 2) / 2)
    )
    veteran = chance.coin(served[draft["AGE"][who]])
    unknown = chance.coin(0.05, len(who))
    draft.split(
        "VETSTATD", "VETSTAT", scattered(count, who, np.select([unknown, veteran], [99, 20], 11), 0), 10
    )
    fought = who[veteran & ~unknown]
    old = np.digitize(draft["AGE"][fought], [36, 58])
    period = np.array([1, 2, 3, 4, 5, 7])[
        chance.pick_by(old, [[4, 0, 0, 80, 4, 12], [88, 0.2, 0.5, 5, 1, 5], [16, 62, 5, 6, 4, 7]])
    ]
    draft["VETPER"] = scattered(count, fought, period, 0)
    draft["VETWWI"] = scattered(count, fought, np.where(np.isin(period, (1, 3)), 2, 0), 0)
    family = np.flatnonzero(sampled)
    status = draft["VETSTAT"][family]
    wife = (
        (draft["SEX"][family] == 2)
        & (draft["MARST"][family] == 1)
        & chance.coin(served[draft["AGE"][family]])
    )
    child = (draft["AGE"][family] < 18) & chance.coin(0.16, len(family))
    claim = np.select([status == 9, (status == 2) | wife | child], [8, 2], 1)
    draft["VET1940"] = scattered(count, family, claim, 0)
    young = family[draft["AGE"][family] < 18]
    father = np.where(child[draft["AGE"][family] < 18], np.where(chance.coin(0.08, len(young)), 1, 2), 8)
    draft["VETCHILD"] = scattered(count, young, father, 0)


def _usual_work(draft: Draft) -> None:
    chance, count = draft.chance, len(draft)
    who = np.flatnonzero(draft.sampled & draft.working_age)
    working = draft["OCC1950"][who] != 999
    same = working & chance.coin(0.87, len(who))
    employed = np.flatnonzero(draft["OCC1950"] != 999)
    # A usual occupation unlike the present one is somebody else's in the same labour market.
    other = employed[chance.generator.integers(0, max(len(employed), 1), len(who))] if len(employed) else who
    usual = working | chance.coin(0.12, len(who))
    source = np.where(same, who, other)
    draft["UOCC"] = scattered(count, who, np.where(usual, draft["OCC"][source], 995), 999)
    draft["UOCC95"] = scattered(count, who, np.where(usual, draft["OCC1950"][source], 995), 999)
    draft["UIND"] = scattered(count, who, np.where(usual, draft["IND"][source], 995), 999)
    kinds = np.zeros(100, np.int64)
    kinds[[11, 12, 22, 24, 29, 98]] = [2, 1, 3, 4, 6, 8]
    draft["UCLASSWK"] = scattered(count, who, np.where(usual, kinds[draft["CLASSWKRD"][source]], 7), 0)
    covered = draft["CLASSWKRD"][who] == 22
    table = log_linear([0.6, 0.4], ([-0.9, 1.3], np.array([0.0, 1.0])), ([0.3, -0.3], np.array([0.0, 1.0])))
    woman = (draft["SEX"][who] == 2).astype(np.int64)
    enrolled = 1 + chance.pick_by(crossed((covered.astype(np.int64), 2), (woman, 2)), table)
    draft["SSENROLL"] = scattered(count, who, enrolled, 0)
