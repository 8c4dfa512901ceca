"""Whatever happens to a ledger's files, it is refused with a way out, or still knows all that was spent."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from understudy.errors import BudgetError, LedgerError
from understudy.privacy import Job, Ledger
from understudy.privacy.ledger.append_only_log import AppendOnlyLog

KEPT = ("ledger", "ledger.mark", "ledger.notes")
FILES = (*KEPT, "ledger-journal", "ledger-wal")
SPENT = Fraction(1, 2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small ledger in use: a limit, two jobs, questions with answers; and what SQLite may leave beside it."""
    folder = tmp_path_factory.mktemp("whole")
    ledger = Ledger(folder / "ledger")
    ledger.set_limit("people", 1.0, 1e-6)
    for fingerprint in ("a", "b"):
        page = ledger.open(Job("people", fingerprint, title="mst"), 0.25, 1e-7)
        for number in range(2):
            page.charge(number, {"question": "measure", "cliques": [["sex"]], "scales": [9.5]})
            page.store(number, bytes(range(200)))
    page.finish(b"done")
    page = ledger.open(Job("people", "a", title="mst"), 0.25, 1e-7)
    for number in (2, 3):
        page.charge(number, {"question": "choose"})
        page.store(number, b"%d" % number)  # in the notes
    before = (folder / "ledger").read_bytes()
    with sqlite3.connect(folder / "ledger") as connection:  # the journal of a writer that was killed
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DROP TRIGGER no_update")
        (folder / "kept").write_bytes((folder / "ledger-journal").read_bytes())
        connection.rollback()
    connection.close()
    assert (folder / "ledger").read_bytes() == before
    (folder / "kept").rename(folder / "ledger-journal")
    return folder


def use(path: Path) -> Fraction:
    """All that a person does with a ledger; what it says was spent, before the last job."""
    ledger = Ledger(path)
    assert ledger.names() == ["people"]
    spent, _ = ledger.account("people").spent
    ledger.account("people").to_dict()
    page = ledger.open(Job("people", "a", title="mst"), 0.25, 1e-7)  # a job that is resumed
    answer = page.charge(0, {"question": "measure", "cliques": [["sex"]], "scales": [9.5]})
    assert answer == bytes(range(200))
    assert [page.charge(number, {"question": "choose"}) for number in (2, 3)] == [b"2", b"3"]
    with pytest.raises(BudgetError):
        ledger.open(Job("people", "too much"), 0.6, 1e-7)
    page = ledger.open(Job("people", "new"), 0.1, 1e-7)
    page.charge(0, {"question": "choose"})
    page.store(0, b"1")
    page.finish()
    return spent


def damaged(whole: Path, folder: Path, name: str, draw: random.Random) -> str:
    """A copy of the ledger with one of its files flipped, cut, lengthened, emptied or filled with noise."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in (*KEPT, *([name] if name == "ledger-journal" else [])):
        shutil.copy(whole / file, folder / file)
    path = folder / name
    text = bytearray(path.read_bytes() if path.exists() else draw.randbytes(4200))
    how = draw.choice(["flip", "flip", "flip", "flip", "cut", "pad", "zeros", "noise"])
    place = draw.randrange(len(text))
    if how == "flip":
        text[place] ^= 1 << draw.randrange(8)
    elif how == "cut":
        del text[place:]
    elif how == "pad":
        text += draw.randbytes(draw.randrange(1, 5000))
    else:
        end = place + draw.randrange(1, 64)
        text[place:end] = (
            bytes(len(text[place:end])) if how == "zeros" else draw.randbytes(len(text[place:end]))
        )
    path.write_bytes(text)
    return f"{name}: {how} at {place}"


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting for the disk: what is tried here is what is in the files, not when it got there."""
    connect = AppendOnlyLog._connect

    def quick(log: AppendOnlyLog) -> sqlite3.Connection:
        connection = connect(log)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(AppendOnlyLog, "_connect", quick)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.usefixtures("unsynced")
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_a_ledger_error_or_forgets_nothing(name: str, whole: Path, tmp_path: Path) -> None:
    draw = random.Random(f"damage of {name}")
    hints: list[str] = []
    for _ in range(150 if name == "ledger" else 50):
        what = damaged(whole, tmp_path / "copy", name, draw)
        try:
            spent = use(tmp_path / "copy" / "ledger")
        except LedgerError as fault:
            hints.append(fault.hint)
        except AssertionError:
            raise
        except BaseException as fault:  # told with its place: a raw exception is the breach
            pytest.fail(f"{what}: {type(fault).__name__}: {fault}")
        else:
            assert spent == SPENT, what
    assert all(hints)
    assert hints or name not in KEPT


def test_a_stored_answer_that_turned_into_a_number_is_damage(whole: Path, tmp_path: Path) -> None:
    for file in KEPT:
        shutil.copy(whole / file, tmp_path / file)
    for edit in (  # the table is loose while the number is written, and then what it was
        "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')')",
        "UPDATE entries SET answer = 4000000000000 WHERE answer IS NOT NULL",
        "UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'entries'",
    ):
        with sqlite3.connect(tmp_path / "ledger") as connection:
            connection.execute("DROP TRIGGER IF EXISTS no_update")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(edit)
        connection.close()
    page = Ledger(tmp_path / "ledger").open(Job("people", "a", title="mst"), 0.25, 1e-7)
    with pytest.raises(LedgerError, match="not whole"):
        page.charge(0, {"question": "measure", "cliques": [["sex"]], "scales": [9.5]})


FORGED = {
    "a view without an end": "CREATE VIEW entries AS "
    "WITH RECURSIVE n(seq) AS (SELECT -1 UNION ALL SELECT seq - 1 FROM n) "
    "SELECT seq, seq AS time, seq AS kind, seq AS name, seq AS job, seq AS body, seq AS content, seq AS previous, "
    "seq AS seal, NULL AS answer FROM n",
    "a trigger that makes gigabytes": "CREATE TRIGGER more BEFORE INSERT ON entries "
    "BEGIN SELECT length(hex(zeroblob(400000000))); END",
}


@pytest.mark.parametrize("how", FORGED)
def test_what_a_file_says_of_its_own_table_is_not_run(how: str, whole: Path, tmp_path: Path) -> None:
    for file in KEPT:
        shutil.copy(whole / file, tmp_path / file)
    with sqlite3.connect(tmp_path / "ledger") as connection:
        if "VIEW" in FORGED[how]:
            connection.execute("DROP TABLE entries")
        connection.execute(FORGED[how])
    connection.close()
    with pytest.raises(LedgerError, match="not one of a ledger"):
        Ledger(tmp_path / "ledger")


def test_a_ledger_may_be_larger_than_sqlite_counts_to(whole: Path, tmp_path: Path) -> None:
    for file in KEPT:
        shutil.copy(whole / file, tmp_path / file)
    os.truncate(tmp_path / "ledger", 3 << 30)  # a hole: it takes no room on the disk
    assert use(tmp_path / "ledger") == SPENT


@pytest.mark.parametrize(
    "name",
    ["a\0b", "~nobody-of-that-name/ledger", "x" * 5000, "half \ud83d", "line\nbreak ?#%41", "ledger/inside"],
)
def test_an_odd_path_works_or_is_a_ledger_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(b"")
    path = name if name.startswith("~") else f"{tmp_path}/{name}"
    if name.startswith("line"):
        Ledger(path).open(Job("people", "a"), 0.25, 1e-7)
        assert Ledger(path).names() == ["people"]
    else:
        with pytest.raises(LedgerError, match="Hint"):
            Ledger(path)


def test_a_folder_or_a_circle_of_links_in_place_of_a_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="folder"):
        Ledger(tmp_path)
    (tmp_path / "ledger.mark").mkdir()
    with pytest.raises(LedgerError):
        Ledger(tmp_path / "ledger")
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(LedgerError):
        Ledger(tmp_path / "one")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["ledger", "ledger.mark", ""])
def test_files_that_may_not_be_read_are_refused(name: str, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    for file in KEPT:
        shutil.copy(whole / file, folder / file)
    (folder / name).chmod(0)
    try:
        with pytest.raises(LedgerError):
            use(folder / "ledger")
    finally:
        (folder / name).chmod(0o700)
