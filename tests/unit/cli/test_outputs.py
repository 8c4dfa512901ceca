"""Nothing that a command reads is lost to what it writes, and no other file unless a person says so."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.errors import FileError
from understudy.pipeline import load

BUDGET = ("--epsilon", "1", "--delta", "1e-6", "--mechanism", "independent", "--no-check")
TOML = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'
Run = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a private table in several places, its schema and a release of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "mine.db"))
    table = pa.table({"sex": ["F", "M"] * 50})
    (tmp_path / "people").mkdir()
    for file in ("people.parquet", "people/a.parquet"):
        pq.write_table(table, tmp_path / file)
    with duckdb.connect("town.db") as connection:
        connection.register("made", table)
        connection.execute("CREATE TABLE people AS FROM made")
    Path("people.toml").write_text(TOML)
    os.symlink("people.parquet", "link.parquet")
    os.link("people.parquet", "hard.parquet")
    os.symlink("people", "folder")
    for folder in ("elsewhere", "links", "deep"):
        (tmp_path / folder).mkdir()
    pq.write_table(table, tmp_path / "elsewhere" / "real.parquet")
    os.symlink("../elsewhere/real.parquet", "links/a.parquet")
    os.symlink("../people", "deep/alias")
    with duckdb.connect("views.db") as connection:
        connection.execute("CREATE VIEW one AS FROM 'people.parquet'")
        connection.execute("CREATE VIEW several AS FROM read_parquet('people/*.parquet')")
    with sqlite3.connect("lite.db") as lite:
        lite.execute("CREATE TABLE people (sex TEXT)")
        lite.executemany("INSERT INTO people VALUES (?)", [("F",), ("M",)] * 50)
    lite.close()
    return tmp_path


def state(folder: Path) -> dict[str, bytes]:
    """Every file and what is in it."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


REPLACING = [
    ("people.parquet", "people.parquet"),
    ("people.parquet", "./people/../people.parquet"),
    ("people.parquet", "link.parquet"),
    ("link.parquet", "people.parquet"),
    ("people.parquet", "hard.parquet"),
    ("parquet:people.parquet", "people.parquet"),
    ("spark:parquet:people", "people/b.parquet"),
    ("people.parquet", "people.toml"),
    ("people/", "people/new.parquet"),
    ("people", "folder/new.parquet"),
    ("folder", "people/new.parquet"),
    ("people/*.parquet", "people/new.parquet"),
    ("**/*.parquet", "people/new.parquet"),
    ("**/*.parquet", "new.parquet"),
    ("duckdb:town.db?table=people", "town.db"),
    ("duckdb:?query=SELECT * FROM 'people/*.parquet'", "people/new.parquet"),
    ("people.parquet", "mine.db"),
    ("people.parquet", "mine.db.mark"),
    ("people.parquet", "mine.db.notes"),
    ("links", "elsewhere/real.parquet"),  # a folder of links: what they stand for is what is read
    ("links/*.parquet", "elsewhere/real.parquet"),
    ("deep/*/*.parquet", "people/new.parquet"),  # a pattern that goes by a link to a folder
    ("deep/**/*.parquet", "people/new.parquet"),
    ("deep/alias*/*.parquet", "people/a.parquet"),
    ("duckdb:views.db?table=one", "people.parquet"),
    ("duckdb:views.db?table=several", "people/new.parquet"),
    ('duckdb:?query=SELECT * FROM "people.parquet"', "people.parquet"),
    ("duckdb:?query=SELECT * FROM read_parquet($$people.parquet$$)", "people.parquet"),
    ("duckdb:?query=SELECT * FROM read_parquet('people' || '.parquet')", "people.parquet"),
    ("duckdb:town.db?table=people", "town.db.wal"),
    ("sqlite:lite.db?table=people", "lite.db-shm"),
]


@pytest.mark.parametrize(("data", "output"), REPLACING)
@pytest.mark.parametrize("command", ["fit", "synth"])
def test_no_run_writes_over_what_it_reads_nor_over_the_ledger(
    here: Path, understudy: Run, command: str, data: str, output: str
) -> None:
    before = state(here)
    said = understudy(command, data, *BUDGET, "--schema", "people.toml", "--overwrite", "-o", output)
    # A name that says no format is refused as such by `synth`, before.
    assert said.code in (1, 2) and "Traceback" not in said.err
    assert state(here) == before


def test_two_outputs_are_two_files(here: Path, understudy: Run) -> None:
    said = understudy("synth", "people.parquet", *BUDGET, "-o", "s.csv", "--release", "./s.csv")
    assert said.code == 2 and "one file" in said.err
    assert not (here / "mine.db").exists()


@pytest.mark.parametrize("other", ["S.csv", "caf\u00e9.csv"])
def test_names_that_a_disk_may_not_tell_apart_are_one_file(here: Path, understudy: Run, other: str) -> None:
    spelled = {"S.csv": "s.csv", "caf\u00e9.csv": "cafe\u0301.csv"}[other]
    said = understudy("synth", "people.parquet", *BUDGET, "-o", other, "--release", spelled)
    assert said.code == 2 and "one file" in said.err
    said = understudy("fit", "people.parquet", *BUDGET, "-o", "NEW.db", "--ledger", "new.db")
    assert said.code == 2 and "the ledger" in said.err


def test_a_file_beside_a_ledger_that_is_part_of_it_is_not_written(here: Path, understudy: Run) -> None:
    fit = ("fit", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", "x.release")
    assert understudy(*fit).code == 0
    for end in ("-wal", "-shm", "-journal", ".mark"):
        said = understudy("report", "x.release", "-o", f"mine.db{end}", "--overwrite")
        assert said.code == 1 and "ledger" in said.err, end


def test_a_ledger_is_not_the_table(here: Path, understudy: Run) -> None:
    before = state(here)
    said = understudy("fit", "people.parquet", *BUDGET, "--ledger", "link.parquet", "-o", "x.release")
    assert said.code == 2 and state(here) == before


def test_other_files_are_replaced_only_when_told(here: Path, understudy: Run) -> None:
    fit = ("fit", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", "x.release")
    assert understudy(*fit).code == 0
    ledger = (here / "mine.db").read_bytes()
    said = understudy(*fit)
    assert said.code == 2 and "--overwrite" in said.err
    assert (here / "mine.db").read_bytes() == ledger
    assert understudy(*fit, "--overwrite").code == 0

    for words in (
        ("sample", "x.release", "-o", "s.csv"),
        ("report", "x.release", "-o", "r.html"),
        ("evaluate", "people.parquet", "s.csv", "-o", "c.html", "--json", "c.json"),
        ("schema", "people.parquet", "-o", "d.toml"),
    ):
        assert understudy(*words).code == 0, words
        before = state(here)
        assert understudy(*words).code == 2, words
        assert state(here) == before
        assert understudy(*words, "--overwrite").code == 0, words


def test_what_other_commands_read_stays_even_when_told(here: Path, understudy: Run) -> None:
    fit = ("fit", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", "x.release")
    assert understudy(*fit).code == 0
    assert understudy("sample", "x.release", "-o", "s.csv").code == 0
    before = state(here)
    for words in (
        ("sample", "x.release", "-o", "mine.db"),
        ("report", "x.release", "-o", "x.release"),
        ("report", "x.release", "-o", "mine.db"),
        ("evaluate", "people.parquet", "s.csv", "-o", "hard.parquet"),
        ("evaluate", "people.parquet", "s.csv", "--json", "s.csv"),
        ("evaluate", "people.parquet", "s.csv", "--schema", "people.toml", "--json", "people.toml"),
        ("evaluate", "people.parquet", "s.csv", "--json", "c.json", "-o", "c.json"),
        ("schema", "people.parquet", "-o", "people.parquet"),
        ("schema", "people/", "-o", "people/draft.toml"),
    ):
        assert understudy(*words, "--overwrite").code in (1, 2), words
        assert state(here) == before


def test_no_release_of_the_python_interface_replaces_a_ledger(here: Path, understudy: Run) -> None:
    assert (
        understudy("fit", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", "x.release").code == 0
    )
    before = state(here)
    for name in ("mine.db", "mine.db.mark", "mine.db.notes"):
        with pytest.raises(FileError, match="ledger"):
            load("x.release").save(name)
    assert state(here) == before


def test_a_demo_fills_no_folder_of_someone_else(here: Path, understudy: Run) -> None:
    (here / "town.csv").write_text("who\nsomeone\n")
    before = state(here)
    said = understudy("demo", "--rows", "100", "-o", ".")
    assert said.code == 1 and "town.csv" in said.err
    assert state(here) == before


ADDRESSES = ("spark:parquet:out.parquet", "csv:out.csv", "postgresql://me:secret@host/base#people")


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_neither_written_to_nor_taken_for_a_release(
    here: Path, understudy: Run, address: str
) -> None:
    before = state(here)
    for words in (
        ("synth", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", address),
        ("fit", "people.parquet", *BUDGET, "--schema", "people.toml", "-o", address),
        ("schema", "people.parquet", "-o", address),
        ("sample", address, "-o", "s.csv"),
        ("report", address),
        ("verify", address),
        ("query", address, "count"),
        ("export", address, "--as", "card"),
    ):
        said = understudy(*words)
        assert said.code == 2 and "address of a table" in said.err and "secret" not in said.err, words
    assert state(here) == before
