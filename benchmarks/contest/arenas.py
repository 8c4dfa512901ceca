"""The tables that systems meet on: a public one to select on, held-out ones to be scored on."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.data import Table
from understudy.domain import Clique, Integer, Schema
from understudy.evaluation import ContestTests, Roles
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder
from understudy_contest import census1940, nist2018
from understudy_contest.contest_scores import Scorer

Columns = Mapping[str, npt.NDArray[Any]]
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TESTS_SEED = 2018


@dataclass(frozen=True, eq=False)
class Arena:
    """One data set with its roles: the three forced columns, how they are coded, and how tables are read.

    `triple` is (sex, city, wage) as coded; `tables` gives the raw columns of the public and held-out tables.
    """

    name: str
    title: str
    schema_of: Callable[[str], Schema]
    transforms: tuple[TableTransform, ...]
    triple: Clique
    also_forced: tuple[Clique, ...]
    exempt: tuple[str, ...]
    one_way_weights: Mapping[str, float]
    roles: Roles
    largest: Mapping[str, int]
    delta: float
    public: str
    held_out: tuple[str, ...]
    read: Callable[[str], Columns]

    @property
    def pairs(self) -> tuple[Clique, ...]:
        """The three pairs within the forced triple."""
        sex, city, wage = self.triple
        return (sex, city), (sex, wage), (city, wage)

    @cache  # noqa: B019, an arena lives as long as the run
    def coded(self, table: str) -> Table:
        """A table's records as codes, after the transforms."""
        rows = pa.table({name: pa.array(column) for name, column in self.read(table).items()})
        for transform in self.transforms:
            rows = transform.forward(rows)
        encoder = Encoder(self.schema_of(table))
        return Table(encoder.domain, encoder.forward(rows.select(list(encoder.domain))))

    @cache  # noqa: B019, as above
    def scorer(self, table: str) -> Scorer:
        """What scores a synthetic table against this one, by tests drawn with a fixed seed."""
        raw = self.read(table)
        return Scorer.of(raw, ContestTests.draw(raw, TESTS_SEED, largest=self.largest), self.roles)


def census(rows: int | None = None, seed: int = 1940) -> Arena:
    """The simulated census: Colorado-like to select on, Arizona-like and Vermont-like to be scored on.

    `rows` caps every table, for a quick look. What a recipe leaves open was settled on another `seed`.
    """

    def schema_of(state: str) -> Schema:
        schema = census1940.schema(state=state)
        for transform in nist2018.TRANSFORMS:
            schema = transform.describe(schema)
        return schema

    def read(state: str) -> Columns:
        whole = census1940.STATES[state].rows
        return census1940.simulate(whole if rows is None else min(rows, whole), state, seed)

    return Arena(
        name="census1940",
        title="Simulated census of 1940, 98 columns",
        schema_of=cache(schema_of),
        transforms=nist2018.TRANSFORMS,
        triple=nist2018.TRIPLE,
        also_forced=((nist2018.WAGE, nist2018.DIGITS),),
        exempt=nist2018.EXEMPT,
        one_way_weights=nist2018.ONE_WAY_WEIGHTS,
        roles=Roles(),
        largest=census1940.largest(),
        delta=nist2018.DELTA,
        public="colorado-like",
        held_out=("arizona-like", "vermont-like"),
        read=cache(read),
    )


YEARS = {"year 0": (0,), "years 1-3": (1, 2, 3), "years 4-6": (4, 5, 6)}


def temporal(rows: int | None = None, folder: Path = DATA / "temporal-match2") -> Arena | None:
    """Real records of the American Community Survey, by year; None where they are not beside the checkout."""
    if not folder.is_dir():
        return None
    columns = _read_csv(folder / "temporal-match2.csv")
    year = columns.pop("YEAR")
    sizes = {name: int(column.max()) + 1 for name, column in columns.items()}

    def read(part: str) -> Columns:
        where = np.flatnonzero(np.isin(year, YEARS[part]))[:rows]
        return {name: column[where] for name, column in columns.items()}

    public, *held_out = YEARS
    schema = Schema({name: _whole(size) for name, size in sizes.items()}, name="temporal-match2")
    return Arena(
        name="temporal-match2",
        title="American Community Survey (temporal-match2), 34 columns",
        schema_of=lambda part: schema,
        transforms=(),
        triple=("SEX", "PUMA", "INCWAGE"),
        also_forced=(),
        exempt=("PUMA", "INCWAGE"),
        one_way_weights={"INCWAGE": 2.0},
        roles=Roles(city="PUMA", wage_missing=sizes["INCWAGE"], male=0, female=1),
        largest={name: size - 1 for name, size in sizes.items()},
        delta=1.0 / int(np.isin(year, YEARS[public]).sum()) ** 2,
        public=public,
        held_out=tuple(held_out),
        read=cache(read),
    )


def _whole(size: int) -> Integer:
    return (
        Integer(min=0, max=size - 1, bins=size, missing=False)
        if size > 1
        else Integer(min=0, max=1, bins=2, missing=False)
    )


def _read_csv(path: Path) -> dict[str, npt.NDArray[np.int64]]:
    with path.open(encoding="utf-8") as file:
        names = next(csv.reader(file))
        cells = np.loadtxt(file, delimiter=",", dtype=np.int64)
    return {name: np.ascontiguousarray(cells[:, place]) for place, name in enumerate(names)}
