"""Notes beside a ledger: the bugs that they could have, planted one by one; torn and raced ones."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import note_checks as checks
import pytest
from planting import Suite, run

from understudy.errors import LedgerError
from understudy.privacy import Job, Ledger
from understudy.privacy.ledger import append_only_log, notes
from understudy.privacy.ledger.append_only_log import AppendOnlyLog
from understudy.privacy.ledger.high_water_mark import HighWaterMark
from understudy.privacy.ledger.notes import Notes

SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


@caught_by(checks.check_a_noted_answer_is_on_the_disk_before_it_leaves)
def note_not_synced(patch):
    patch.setattr(notes, "sync", lambda descriptor: None)


@caught_by(checks.check_a_noted_answer_is_on_the_disk_before_it_leaves)
def short_answers_committed(patch):
    turn = AppendOnlyLog.turn
    patch.setattr(AppendOnlyLog, "turn", lambda self, note=False: turn(self))


@caught_by(checks.check_a_noted_answer_is_drawn_once)
def notes_never_read(patch):
    patch.setattr(Notes, "unread", lambda self, start: [])


@caught_by(checks.check_a_noted_answer_is_drawn_once)
def notes_left_behind_by_a_commit(patch):
    insert = AppendOnlyLog._insert
    patch.setattr(AppendOnlyLog, "_insert", lambda self, to, added: insert(self, to, added[-1:]))


@caught_by(checks.check_a_noted_answer_is_drawn_once)
def first_note_after_a_commit_overlooked(patch):
    patch.setattr(Notes, "begin_anew", lambda self: None)


@caught_by(checks.check_lost_notes_are_noticed)
def notes_not_marked(patch):
    reach = HighWaterMark.reach

    def lazy(self, seq, seal):
        if seq < 2:
            reach(self, seq, seal)

    patch.setattr(HighWaterMark, "reach", lazy)


@caught_by(checks.check_lost_notes_are_noticed)
def answer_of_a_note_not_compared_with_its_digest(patch):

    class Anything(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            return True

    patch.setattr(notes, "digest", lambda content: Anything())


@caught_by(checks.check_a_note_counts_only_behind_the_entry_it_follows)
def note_of_another_ledger_taken_for_the_next_entry(patch):
    class Always(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            return True

    entry = notes.Entry
    patch.setattr(notes, "Entry", lambda *fields: entry(*fields[:7], Always(fields[7]), *fields[8:]))


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_every_check_has_a_bug():
    assert not SUITE.idle()


def test_a_torn_note_was_never_answered_and_is_written_again(tmp_path: Path) -> None:
    page = checks.chosen(tmp_path / "ledger", checks.ANSWERS[:2])
    del page
    with (tmp_path / "ledger.notes").open("ab") as file:
        file.write(b'\n[6,"2026-01-01T00:00:00+00:00","cha')  # a crash in the middle of a line
    assert checks.told(tmp_path / "ledger") == (*checks.ANSWERS[:2], None)
    again = checks.opened(tmp_path / "ledger")
    again.charge(2, {"question": "choose"})
    again.store(2, b"5")
    assert checks.told(tmp_path / "ledger") == (*checks.ANSWERS[:2], b"5")


def test_a_note_that_the_disk_does_not_take_is_not_answered(tmp_path: Path, monkeypatch) -> None:
    page = checks.chosen(tmp_path / "ledger", checks.ANSWERS[:1])
    page.charge(1, {"question": "choose"})
    write = os.write
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", lambda descriptor, text: write(descriptor, text[: len(text) // 2]))
        with pytest.raises(LedgerError, match="only part of a note"):
            page.store(1, b"2")
    assert checks.told(tmp_path / "ledger", 2) == (checks.ANSWERS[0], None)
    assert page.store(1, b"4") == b"4"  # the draw that stands
    assert checks.told(tmp_path / "ledger", 2) == (checks.ANSWERS[0], b"4")


def _choose(path: Path, number: int) -> None:
    page = checks.opened(path)
    seen = []
    for question in range(40):
        if page.charge(question, {"question": "choose"}) is None:
            seen.append(page.store(question, b"%d" % (1000 * number + question)))
        if question % 7 == number:
            Ledger(path).open(Job("people", f"{number} {question}"), 1e-3, 1e-10)  # commits
    (path.parent / f"seen{number}").write_bytes(b" ".join(seen))


def test_processes_that_race_through_one_job_note_and_commit_one_answer_a_question(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    Ledger(path)
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_choose, args=(path, number)) for number in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    stands = checks.told(path, 40)
    assert None not in stands
    for number in range(3):
        seen = (tmp_path / f"seen{number}").read_bytes().split()
        assert set(seen) <= set(stands)


def test_a_ledger_without_notes_is_as_it_was(tmp_path: Path) -> None:
    checks.opened(tmp_path / "ledger").charge(0, {"question": "measure"})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger", "ledger.mark"]
    assert append_only_log.VERSION == 1
