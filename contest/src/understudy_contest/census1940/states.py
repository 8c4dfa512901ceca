"""Three made-up states: one to be public, two to be held out. Shapes are alike, parameters differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class City:
    """An identifiable city, one of 10,000 people or more: its code, its people in hundreds, its county (an index)
    and its metro area.
    """

    code: int
    hundreds: int
    county: int
    metro: int = 0


@dataclass(frozen=True)
class State:
    """What makes one simulated state unlike another. Shares are of persons unless said otherwise."""

    name: str
    rows: int  # default number of records
    fips: int  # its code among birthplaces
    layout: int  # seeds the map of the state, the same for every simulation
    counties: tuple[int, ...]
    cities: tuple[City, ...]
    economic_areas: tuple[int, ...]
    supervisors: tuple[int, ...]
    people_per_district: int
    town_share: float  # of rural districts' people who live in unnamed towns of 2,500 and more
    farm_share: float  # of rural districts' people
    races: tuple[float, ...]  # white, Black, American Indian, Chinese, Japanese, other
    hispanic: float
    native_to_state: float  # of those born in the country
    foreign_born: float
    neighbours: tuple[int, ...]  # birthplaces of those who came from other states, most frequent first
    abroad: tuple[int, ...]  # birthplaces abroad, most frequent first
    youth: float  # tilts the ages: above 0 younger
    schooling: float  # shifts years of school
    wage: float  # multiplies wages
    value: float  # multiplies home values and rents
    mining: float  # tilts of industries
    mills: float
    movers: float  # tilts how many moved in five years


COLORADO_LIKE = State(
    name="colorado-like",
    rows=661_967,
    fips=8,
    layout=8,
    counties=(*range(10, 491, 20), 495, *range(510, 1251, 20)),
    cities=(
        City(1710, 3224, 15, 208),
        City(5670, 522, 50, 656),
        City(1390, 368, 20),
        City(2541, 160, 61),
        City(7011, 132, 35),
        City(811, 130, 6),
        City(2517, 125, 38),
        City(2300, 123, 34),
    ),
    economic_areas=(48, 49, 50, 51, 52, 53),
    supervisors=(10, 20, 30, 40),
    people_per_district=850,
    town_share=0.22,
    farm_share=0.42,
    races=(0.985, 0.011, 0.0015, 0.0005, 0.0018, 0.0002),
    hispanic=0.08,
    native_to_state=0.54,
    foreign_born=0.065,
    neighbours=(31, 20, 29, 19, 17, 35, 40, 48, 39, 42, 18, 36, 47, 5, 56, 49, 6, 21, 55, 26, 27, 46, 51),
    abroad=(
        200,
        453,
        465,
        435,
        405,
        410,
        150,
        457,
        414,
        450,
        411,
        400,
        455,
        454,
        404,
        452,
        501,
        412,
        433,
        500,
    ),
    youth=0.0,
    schooling=0.4,
    wage=1.0,
    value=1.0,
    mining=0.3,
    mills=-0.3,
    movers=0.2,
)

ARIZONA_LIKE = State(
    name="arizona-like",
    rows=293_999,
    fips=4,
    layout=4,
    counties=(*range(10, 271, 20), 9010),
    cities=(City(5350, 654, 6, 620), City(7050, 368, 9)),
    economic_areas=(11, 12, 13),
    supervisors=(10, 20),
    people_per_district=640,
    town_share=0.30,
    farm_share=0.30,
    races=(0.855, 0.03, 0.108, 0.0030, 0.0013, 0.0027),
    hispanic=0.21,
    native_to_state=0.50,
    foreign_born=0.09,
    neighbours=(48, 40, 6, 35, 29, 5, 49, 17, 20, 39, 8, 36, 42, 19, 18, 47, 31, 21, 26, 55, 1, 28, 53),
    abroad=(
        200,
        150,
        410,
        453,
        457,
        435,
        500,
        405,
        465,
        414,
        411,
        450,
        501,
        433,
        404,
        438,
        400,
        452,
        412,
        455,
    ),
    youth=0.45,
    schooling=-0.6,
    wage=0.93,
    value=0.78,
    mining=1.2,
    mills=-0.8,
    movers=0.45,
)

VERMONT_LIKE = State(
    name="vermont-like",
    rows=211_228,
    fips=50,
    layout=50,
    counties=tuple(range(10, 271, 20)),
    cities=(City(905, 277, 3), City(6014, 171, 10), City(552, 109, 11)),
    economic_areas=(21, 22, 23),
    supervisors=(10, 20),
    people_per_district=560,
    town_share=0.20,
    farm_share=0.36,
    races=(0.9985, 0.0011, 0.0001, 0.0001, 0.0001, 0.0001),
    hispanic=0.003,
    native_to_state=0.76,
    foreign_born=0.088,
    neighbours=(36, 33, 25, 9, 23, 34, 42, 44, 17, 39, 26, 55, 27, 6, 19, 51, 18, 20, 31, 24, 12, 29, 46),
    abroad=(
        150,
        435,
        411,
        410,
        414,
        455,
        438,
        465,
        405,
        453,
        433,
        462,
        450,
        537,
        412,
        401,
        404,
        400,
        452,
        454,
    ),
    youth=-0.2,
    schooling=0.1,
    wage=0.86,
    value=0.95,
    mining=-0.6,
    mills=0.9,
    movers=-0.4,
)

STATES = {state.name: state for state in (COLORADO_LIKE, ARIZONA_LIKE, VERMONT_LIKE)}
