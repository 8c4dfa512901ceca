"""The map of a simulated state: enumeration districts, and the geography each one implies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_contest.census1940.chance import Chance, Floats, Ints, zipf
from understudy_contest.census1940.states import City, State

NOT_IN_A_CITY = 0
LAST_DISTRICT = 302  # districts are numbered 10, 20, ... within a county, up to 3020
SIZES = np.array([10, 25, 40, 50, 100, 250, 500, 750, 1000, 2000, 3000, 4000])  # hundreds of people
SIZE_CODES = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40])


@dataclass(frozen=True, eq=False)
class Places:
    """One entry a district: its share of the people, the columns it fixes, and what it is like."""

    weights: Floats
    columns: dict[str, Ints]
    kind: Ints  # 0 city, 1 town, 2 village, 3 farms
    ethnic: Floats  # how much of the state's minorities live here, relative to the average
    wealth: Floats  # standard deviations above the mean


@dataclass(frozen=True, eq=False)
class _District:
    county: int
    city: int
    hundreds: int  # of the city or town; 0 in the country
    metro: int
    kind: int
    weight: float


def places_of(state: State) -> Places:
    """The map of a state: always the same one, whatever the seed of the simulation."""
    chance = Chance(np.random.default_rng([1940, state.layout]))
    districts = _districts(state, chance)
    county = np.array([d.county for d in districts])
    count = len(districts)
    columns = _settlement(state, districts)
    columns["COUNTY"] = np.array(state.counties)[county]
    area = np.sort(chance.pick(np.ones(len(state.economic_areas)), len(state.counties)))
    columns["SEA"] = np.array(state.economic_areas)[area][county]
    columns["SUPDIST"] = np.array(state.supervisors)[(county * len(state.supervisors)) // len(state.counties)]
    columns["ENUMDIST"] = _numbers(county)
    wealth = 0.5 * chance.normal(len(state.counties))[county] + 0.8 * chance.normal(count)
    ethnic = np.exp(0.9 * chance.normal(len(state.counties))[county] + 0.9 * chance.normal(count))
    weights = np.array([d.weight for d in districts])
    return Places(
        weights / weights.sum(),
        columns,
        np.array([d.kind for d in districts]),
        ethnic / np.average(ethnic, weights=weights),
        wealth,
    )


def _districts(state: State, chance: Chance) -> list[_District]:
    people = state.rows / 100
    in_cities = sum(city.hundreds for city in state.cities)
    scale = min(1.0, 0.6 * people / in_cities)
    found: list[_District] = []
    for city in state.cities:
        found += _spread(state, chance, city.county, city.hundreds * scale, city, kind=0)
    metros = {city.county: city.metro for city in state.cities if city.metro}
    shares = chance.generator.permutation(zipf(len(state.counties), 0.7))
    for county, hundreds in enumerate(shares / shares.sum() * (people - in_cities * scale)):
        town = hundreds * state.town_share
        size = 25 + int(chance.generator.integers(0, 70))
        around = City(NOT_IN_A_CITY, 0, county, metros.get(county, 0))
        found += _spread(state, chance, county, town, replace(around, hundreds=size), kind=1)
        found += _spread(state, chance, county, hundreds - town, around, kind=2)
    return found


def _spread(
    state: State, chance: Chance, county: int, hundreds: float, city: City, *, kind: int
) -> list[_District]:
    count = max(1, round(hundreds * 100 / state.people_per_district))
    shares = chance.generator.gamma(4.0, size=count)
    farms = chance.coin(min(0.95, 1.6 * state.farm_share), count)
    return [
        _District(
            county, city.code, city.hundreds, city.metro, 3 if kind == 2 and farm else kind, hundreds * share
        )
        for share, farm in zip(shares / shares.sum(), farms, strict=True)
    ]


def _settlement(state: State, districts: list[_District]) -> dict[str, Ints]:
    def each(value: Any) -> Ints:
        return np.array([value(d) for d in districts], dtype=np.int64)

    hundreds, city = each(lambda d: d.hundreds), each(lambda d: d.city)
    metro = each(lambda d: d.metro)
    principal = {c.metro: max(k.hundreds for k in state.cities if k.metro == c.metro) for c in state.cities}
    central = (city > 0) & (metro > 0) & (hundreds == np.array([principal.get(int(m), 0) for m in metro]))
    wards = each(lambda d: d.county) + np.arange(len(districts))
    return {
        "URBAN": np.where(hundreds >= 25, 2, 1),
        "CITY": city,
        "CITYPOP": np.where(city > 0, hundreds, 0),
        "URBPOP": np.where(hundreds >= 25, hundreds, 0),
        "SIZEPL": _size_code(hundreds),
        "METAREA": metro,
        "METAREAD": metro * 10,
        "METRO": np.where(metro == 0, 1, np.where(central, 2, 3)),
        "WARD": np.where((city > 0) & (hundreds < 400), 1 + wards % 5, 0),
    }


def _size_code(hundreds: npt.NDArray[Any]) -> Ints:
    return SIZE_CODES[np.searchsorted(SIZES, hundreds, side="right")]


def _numbers(county: Ints) -> Ints:
    number = np.zeros(len(county), np.int64)
    for code in np.unique(county):
        members = np.flatnonzero(county == code)
        number[members] = 10 * (1 + np.arange(len(members)) % LAST_DISTRICT)
    return number
