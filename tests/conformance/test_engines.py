"""One suite that every kind of data passes: the same records give the same counts and the same release."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from nightly import NIGHTLY
from postgres_server import server
from spark_session import frame, session
from understudy.data import write
from understudy.data.engines.duckdb import quoted
from understudy.data.files.text import text_file
from understudy.domain import Schema
from understudy.domain.ordered_differences import through_differences
from understudy.privacy import Seeded

Kind = Callable[[pa.Table, Path], Any]  # where some records lie, once they were put there


def csv_file(records: pa.Table, folder: Path) -> str:
    write(records, folder / "people.csv")
    return str(folder / "people.csv")


def parquet_folder(records: pa.Table, folder: Path) -> str:
    (folder / "people").mkdir()
    size = max(1, records.num_rows // 5)
    for number, start in enumerate(range(0, max(1, records.num_rows), size)):
        part = records.slice(start, size)
        pq.write_table(part, folder / "people" / f"part-{number:03}.parquet", row_group_size=100)
    return str(folder / "people")


def arrow_file(records: pa.Table, folder: Path) -> str:
    write(records, folder / "people.arrow")
    return f"{folder}/*.arrow"


def database(records: pa.Table, folder: Path) -> str:
    with duckdb.connect(str(folder / "town.db")) as connection:
        connection.register("records", records)
        connection.execute("CREATE TABLE people AS SELECT * FROM records")
    return f"duckdb:{folder}/town.db?table=people"


def packed_file(records: pa.Table, folder: Path) -> str:
    write(records, folder / "people.csv.gz")
    return f"csv:{folder}/people.csv.gz"


def sqlite(records: pa.Table, folder: Path) -> str:
    """The cells as a text file has them: SQLite has no types for dates."""
    csv_file(records, folder)
    with open(folder / "people.csv", newline="", encoding="utf-8") as file:
        header, *rows = ([cell or None for cell in row] for row in csv.reader(file))
    with closing(sqlite3.connect(folder / "town.sqlite")) as connection, connection:
        connection.execute(f"CREATE TABLE people ({', '.join(map(quoted, header))})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(header))})", rows)
    return f"sqlite:{folder}/town.sqlite?table=people"


def postgres(records: pa.Table, folder: Path) -> str:
    made = server()
    return made.address(made.load(records))


# A new kind of data joins here.
KINDS: dict[str, Kind] = {
    "frame": lambda records, folder: records,
    "csv": csv_file,
    "csv streamed": lambda records, folder: f"csv:{csv_file(records, folder)}",
    "csv packed": packed_file,
    "parquet folder": parquet_folder,
    "parquet pattern": lambda records, folder: f"parquet:{parquet_folder(records, folder)}/*.parquet",
    "arrow pattern": arrow_file,
    "duckdb table": database,
    "duckdb query": lambda records, folder: database(records, folder).replace(
        "table=people", "query=FROM people"
    ),
    "sqlite": sqlite,
    "postgresql": postgres,
    "spark": lambda records, folder: frame(records),
    "spark parquet": lambda records, folder: session() and f"spark:parquet:{parquet_folder(records, folder)}",
}

SCHEMA = through_differences(
    Schema.from_toml("""
[table]
name = "people"
[columns.age]
type = "integer"
min = 0
max = 99
missing = ["?"]
[columns.town]
type = "category"
values = ["Aa", "B, b", "C\\"c", "1"]
[columns.pay]
type = "number"
min = 0
max = 1000
bins = 8
special = [0]
outside = "other"
[columns.born]
type = "date"
min = 1930-01-01
max = 2020-12-31
every = "year"
[columns.member]
type = "boolean"
[columns.grade]
type = "category"
values = [1, 2, 3]
[columns.seen]
type = "datetime"
min = 1940-01-01T00:00:00
max = 2024-12-31T23:59:59
every = "year"
[[constraints]]
order = "born <= seen"
""")
)
PAIRS = list(combinations(SCHEMA.columns, 2))
BOUNDED = Schema.from_toml(
    SCHEMA.to_toml().replace('name = "people"', 'name = "people"\nunit = "who"\nmax_records_per_unit = 2')
)


def people(rows: int, seed: int = 0) -> pa.Table:
    """Records with everything that can be wrong with one: misfits, nulls, values out of bounds."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any], kind: Any) -> pa.Array:
        return pa.array([values[i] for i in rng.integers(0, len(values), rows)], kind)

    ages = [str(n) for n in range(-3, 110)] + ["?", "old", None, "1e1", " 7"]
    days = [date(1925, 1, 1) + timedelta(days=311 * i) for i in range(120)] + [None]
    return pa.table(
        {
            "who": some([f"p{i:03}" for i in range(rows // 2 + 1)] + [None], pa.string()),
            "age": some(ages, pa.string()),
            "town": some(["Aa", "B, b", 'C"c', "1", "line\nbreak", "é", None], pa.string()),
            "pay": pa.array(
                rng.choice([0.0, 1.5, 1000.0, 1000.5, -1.0, 37.25, np.nan], rows), from_pandas=True
            ),
            "born": some(days, pa.date32()),
            "member": some([True, False, None], pa.bool_()),
            "grade": some([1, 2, 3, 4, None], pa.int64()),
            "seen": some(
                [datetime(1938, 1, 1) + timedelta(hours=9001 * i) for i in range(90)] + [None],
                pa.timestamp("us"),
            ),
            "unused": some(["x"], pa.string()),
        }
    )


SPARK = ("spark", "spark parquet")


def asked(name: str, *values: str) -> pytest.MarkDecorator:
    """Every kind of data is asked all of these; by day the two kinds of Spark share them between them."""
    pairs = [
        (kind, value)
        for kind in KINDS
        for place, value in enumerate(values)
        if NIGHTLY or kind not in SPARK or place % len(SPARK) == SPARK.index(kind)
    ]
    return pytest.mark.parametrize(("kind", name), pairs, indirect=["kind"])


@pytest.fixture(params=KINDS, name="kind")
def _kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    monkeypatch.setattr(text_file, "PIECE", 2000)  # bytes, so that small files have many pieces
    return KINDS[request.param]


def check_counts(kind: Kind, folder: Path, records: pa.Table, schema: Schema, cliques: list[Any]) -> None:
    found = us.table(kind(records, folder), schema).count(cliques)
    for marginal, wanted in zip(found, us.table(records, schema).count(cliques), strict=True):
        np.testing.assert_array_equal(marginal.counts, wanted.counts)


@pytest.mark.parametrize("rows", [0, 1, 2, 700] if NIGHTLY else [0, 1, 700])
def test_every_kind_of_data_gives_the_same_counts(kind: Kind, tmp_path: Path, rows: int) -> None:
    check_counts(kind, tmp_path, people(rows), SCHEMA, [*PAIRS, (), ("age",), ("grade", "age", "town")])


@pytest.mark.parametrize("most", [1, 2, 5] if NIGHTLY else [1, 2])
def test_the_same_records_of_every_unit_are_kept(kind: Kind, tmp_path: Path, most: int) -> None:
    schema = Schema.from_toml(BOUNDED.to_toml().replace("per_unit = 2", f"per_unit = {most}"))
    check_counts(kind, tmp_path, people(600), schema, [*PAIRS, ()])


@pytest.mark.parametrize("rows", [0, 1])
def test_a_unit_column_of_next_to_nothing_is_bounded(kind: Kind, tmp_path: Path, rows: int) -> None:
    check_counts(kind, tmp_path, people(rows), BOUNDED, [("age",), ()])


def test_a_table_of_two_hundred_columns_is_counted_whole(kind: Kind, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    records = pa.table({f"c{i}": rng.integers(0, 2 + i % 9, 300) for i in range(200)})
    columns = "".join(f'[columns.c{i}]\ntype = "integer"\nmin = 0\nmax = {1 + i % 9}\n' for i in range(200))
    schema = Schema.from_toml(f'[table]\nname = "wide"\n{columns}')
    check_counts(kind, tmp_path, records, schema, list(combinations(records.column_names[::7], 2)))


def test_merged_codes_count_as_one(kind: Kind, tmp_path: Path) -> None:
    maps = {
        "age": np.arange(SCHEMA.domain()["age"]) // 10,
        "grade": np.array([0, 1, 1, 0])[: SCHEMA.domain()["grade"]],
    }
    records = people(400)
    found = us.table(kind(records, tmp_path), SCHEMA).recode(maps)
    wanted = us.table(records, SCHEMA).recode(maps)
    assert found.domain == wanted.domain
    for one, other in zip(found.count(PAIRS), wanted.count(PAIRS), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)


@asked("described", "complete", "by unit")
@pytest.mark.parametrize("rows", [0, 700])
def test_every_kind_of_data_fills_the_same_cells(
    kind: Kind, tmp_path: Path, rows: int, described: str
) -> None:
    schema = SCHEMA if described == "complete" else BOUNDED
    records, maps = people(rows), {"age": np.arange(SCHEMA.domain()["age"]) // 3}
    engines = us.table(kind(records, tmp_path), schema), us.table(records, schema)
    for found, wanted in (engines, [engine.recode(maps) for engine in engines]):
        for clique in [tuple(SCHEMA.columns), ("grade", "age"), ("town",), ()]:
            for one, other in zip(found.count_cells(clique), wanted.count_cells(clique), strict=True):
                np.testing.assert_array_equal(one, other)


LEARNED = Schema.from_toml("""
[table]
name = "people"
[columns.grade]
type = "integer"
[columns.town]
type = "category"
discover = true
[columns.pay]
type = "number"
min = 0
max = 1000
""")


LEARNED_BY_UNIT = replace(LEARNED, unit="who", max_records_per_unit=2)


def _texts(record: dict[str, object]) -> dict[str, str]:
    """Cells as texts; instants without their zone, which Spark's have by its own type, and others' have not."""
    return {name: str(value).removesuffix("+00:00") for name, value in record.items()}


RELEASED = {"complete": SCHEMA, "by unit": BOUNDED, "learned": LEARNED, "learned by unit": LEARNED_BY_UNIT}


def released(data: Any, schema: Schema, ledger: Path) -> us.Release:
    # By day the default mechanism is run on one schema, and on the others one that asks for less.
    mechanism = us.Adaptive() if NIGHTLY or schema is SCHEMA else us.MST()
    return us.fit(data, schema, epsilon=4.0, delta=1e-5, mechanism=mechanism, source=Seeded(7), ledger=ledger)


@cache
def released_from_memory(schema: str) -> us.Release:
    """What every kind of data is compared with."""
    with TemporaryDirectory() as folder:
        return released(people(900), RELEASED[schema], Path(folder) / "ledger.db")


@asked("schema", *RELEASED)
def test_a_release_does_not_tell_where_the_records_lay(kind: Kind, tmp_path: Path, schema: str) -> None:
    one = released_from_memory(schema)
    other = released(kind(people(900), tmp_path), RELEASED[schema], tmp_path / "ledger.db")
    assert one.schema.to_toml() == other.schema.to_toml()
    assert [m.clique for m in one.measurements] == [m.clique for m in other.measurements]
    for first, second in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(first.values, second.values)
    # What is a text in one place may be a number in another: the records are the same all the same.
    ours, theirs = (release.with_kind("arrow").sample(50, seed=1).to_pylist() for release in (one, other))
    assert [*map(_texts, ours)] == [*map(_texts, theirs)]


def test_what_is_known_of_types_alone_is_the_same_for_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 2000)
    path = csv_file(people(700), tmp_path)
    releases = [
        us.fit(data, epsilon=4.0, delta=1e-5, source=Seeded(7), ledger=tmp_path / f"{number}.db")
        for number, data in enumerate([path, f"csv:{path}"])
    ]
    assert releases[0].schema.to_toml() == releases[1].schema.to_toml()
    assert releases[0].sample(50, seed=1).equals(releases[1].sample(50, seed=1))
