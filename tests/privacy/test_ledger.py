"""The ledger: what it records, what it refuses, and every way in which it could be lost or lied to."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from understudy.errors import BudgetError, LedgerError, ParameterError
from understudy.privacy import Job, Ledger, default_ledger_path
from understudy.privacy.ledger.high_water_mark import HighWaterMark


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def fill(path: Path, jobs: int = 3) -> Ledger:
    ledger = Ledger(path)
    for number in range(jobs):
        page = ledger.open(Job("people", f"job {number}"), 0.5, 1e-10)
        page.charge(0, {"question": "measure"})
        page.store(0, b"answer %d" % number)
    return ledger


def test_what_was_spent_adds_up_as_it_is_written_not_in_binary(path: Path) -> None:
    ledger = Ledger(path)
    ledger.set_limit("people", 1.0, 1e-9)
    for number in range(10):
        ledger.open(Job("people", str(number)), 0.1, 1e-10)
    assert ledger.account("people").spent == (1, pytest.approx(1e-9, rel=1e-15))
    assert ledger.account("people").left == (0, 0)
    with pytest.raises(BudgetError, match="left of its limit"):
        ledger.open(Job("people", "eleventh"), 1e-300, 1e-300)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.6, 1e-10), (0.1, 6e-10)])
def test_more_than_is_left_is_refused_and_leaves_no_trace(path: Path, epsilon: float, delta: float) -> None:
    ledger = Ledger(path)
    ledger.set_limit("people", 1.0, 1e-9)
    ledger.open(Job("people", "first"), 0.5, 5e-10)
    before = path.read_bytes()
    with pytest.raises(BudgetError):
        ledger.open(Job("people", "second"), epsilon, delta)
    assert path.read_bytes() == before


def test_names_do_not_share_a_budget(path: Path) -> None:
    ledger = fill(path)
    ledger.set_limit("others", 1.0, 1e-9)
    ledger.open(Job("others", "job 0"), 1.0, 1e-9)
    assert ledger.names() == ["others", "people"]
    assert ledger.account("people").spent[0] == 1.5
    assert ledger.account("nobody").spent == (0, 0)


def test_a_limit_is_set_once(path: Path) -> None:
    ledger = fill(path)
    with pytest.raises(BudgetError, match="already spent"):
        ledger.set_limit("people", 1.0, 1e-9)
    ledger.set_limit("people", 2.0, 1e-9)
    ledger.set_limit("people", 2.0, 1e-9)  # the same again is no change
    with pytest.raises(BudgetError, match="set once"):
        ledger.set_limit("people", 3.0, 1e-9)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_an_impossible_epsilon_is_not_recorded(path: Path, epsilon: object) -> None:
    ledger = Ledger(path)
    with pytest.raises(BudgetError, match="epsilon"):
        ledger.open(Job("people", "x"), epsilon, 1e-9)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="epsilon"):
        ledger.set_limit("people", epsilon, 1e-9)  # type: ignore[arg-type]
    assert ledger.names() == []


@pytest.mark.parametrize("delta", [0, -1e-9, 1, 1.5, float("nan"), "1e-9", None])
def test_an_impossible_delta_is_not_recorded(path: Path, delta: object) -> None:
    ledger = Ledger(path)
    with pytest.raises(BudgetError, match="delta"):
        ledger.open(Job("people", "x"), 1.0, delta)  # type: ignore[arg-type]
    assert ledger.names() == []


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "\0", 7, None])
def test_a_name_that_cannot_be_a_key_is_refused(name: object) -> None:
    with pytest.raises(ParameterError):
        Job(name, "fingerprint")  # type: ignore[arg-type]


def test_a_name_may_be_of_any_script(path: Path) -> None:
    Ledger(path).open(Job("Bevölkerung 人口", "x"), 1.0, 1e-9)
    assert Ledger(path).names() == ["Bevölkerung 人口"]


def test_the_same_job_is_charged_once_and_answered_the_same(path: Path) -> None:
    fill(path)
    again = Ledger(path).open(Job("people", "job 1"), 0.5, 1e-10)
    assert again.charge(0, {"question": "measure"}) == b"answer 1"
    assert again.store(0, b"a second draw") == b"answer 1"
    assert Ledger(path).account("people").spent[0] == 1.5


def test_another_question_in_the_same_place_is_refused(path: Path) -> None:
    page = fill(path).open(Job("people", "job 1"), 0.5, 1e-10)
    with pytest.raises(LedgerError, match="not the one"):
        page.charge(0, {"question": "something else"})
    with pytest.raises(LedgerError, match="comes next"):
        page.charge(2, {"question": "measure"})
    with pytest.raises(LedgerError, match="never charged"):
        page.store(1, b"drawn without a charge")


def test_one_fingerprint_with_two_budgets_or_sources_is_refused(path: Path) -> None:
    ledger = fill(path)
    with pytest.raises(LedgerError, match="another budget"):
        ledger.open(Job("people", "job 1"), 0.4, 1e-10)
    with pytest.raises(LedgerError, match="source of noise"):
        ledger.open(Job("people", "job 1"), 0.5, 1e-10, private=False)


def test_a_finished_job_keeps_its_result_and_asks_nothing_new(path: Path) -> None:
    page = fill(path).open(Job("people", "job 0"), 0.5, 1e-10)
    assert page.finish(b"release") == b"release"
    again = Ledger(path).open(Job("people", "job 0"), 0.5, 1e-10)
    assert again.finish(b"another") == b"release"
    assert again.charge(0, {"question": "measure"}) == b"answer 0"
    with pytest.raises(LedgerError, match="finished"):
        again.charge(1, {"question": "measure"})


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE seq > 2",
        "UPDATE entries SET body = '{}' WHERE seq = 1",
        "INSERT OR REPLACE INTO entries SELECT seq, time, kind, 'x', job, body, content, previous, seal, "
        "answer FROM entries WHERE seq = 1",
        "INSERT INTO entries VALUES (99, '', '', '', '', '', '', '', '', NULL)",
    ],
)
def test_entries_cannot_be_changed_in_passing(path: Path, statement: str) -> None:
    fill(path)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only ever added to"):
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, '0.5', '0.1') WHERE kind = 'job' AND seq < 3",
        "UPDATE entries SET name = 'others' WHERE kind = 'job'",
        "DELETE FROM entries WHERE seq = 4",
        "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)",
        "DELETE FROM entries",
        "UPDATE entries SET time = '1970-01-01' WHERE seq = 2",
        "UPDATE entries SET kind = 'limit' WHERE seq = 1",
    ],
)
def test_an_edit_behind_the_triggers_is_noticed(path: Path, statement: str) -> None:
    fill(path)
    edit(path, statement)
    with pytest.raises(LedgerError):
        Ledger(path)


def edit(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    for trigger in ("no_update", "no_delete", "in_order"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_edited_answer_is_noticed_when_it_is_read(path: Path) -> None:
    fill(path)
    edit(path, "UPDATE entries SET answer = x'00' WHERE kind = 'answer'")
    page = Ledger(path).open(Job("people", "job 1"), 0.5, 1e-10)
    with pytest.raises(LedgerError, match="not whole"):
        page.charge(0, {"question": "measure"})


def test_an_older_copy_is_refused_again_and_again(path: Path, tmp_path: Path) -> None:
    fill(path)
    shutil.copy(path, tmp_path / "old")
    opened = Ledger(path)
    opened.open(Job("people", "later"), 0.5, 1e-10)
    shutil.copy(tmp_path / "old", path)
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"rolled back|replaced"):
            Ledger(path)
        with pytest.raises(LedgerError, match=r"rolled back|replaced"):
            opened.open(Job("people", "later still"), 0.5, 1e-10)


def test_an_older_copy_with_other_entries_since_is_refused(path: Path, tmp_path: Path) -> None:
    fill(path)
    for file in (path, HighWaterMark(path).path):
        shutil.copy(file, tmp_path / ("old" + file.suffix))
    Ledger(path).open(Job("people", "later"), 0.5, 1e-10)
    mark = HighWaterMark(path).path.read_bytes()
    shutil.copy(tmp_path / "old.sqlite", path)
    shutil.copy(tmp_path / "old.mark", HighWaterMark(path).path)
    Ledger(path).open(Job("people", "other"), 0.1, 1e-10)  # both files restored: this cannot be noticed
    HighWaterMark(path).path.write_bytes(mark)
    with pytest.raises(LedgerError, match="edited"):
        Ledger(path)


def test_a_lost_ledger_does_not_start_at_zero(path: Path) -> None:
    opened = fill(path)
    path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        Ledger(path)
    with pytest.raises(LedgerError, match="missing"):
        opened.open(Job("people", "later"), 0.5, 1e-10)
    path.touch()  # nor does an empty file in its place
    with pytest.raises(LedgerError):
        Ledger(path)


def test_a_lost_mark_is_not_made_anew(path: Path) -> None:
    fill(path)
    HighWaterMark(path).path.unlink()
    with pytest.raises(LedgerError, match="mark file"):
        Ledger(path)
    HighWaterMark(path).path.write_bytes(b"")
    with pytest.raises(LedgerError, match="mark file"):
        Ledger(path)


def test_a_file_that_is_no_ledger_is_not_overwritten(path: Path) -> None:
    path.write_text("name,epsilon\n")
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_text() == "name,epsilon\n"


def test_damage_is_refused_or_harmless_but_never_believed(path: Path) -> None:
    fill(path, jobs=30)
    whole = path.read_bytes()
    noticed = 0
    for start in range(0, len(whole), 397):
        path.write_bytes(whole[:start] + b"\xff" * 300 + whole[start + 300 :])
        try:
            read_everything(path, jobs=30)  # space that nothing uses may be hit
        except LedgerError:
            noticed += 1
    assert noticed > 0.8 * len(whole) / 397


def read_everything(path: Path, jobs: int) -> None:
    ledger = Ledger(path)
    for number in range(jobs):
        page = ledger.open(Job("people", f"job {number}"), 0.5, 1e-10)
        assert page.charge(0, {"question": "measure"}) == b"answer %d" % number
    assert ledger.account("people").spent[0] == 0.5 * jobs


def test_a_truncated_ledger_is_refused(path: Path) -> None:
    fill(path, jobs=30)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LedgerError):
        read_everything(path, jobs=30)


def test_a_charge_whose_mark_cannot_be_written_is_spent_but_not_answered(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(path)

    def full(self: HighWaterMark, seq: int, seal: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(HighWaterMark, "reach", full)
        with pytest.raises(LedgerError, match="No space left"):
            ledger.open(Job("people", "x"), 1.0, 1e-9)
    assert ledger.account("people").spent[0] == 1  # in this process
    assert Ledger(path).account("people").spent[0] == 1  # and in the next


def test_a_torn_line_of_the_mark_does_not_lock_anyone_out(path: Path) -> None:
    fill(path)
    with HighWaterMark(path).path.open("ab") as file:
        file.write(b"\n12 ab")  # a crash in the middle of a line
    Ledger(path).open(Job("people", "later"), 0.5, 1e-10)
    assert Ledger(path).account("people").spent[0] == 2


def test_threads_of_one_process_do_not_overspend(path: Path) -> None:
    ledger = Ledger(path)
    ledger.set_limit("people", 1.0, 1e-9)
    refused = []

    def spend(number: int) -> None:
        for turn in range(4):
            try:
                ledger.open(Job("people", f"{number} {turn}"), 0.1, 1e-10)
            except BudgetError:
                refused.append(number)

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.account("people").spent[0] == 1
    assert len(refused) == 22


def test_no_one_else_can_read_the_ledger(path: Path) -> None:
    fill(path)
    assert path.stat().st_mode & 0o077 == 0
    assert HighWaterMark(path).path.stat().st_mode & 0o077 == 0


def test_looking_does_not_make_a_ledger(path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(path, create=False)
    assert not path.exists()


def test_the_default_ledger_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "mine"))
    assert default_ledger_path() == tmp_path / "mine"
    monkeypatch.delenv("UNDERSTUDY_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_ledger_path() == tmp_path / "understudy" / "ledger.sqlite"
    assert Ledger().path == default_ledger_path().resolve()
