"""Tables of SQLite, Snowflake and BigQuery, through their ADBC drivers."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

import understudy as us
from understudy.data.engines.adbc_query import open_sqlite
from understudy.errors import FileError, ParameterError
from understudy.pipeline.sources.registry import first_records, name_of, places_of

ROWS = [(None, 1, b"\xff")] * 3000 + [("F", 2, "a'b"), ("M", "x", ""), (" =", 3.5, "ü"), ("", None, 1e300)]


@pytest.fixture
def town(tmp_path: Path) -> str:
    """A database whose cells are of all types in one column, the first thousands of them of another than the rest."""
    with closing(sqlite3.connect(tmp_path / "town.sqlite")) as connection, connection:
        connection.execute('CREATE TABLE people (sex, age, "a ""note")')
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
        connection.execute("INSERT INTO people VALUES ('N', 7, CAST(x'61ff62' AS TEXT))")
    return str(tmp_path / "town.sqlite")


def test_each_cell_of_sqlite_is_read_by_itself(town: str) -> None:
    found = first_records(f"sqlite:{town}?table=people", 10_000)
    assert found.num_rows == len(ROWS) + 1
    assert [str(kind) for kind in found.schema.types] == ["string"] * 3
    assert found.column_names == ["sex", "age", 'a "note']
    assert [list(row.values()) for row in found.slice(2999).to_pylist()] == [
        [None, "1", None],
        ["F", "2", "a'b"],
        ["M", "x", ""],
        [" =", "3.5", "ü"],
        ["", None, "1.0e+300"],
        ["N", "7", "a\ufffdb"],
    ]


def test_a_query_of_sqlite_is_asked_and_its_file_is_only_read(town: str, tmp_path: Path) -> None:
    before = Path(town).read_bytes()
    found = first_records(f"sqlite:{town}?query=SELECT sex, count(*) AS n FROM people GROUP BY 1;", 10)
    assert found.to_pydict()["n"] == ["3000", "1", "1", "1", "1", "1"]
    with pytest.raises(FileError):
        first_records(f"sqlite:{town}?query=DELETE FROM people RETURNING *", 10)
    assert Path(town).read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["town.sqlite"]
    assert name_of(f"sqlite:{town}?table=people") == "people" and name_of(f"sqlite:{town}?query=x") == "town"
    assert town in places_of(f"sqlite:{town}?table=people")


def test_a_database_that_changed_is_another_state(town: str) -> None:
    before = open_sqlite(f"{town}?table=people").snapshot
    assert open_sqlite(f"{town}?table=people").snapshot == before
    with closing(sqlite3.connect(town)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO people VALUES ('F', 1, 'x')")
        connection.commit()
        assert open_sqlite(f"{town}?table=people").snapshot != before


@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        ("sqlite:{}?table=nobody", FileError, "does it have that table"),
        ("sqlite:{}", ParameterError, "neither a table nor a query"),
        ("sqlite:{}.not?table=people", FileError, "no database"),
        ("{}", FileError, "say which table of it: sqlite:people.db"),
        ("snowflake://me:secret@there/town", ParameterError, "#table"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(
    town: str, address: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words) as refused:
        first_records(address.format(town), 10)
    assert "secret" not in str(refused.value)


class Connection:
    """A connection and its cursor, as drivers of ADBC offer them."""

    def __init__(self) -> None:
        self.base = duckdb.connect()
        self.base.execute("CREATE TABLE people AS FROM (VALUES ('F', 3), ('M', 4)) AS t (sex, age)")

    def cursor(self) -> Connection:
        """Its one cursor."""
        return self

    def execute(self, query: str) -> None:
        """Ask."""
        self.answer = self.base.sql(query)

    def fetch_arrow_table(self) -> Any:
        """The answer, whole."""
        return self.answer.to_arrow_table()

    def fetch_record_batch(self) -> Any:
        """The answer in batches."""
        return self.answer.to_arrow_reader(1)

    def close(self) -> None:
        """Nothing to do."""


class Driver(ModuleType):
    """A driver of a warehouse, played by DuckDB; it keeps what it was given to connect with."""

    def __init__(self, name: str, broken: bool = False) -> None:
        super().__init__(name)
        self.given: list[Any] = []
        self.broken = broken

    def connect(self, *words: Any, **more: Any) -> Any:
        """A connection."""
        self.given.append((words, more))
        if self.broken:
            raise RuntimeError(f"no such user: {words}")
        return Connection()


@pytest.mark.parametrize(
    ("package", "address", "given"),
    [
        (
            "adbc_driver_snowflake",
            "snowflake://me:secret@there/town/public#people",
            "me:secret@there/town/public",
        ),
        ("adbc_driver_bigquery", "bigquery://project/town#SELECT * FROM people", "project"),
    ],
)
def test_warehouses_are_asked_through_their_drivers(
    monkeypatch: pytest.MonkeyPatch, package: str, address: str, given: str
) -> None:
    """With a stand-in for the driver: no such warehouse can be had here."""
    driver = Driver(f"{package}.dbapi")
    monkeypatch.setitem(sys.modules, package, ModuleType(package))
    monkeypatch.setitem(sys.modules, f"{package}.dbapi", driver)
    found = first_records(address, 10)
    assert found["sex"].to_pylist() == ["F", "M"] and found["age"].to_pylist() == [3, 4]
    assert given in str(driver.given[0])
    assert name_of(address) == (None if "SELECT" in address else "people")
    driver.broken = True
    with pytest.raises(us.errors.FileError) as refused:
        first_records(address, 10)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("mysql://me:secret@there/town", "database that is not read from here"),
        ("s3://secret/people.parquet", "object store"),
        ("https://me:secret@there/people.csv", "fetch it first"),
        ("mongodb://me:secret@there/town", "no kind that is read here"),
        ("jdbc:mysql://me:secret@there/town", "no kind that is read here"),
        ("file:///secret/people.csv", "give the path of a file"),
    ],
)
def test_addresses_that_are_not_read_are_told_what_to_do_without_what_they_hold(
    address: str, words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as refused:
        first_records(address, 10)
    assert "secret" not in str(refused.value)


def test_files_of_other_kinds_are_told_what_to_do(tmp_path: Path) -> None:
    with closing(duckdb.connect(str(tmp_path / "town.duckdb"))) as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
    (tmp_path / "people.json").write_text('[{"age": 3}]')
    for name, words in (("town.duckdb", "duckdb:people.db.table=people"), ("people.json", "JSON lines")):
        with pytest.raises(FileError, match=words):
            first_records(str(tmp_path / name), 10)
