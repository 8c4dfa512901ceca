"""Files that change while they are read, and data of kinds that are not: always a word, never a killed process."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import duckdb
import pytest

import understudy as us
from understudy.data.files.file_set import FileSet
from understudy.data.files.text import text_file
from understudy.errors import FileError, UnderstudyError

SCHEMA = us.Schema({"a": us.Integer(0, 9)}, name="people")


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text file that is read in some hundred pieces."""
    monkeypatch.setattr(text_file, "PIECE", 1 << 12)
    (tmp_path / "people.csv").write_text("a\n" + "1\n2\n" * 100_000)
    return tmp_path / "people.csv"


@pytest.mark.parametrize("left", [0, 5_000])
def test_a_text_file_that_is_cut_short_while_it_is_read_is_told(pieces: Path, left: int) -> None:
    read = FileSet.open(str(pieces)).scan(["a"], {})
    next(read)
    os.truncate(pieces, left)
    with pytest.raises(FileError, match=r"cut short|changed"):
        list(read)


def test_a_file_that_grows_while_it_is_read_is_told(pieces: Path) -> None:
    read = FileSet.open(str(pieces)).scan(["a"], {})
    next(read)
    with pieces.open("a") as file:
        file.write("3\n" * 1_000)
    with pytest.raises(FileError, match="changed"):
        list(read)


def test_a_file_that_goes_while_it_is_read_is_told(pieces: Path) -> None:
    read = FileSet.open(str(pieces)).scan(["a"], {})
    next(read)
    pieces.unlink()
    with pytest.raises(FileError, match="went"):
        list(read)


ADDRESSES = {
    "s3://bucket:SECRET@x/people.parquet": "dataset",
    "gs://bucket/people/": "dataset",
    "mysql://me:SECRET@host/town": "export",
    "snowflake://me:SECRET@host/town": "#people",
    "https://me:SECRET@host/people.csv": "fetch",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_not_read_is_told_with_a_way_out_and_without_its_password(
    address: str, tmp_path: Path
) -> None:
    for ask in (
        lambda: us.fit(address, epsilon=1, delta=1e-9, ledger=tmp_path / "ledger.db"),
        lambda: us.draft_schema(address),
    ):
        with pytest.raises(UnderstudyError) as refused:
            ask()
        assert ADDRESSES[address] in str(refused.value) and "SECRET" not in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()


def test_a_database_that_is_given_as_a_file_is_told(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "lite.db")
    connection.execute("CREATE TABLE people (sex TEXT)")
    connection.close()
    duckdb.connect(str(tmp_path / "town.duckdb")).close()
    for name, word in (("lite.db", "SQLite"), ("town.duckdb", r"table=people")):
        with pytest.raises(FileError, match=word):
            us.fit(tmp_path / name, epsilon=1, delta=1e-9, ledger=tmp_path / "ledger.db")
