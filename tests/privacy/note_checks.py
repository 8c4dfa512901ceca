"""What must hold of the notes beside a ledger: a short answer is on the disk, and drawn once, as any other is.

As `product_checks`: each check raises AssertionError where a promise is broken, and `test_ledger_notes` plants the
bugs.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from spending_checks import _refused, _unsynced

from understudy.errors import LedgerError
from understudy.privacy import Job, Ledger
from understudy.privacy.ledger.ledger import LedgerTranscript

ANSWERS = (b"3", b"14", b"159")


def opened(path: Path) -> LedgerTranscript:
    """The job that chooses."""
    return Ledger(path).open(Job("people", "chooses"), 0.5, 1e-7)


def chosen(path: Path, answers: tuple[bytes, ...] = ANSWERS) -> LedgerTranscript:
    """A job with short answers, which is not finished."""
    page = opened(path)
    for number, answer in enumerate(answers):
        page.charge(number, {"question": "choose"})
        page.store(number, answer)
    return page


def told(path: Path, most: int = len(ANSWERS)) -> tuple[bytes | None, ...]:
    """What a job that is resumed knows."""
    page = opened(path)
    return tuple(page.charge(number, {"question": "choose"}) for number in range(most))


def rows(path: Path) -> int:
    """How many entries the file itself has."""
    with closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    return int(found)


def check_a_noted_answer_is_on_the_disk_before_it_leaves(folder: Path) -> None:
    path = folder / "ledger"
    page = opened(path)
    with _unsynced() as dirty:
        for number, answer in enumerate(ANSWERS):
            page.charge(number, {"question": "choose"})
            page.store(number, answer)
            assert not dirty, "an answer left before its note and its mark were synced"
    assert rows(path) == 2, "a short answer was committed, which takes five syncs"


def check_a_noted_answer_is_drawn_once(folder: Path) -> None:
    """Whoever resumes the job gets the answers that are noted, before and after they are taken into the file."""
    path = folder / "ledger"
    chosen(path)
    try:
        page = opened(path)
        assert told(path) == ANSWERS, "a resumed job does not know what was noted"
        Ledger(path).set_limit("others", 1.0, 1e-6)  # another process commits
        assert rows(path) == 3 + 2 * len(ANSWERS), "a commit left notes behind"
        assert told(path) == ANSWERS, "an answer was lost as it was taken into the file"
        more = ANSWERS + ANSWERS
        chosen(path, more + ANSWERS)  # the first note of a file that begins anew, and longer than it was
        for number, answer in enumerate(more):
            found = page.charge(number, {"question": "choose"})
            assert found == answer, "what another process noted after a commit is not known"
        page.finish()
        (folder / "ledger.notes").unlink()
        assert told(path, len(more)) == more, "a finished job lives by its notes"
    except LedgerError as refusal:
        raise AssertionError(f"a ledger in use is refused: {refusal}") from refusal


def check_lost_notes_are_noticed(folder: Path) -> None:
    """Notes that are gone, cut, edited or older than the mark lead to a refusal, never to another draw."""
    path, notes = folder / "ledger", folder / "ledger.notes"
    chosen(path, ANSWERS[:1])
    older = notes.read_bytes()
    page = opened(path)
    for number, answer in enumerate(ANSWERS[1:], 1):
        page.charge(number, {"question": "choose"})
        page.store(number, answer)
    whole = notes.read_bytes()
    edited = whole.replace(b"choose", b"chosen")
    other = whole.replace(f'"{ANSWERS[2].hex()}"'.encode(), f'"{b"777".hex()}"'.encode())
    for text in (b"", older, whole[: len(whole) - 5], whole[len(older) :], edited, other):
        assert text != whole
        notes.write_bytes(text)
        _refused(lambda: told(path), "whose notes are gone")
    notes.unlink()
    _refused(lambda: told(path), "whose notes are gone")
    notes.write_bytes(whole)
    assert told(path) == ANSWERS
    shutil.copy(path, folder / "old")
    page.finish()
    notes.unlink()
    shutil.copy(folder / "old", path)  # from before the notes were taken into the file
    _refused(lambda: told(path), "of before its notes were taken along")


def check_a_note_counts_only_behind_the_entry_it_follows(folder: Path) -> None:
    """The notes of a ledger that lay here before are no part of the one that lies here now."""
    path = folder / "ledger"
    chosen(path)
    for name in ("ledger", "ledger.mark"):
        (folder / name).unlink()
    try:
        assert told(path, 1) == (None,), "a new ledger answers with an old one's notes"
        chosen(path, (b"9", b"8", b"7"))
        assert told(path) == (b"9", b"8", b"7")
    except LedgerError as refusal:
        raise AssertionError(f"a new ledger is refused for an old one's notes: {refusal}") from refusal
