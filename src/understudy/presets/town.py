"""A small town of people who never lived: the table behind `understudy demo`.

Strings, whole numbers, money with a mass at 0, dates, booleans and missing values, and columns that depend
on each other as such columns do: age on district, work on schooling, income on work, home on income.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import ParameterError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PEOPLE = 50_000
CENSUS_DAY = np.datetime64("2025-12-31")
OLDEST = 104

DISTRICTS = ("Old Town", "Harbour", "Mill Lane", "Station", "Northfield", "Orchard", "Hillside", "Saint-Éloi")
SIZE = (0.16, 0.12, 0.15, 0.14, 0.17, 0.1, 0.09, 0.07)
WEALTH = np.array([0.25, -0.1, -0.45, -0.25, 0.0, 0.3, 0.75, 0.1])
YOUTH = np.array([-0.2, 0.3, 0.5, 0.6, 0.4, -0.1, -0.4, -0.7])
MARITAL = ("single", "married", "divorced", "widowed")
SCHOOLING = ("none yet", "primary", "secondary", "vocational", "bachelor", "master", "doctorate")
# What people do, and what it pays in a year.
PAY = {
    "child": 0.0,
    "student": 2_000.0,
    "retired": 15_000.0,
    "none": 4_000.0,
    "shop": 21_000.0,
    "factory": 26_000.0,
    "farm": 20_000.0,
    "office": 31_000.0,
    "trades": 33_000.0,
    "care": 22_000.0,
    "teaching": 37_000.0,
    "nursing": 35_000.0,
    "engineering": 52_000.0,
    "management": 64_000.0,
    "law": 71_000.0,
    "medicine": 88_000.0,
}
JOBS = tuple(PAY)
WORK = 4  # the first of the jobs that are work
# How schooling, and being a woman, lead to each kind of work.
LEARNED = np.array([-0.6, -0.5, -0.9, 0.3, -0.1, -0.4, 0.9, 0.6, 1.3, 0.9, 1.9, 2.4])
WOMEN = np.array([0.4, -0.5, -0.7, 0.4, -1.6, 1.2, 0.8, 1.4, -1.0, -0.3, 0.0, 0.0])
HOME = ("owned", "rented", "with family", "care home")


def simulate(rows: int = PEOPLE, seed: int = 0) -> pa.Table:
    """The town's people as an Arrow table; the same arguments give the same people."""
    if isinstance(rows, bool) or int(rows) != rows or rows < 0:
        raise ParameterError(f"cannot simulate {rows!r} people.", hint="give a whole number of 0 or more.")
    randomness = np.random.default_rng([2026, seed])
    count = int(rows)
    district = _pick(randomness, np.tile(np.log(SIZE), (1, 1)), np.zeros(count, np.int64))
    age = _ages(randomness, district)
    female = randomness.random(count) < 0.5 + 0.002 * np.maximum(age - 60, 0)
    marital = _marital(randomness, age, female)
    schooling = _schooling(randomness, age, district)
    job = _jobs(randomness, age, female, schooling)
    hours = _hours(randomness, job, female, marital)
    income = _income(
        randomness, age, female=female, district=district, schooling=schooling, job=job, hours=hours
    )
    home = _homes(randomness, age, marital, income)
    rent = np.clip(
        220 + 0.014 * income + 190 * WEALTH[district] + 110 * randomness.standard_normal(count), 90, 2_400
    )
    children = _children(randomness, age, marital)
    return pa.table(
        {
            "district": _texts(DISTRICTS, district),
            "sex": _texts(("male", "female"), female.astype(np.int64)),
            "age": pa.array(age),
            "born": _born(randomness, age),
            "marital": _texts(MARITAL, marital),
            "children": pa.array(children),
            "schooling": _texts(SCHOOLING, schooling),
            "job": _texts(JOBS, job),
            "hours": pa.array(hours, mask=job < WORK),
            "income": pa.array(np.round(income, 2), mask=(randomness.random(count) < 0.03) & (age >= 16)),
            "home": _texts(HOME, home, missing=randomness.random(count) < 0.01),
            "rent": pa.array(np.round(rent / 5) * 5, mask=home != 1),
            "moved_in": _moved_in(randomness, age, home),
            "car": pa.array(_cars(randomness, age, income, district)),
            "glasses": pa.array(
                randomness.random(count) < 0.15 + 0.75 / (1 + np.exp(-(age - 47) / 7.0)),
                mask=randomness.random(count) < 0.04,
            ),
        }
    )


def _pick(randomness: np.random.Generator, log_weights: Any, group: Ints) -> Ints:
    """One category a person, by the weights of the person's group."""
    edges = np.cumsum(np.exp(log_weights), axis=1)
    edges /= edges[:, -1:]
    flat = (edges + np.arange(len(edges))[:, None]).ravel()
    place = np.searchsorted(flat, group + randomness.random(len(group)), side="right")
    drawn: Ints = np.minimum(place - group * edges.shape[1], edges.shape[1] - 1)
    return drawn


def _texts(words: tuple[str, ...], codes: Ints, missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=missing), pa.array(words)).cast(
        pa.string()
    )


def _ages(randomness: np.random.Generator, district: Ints) -> Ints:
    ages = np.arange(OLDEST + 1)
    alive = -((ages / 83.0) ** 7) - 0.3 * np.exp(-(((ages - 20) / 6.0) ** 2))
    return _pick(randomness, alive[None, :] + YOUTH[:, None] * (38 - ages[None, :]) / 40, district)


def _born(randomness: np.random.Generator, age: Ints) -> pa.Array:
    # On the last day of a year, age is the difference of the years: any day of the year of birth will do.
    year = CENSUS_DAY.astype("datetime64[Y]") - age.astype("timedelta64[Y]")
    first = year.astype("datetime64[D]")
    days = ((year + np.timedelta64(1, "Y")).astype("datetime64[D]") - first).astype(np.int64)
    born = first + np.floor(randomness.random(len(age)) * days).astype("timedelta64[D]")
    return pa.array(born, pa.date32())


def _marital(randomness: np.random.Generator, age: Ints, female: npt.NDArray[np.bool_]) -> Ints:
    ages = np.arange(OLDEST + 1)
    ever = np.where(ages >= 18, 0.88 / (1 + np.exp(-(ages - 29) / 4.5)), 0)
    tables = []
    for woman in (0, 1):
        widowed = ever * (0.35 + 0.4 * woman) / (1 + np.exp(-(ages - 80 + 5 * woman) / 6))
        divorced = ever * 0.17 * np.exp(-(((ages - 52) / 18.0) ** 2))
        tables.append(
            np.stack([1 - ever, np.maximum(ever - widowed - divorced, 0), divorced, widowed], axis=1)
        )
    with np.errstate(divide="ignore"):
        return _pick(randomness, np.log(np.concatenate(tables)), female * (OLDEST + 1) + age)


def _schooling(randomness: np.random.Generator, age: Ints, district: Ints) -> Ints:
    cohort = np.digitize(age, [6, 12, 18, 21, 24, 40, 65])
    rows = np.array(
        [
            [9, -9, -9, -9, -9, -9, -9],
            [0.5, 2, -9, -9, -9, -9, -9],
            [-9, 2, 0.8, -9, -9, -9, -9],
            [-9, 0, 2.4, 0.8, -4, -9, -9],
            [-9, -0.6, 1.6, 1.2, 1.0, -3, -9],
            [-9, -0.9, 1.0, 1.3, 1.3, 0.6, -2.2],
            [-9, 0.0, 1.4, 1.4, 0.7, 0.1, -2.2],
            [-9, 1.3, 1.4, 1.0, 0.0, -0.6, -2.8],
        ]
    )
    climb = np.array([0, -0.8, -0.2, 0.0, 0.9, 1.4, 1.9])
    table = rows[:, None, :] + (WEALTH[None, :, None] * climb[None, None, :])
    return _pick(randomness, table.reshape(-1, len(SCHOOLING)), cohort * len(DISTRICTS) + district)


def _jobs(randomness: np.random.Generator, age: Ints, female: npt.NDArray[np.bool_], schooling: Ints) -> Ints:
    stage = np.digitize(age, [16, 19, 25, 58, 66, 74])
    status = np.array(
        [  # child, student, retired, none, at work
            [9, -9, -9, -9, -9],
            [-9, 2.2, -9, -0.4, 0.0],
            [-9, 1.0, -9, -0.5, 1.4],
            [-9, -2.6, -4.5, -0.6, 2.2],
            [-9, -6, 0.3, -0.4, 1.6],
            [-9, -7, 2.6, -2, 0.6],
            [-9, -9, 4.5, -9, -0.6],
        ]
    )
    kind = _pick(randomness, status, stage)
    base = np.log(np.array([12, 12, 5, 15, 12, 8, 5, 6, 7, 8, 1.6, 1.8]))
    ladder = np.array([-1.2, -1.0, -0.6, -0.2, 0.6, 1.1, 1.7])[:, None]
    table = np.stack([base + ladder * LEARNED + woman * WOMEN for woman in (0, 1)]).reshape(-1, len(base))
    work = WORK + _pick(randomness, table, female * len(SCHOOLING) + schooling)
    return np.where(kind == 4, work, kind)


def _hours(randomness: np.random.Generator, job: Ints, female: npt.NDArray[np.bool_], marital: Ints) -> Ints:
    long = np.isin(job, [JOBS.index(name) for name in ("management", "law", "medicine", "farm")])
    part = randomness.random(len(job)) < np.where(female, 0.28 + 0.12 * (marital == 1), 0.09)
    usual = np.where(part, 20, np.where(long, 46, 38)) + 4 * randomness.standard_normal(len(job))
    rounded = np.where(randomness.random(len(job)) < 0.6, 5 * np.rint(usual / 5), np.rint(usual))
    return np.where(job >= WORK, np.clip(rounded, 1, 80), 0).astype(np.int64)


def _income(
    randomness: np.random.Generator,
    age: Ints,
    *,
    female: npt.NDArray[np.bool_],
    district: Ints,
    schooling: Ints,
    job: Ints,
    hours: Ints,
) -> Floats:
    work = job >= WORK
    log = (
        0.22 * WEALTH[district]
        + 0.05 * (schooling - 3)
        - 0.09 * female
        + 0.3 * randomness.standard_normal(len(age))
    )
    log = log + np.where(work, np.log(np.maximum(hours, 1) / 38) + 0.013 * (np.minimum(age, 55) - 40), 0)
    income = np.array(list(PAY.values()))[job] * np.exp(log)
    nothing = (age < 16) | ((job < WORK) & (job != 2) & (randomness.random(len(age)) < 0.7))
    return np.where(nothing, 0.0, np.minimum(income, 400_000.0))


def _homes(randomness: np.random.Generator, age: Ints, marital: Ints, income: Floats) -> Ints:
    stage = np.digitize(age, [18, 25, 35, 50, 70, 85])
    means = np.digitize(income, [12_000, 28_000, 50_000])
    table = np.array(
        [
            [0, 0, 4, -9],
            [-2.6, 0.6, 1.6, -9],
            [-0.6, 1.3, 0.2, -9],
            [0.6, 0.7, -1.0, -6],
            [1.1, 0.2, -1.6, -4.5],
            [1.2, 0.0, -1.6, -2.2],
            [0.6, -0.2, -0.8, 0.4],
        ]
    )
    lean = np.array([[-0.7, 0.3, 0.3, 0.2], [-0.2, 0.2, 0, 0], [0.3, 0, -0.2, 0], [0.9, -0.3, -0.4, 0]])
    paired = np.array([[0, 0, 0, 0], [0.8, 0, -1.2, -0.8]])
    full = table[:, None, None, :] + lean[None, :, None, :] + paired[None, None, :, :]
    return _pick(randomness, full.reshape(-1, 4), (stage * 4 + means) * 2 + (marital == 1))


def _children(randomness: np.random.Generator, age: Ints, marital: Ints) -> Ints:
    mean = np.where(marital == 0, 0.12, 1.75) / (1 + np.exp(-(age - 30) / 4.0))
    return np.where(age < 17, 0, np.minimum(randomness.poisson(mean), 8))


def _moved_in(randomness: np.random.Generator, age: Ints, home: Ints) -> pa.Array:
    years = randomness.exponential(np.array([15.0, 4.5, 12.0, 2.5])[home])
    days = np.minimum(years, np.minimum(age, 55)) * 365.2425
    moved = CENSUS_DAY - np.floor(days).astype("timedelta64[D]")
    return pa.array(moved, pa.date32(), mask=randomness.random(len(age)) < 0.06)


def _cars(
    randomness: np.random.Generator, age: Ints, income: Floats, district: Ints
) -> npt.NDArray[np.bool_]:
    odds = (
        -1.2
        + 0.035 * np.minimum(income, 60_000) / 1_000
        + 0.9 * np.isin(district, (4, 5, 6, 7))
        - 0.05 * np.maximum(age - 75, 0)
    )
    owner: npt.NDArray[np.bool_] = (age >= 18) & (randomness.random(len(age)) < 1 / (1 + np.exp(-odds)))
    return owner


SCHEMA = f"""# A small town, as its registrar describes it in public. Reviewed: nothing here was read from the records.
[table]
name = "town"
rows = {PEOPLE}

[columns.district]
type = "category"
values = [{", ".join(f'"{name}"' for name in DISTRICTS)}]

[columns.sex]
type = "category"
values = ["male", "female"]

[columns.age]
type = "integer"
min = 0
max = {OLDEST}
description = "completed years on 31 December 2025"

[columns.born]
type = "date"
min = 1920-01-01
max = 2025-12-31
every = "quarter"

[columns.marital]
type = "category"
values = [{", ".join(f'"{name}"' for name in MARITAL)}]

[columns.children]
type = "integer"
min = 0
max = 8

[columns.schooling]
type = "category"
values = [{", ".join(f'"{name}"' for name in SCHOOLING)}]
ordered = true

[columns.job]
type = "category"
values = [{", ".join(f'"{name}"' for name in JOBS)}]

[columns.hours]
type = "integer"
min = 1
max = 80
missing = true
description = "usual hours a week; empty for those who do not work"

[columns.income]
type = "number"
min = 0
max = 400_000
edges = [0, 2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 17_500, 20_000, 22_500, 25_000, 27_500, 30_000, 35_000, 40_000, 45_000, 50_000, 60_000, 70_000, 80_000, 100_000, 125_000, 150_000, 200_000, 400_000]
special = [0]
precision = 0.01
missing = true
description = "a year, before tax"

[columns.home]
type = "category"
values = [{", ".join(f'"{name}"' for name in HOME)}]
missing = true

[columns.rent]
type = "number"
min = 0
max = 2_500
bins = 50
precision = 1
missing = true
description = "a month; empty unless rented"

[columns.moved_in]
type = "date"
min = 1970-01-01
max = 2025-12-31
every = "year"
missing = true

[columns.car]
type = "boolean"

[columns.glasses]
type = "boolean"
missing = true
"""  # noqa: E501 - a line of a schema file is as long as its list of values
