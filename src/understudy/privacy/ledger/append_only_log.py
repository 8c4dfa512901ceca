"""A durable list of sealed entries in one SQLite file: only ever added to, one writer at a time.

The last entries may be `notes` beside the file, until a turn commits to it again. Every turn at the log verifies the
entries it has not seen yet and compares all of them with the mark. A log that is missing though its mark exists,
damaged, edited or older than its mark is refused. No connection outlives a turn, so a log may be shared by threads
and survive a fork.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from understudy.errors import LedgerError, UnderstudyError
from understudy.privacy.ledger.hash_chain import Entry, digest, follow, seal
from understudy.privacy.ledger.high_water_mark import HighWaterMark, sync_folder
from understudy.privacy.ledger.notes import Note, Notes

VERSION = 1
_APPLICATION = 0x554E4453  # "UNDS", kept in the file's header for us by SQLite
_WAIT = 60.0  # seconds a writer waits for its turn

_TABLES = (
    """CREATE TABLE IF NOT EXISTS entries (
        seq INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        job TEXT NOT NULL, body TEXT NOT NULL, content TEXT NOT NULL, previous TEXT NOT NULL,
        seal TEXT NOT NULL, answer BLOB) STRICT""",
    """CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END""",
    """CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END""",
    """CREATE TRIGGER IF NOT EXISTS in_order BEFORE INSERT ON entries
        WHEN NEW.seq != (SELECT coalesce(max(seq) + 1, 0) FROM entries)
        BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END""",
)
_OWN = frozenset(table.replace(" IF NOT EXISTS", "") for table in _TABLES)  # as SQLite keeps them in the file
_SHORT, _LONGEST = 1 << 16, 1_000_000_000  # bytes: of a short value, and of the longest answer
_FIELDS = "seq, time, kind, name, job, body, content, previous, seal"
RESTORE = "restore the newest copy of the ledger together with its .mark and .notes files."


class Turn:
    """A turn at the log: the right to add to it, and to read the answers of earlier entries."""

    def __init__(self, connection: sqlite3.Connection, last: Entry, noted: Mapping[int, Note]) -> None:
        self._connection, self._last, self._noted = connection, last, noted
        self.written: list[Note] = []

    def add(self, kind: str, name: str, job: str, body: Any, answer: bytes = b"") -> Entry:
        """The entry that was added; it counts once the turn ends well."""
        entry = seal(self._last, _now(), kind=kind, name=name, job=job, body=body, content=answer)
        self._last = entry
        self.written.append((entry, answer))
        return entry

    def answer(self, seq: int) -> bytes:
        """The answer stored with an entry, checked against its digest."""
        if seq in self._noted:
            return self._noted[seq][1]
        row = self._connection.execute("SELECT content, answer FROM entries WHERE seq = ?", (seq,)).fetchone()
        # In a damaged page an answer can be of another type: a number, say, of which bytes() makes as many zeros.
        answer = row[1] if row is not None and isinstance(row[1], bytes) else b""
        if row is None or digest(answer) != row[0]:
            raise LedgerError(f"the ledger is damaged: the answer of entry {seq} is not whole.", hint=RESTORE)
        return answer


class AppendOnlyLog:
    """The log in one file and its mark, verified as far as it has been read.

    `fold` is given every entry once, in order, as soon as it is verified or committed.
    """

    def __init__(self, path: Path, fold: Callable[[Entry], None], *, create: bool) -> None:
        self.path = path
        self._fold = fold
        self._lock = threading.Lock()
        self._mark, self._notes = HighWaterMark(path), Notes(path)
        self._seals: list[str] = []
        self._last: Entry | None = None
        self._noted: dict[int, Note] = {}  # the last entries, as far as they are not known to be in the file
        with self._faults():
            self._find(create)

    @contextmanager
    def turn(self, *, note: bool = False) -> Iterator[Turn]:
        """A turn; when it ends well, what was added is on the disk, and marked, before this returns.

        Where it is a `note`, that is beside the file, and takes two syncs instead of six: for little, often.
        """
        with self._lock, self._faults():
            if not self.path.exists():
                raise LedgerError(f"ledger {self.path} is missing.", hint=RESTORE)
            with closing(self._connect()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                turn = Turn(connection, self._catch_up(connection), self._noted)
                yield turn
                settled = bool(turn.written) and not note
                if settled:
                    self._insert(connection, [*self._noted.values(), *turn.written])
                elif turn.written:
                    self._notes.add(turn.written, first=not self._noted)
                connection.execute("COMMIT" if settled else "ROLLBACK")
            for entry, answer in turn.written:
                self._accept(entry)
                self._noted[entry.seq] = entry, answer
            if settled:
                self._noted.clear()
            if turn.written:
                last, _ = turn.written[-1]
                self._mark.reach(last.seq, last.seal)

    def _accept(self, entry: Entry) -> None:
        self._fold(entry)
        self._seals.append(entry.seal)
        self._last = entry

    def _catch_up(self, connection: sqlite3.Connection) -> Entry:
        """The last entry, once all that were added since the last turn are verified and none is lost."""
        self._limit(connection)  # again: nobody writes now
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            raise LedgerError(f"{self.path} is not a ledger, or is a damaged one.", hint=RESTORE)
        seen = len(self._seals) - len(self._noted)
        if seen:
            row = connection.execute("SELECT seal FROM entries WHERE seq = ?", (seen - 1,)).fetchone()
            if row is None or row[0] != self._seals[seen - 1]:
                raise self._replaced()
        else:
            self._check_made_here(connection)
        rows = connection.execute(f"SELECT {_FIELDS} FROM entries WHERE seq >= ? ORDER BY seq", (seen,))
        for row in rows:
            entry = Entry(*row)
            if self._noted.pop(entry.seq, None) is None:
                self._follow(entry)
            elif entry.seal != self._seals[entry.seq]:
                raise self._replaced()
        if not self._noted:
            self._notes.begin_anew()
        for entry, answer in self._notes.unread(len(self._seals)):
            last = self._seals[-1] if self._seals else ""
            if (
                entry.seq == len(self._seals) and entry.previous == last
            ):  # no note of a ledger that lay here before
                self._follow(entry)
                self._noted[entry.seq] = entry, answer
        if self._last is None:
            raise LedgerError(f"ledger {self.path} is damaged: it has no entries.", hint=RESTORE)
        self._compare()
        return self._last

    def _follow(self, entry: Entry) -> None:
        """Take the next entry, once it is verified."""
        follow(self._last, entry)
        try:
            self._accept(entry)
        except (ValueError, TypeError, LookupError) as fault:  # sealed, and yet not what its kind holds
            raise LedgerError(f"ledger {self.path} is damaged: entry {entry.seq}.", hint=RESTORE) from fault

    def _replaced(self) -> LedgerError:
        return LedgerError(f"ledger {self.path} was replaced by another copy.", hint=RESTORE)

    def _insert(self, connection: sqlite3.Connection, added: Sequence[Note]) -> None:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        for entry, answer in added:
            _insert(connection, entry, answer)

    def _limit(self, connection: sqlite3.Connection) -> None:
        """A damaged length would have SQLite ask for as much memory as it says: no value is longer than the file."""
        size = min(max(self.path.stat().st_size, _SHORT), _LONGEST)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, size)

    def _check_made_here(self, connection: sqlite3.Connection) -> None:
        """Refuse entries that are not the table that a ledger is made with, or that have another's triggers.

        What a file says of its own tables is run by whoever reads it: a view for a table could go on for ever.
        """
        kept = connection.execute(
            "SELECT sql FROM sqlite_master WHERE lower(tbl_name) = 'entries' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        )
        if not {sql for (sql,) in kept} <= _OWN:
            raise LedgerError(
                f"ledger {self.path} is damaged: its table is not one of a ledger.", hint=RESTORE
            )

    def _compare(self) -> None:
        """Raise a LedgerError unless every line of the mark stands in the log."""
        lost = self._mark.unmet(self._seals)
        if lost is None:
            return
        if lost >= len(self._seals):
            last = len(self._seals) - 1
            raise LedgerError(
                f"ledger {self.path} was rolled back: it ends at entry {last}, its mark at {lost}.",
                hint=RESTORE,
            )
        raise LedgerError(
            f"ledger {self.path} was edited: entry {lost} is not the one its mark knows.", hint=RESTORE
        )

    def _find(self, create: bool) -> None:
        """Make the file if it never was; raise a LedgerError where it is lost."""
        if self.path.is_dir():
            raise LedgerError(f"ledger {self.path} is a folder.", hint="give the path of a file.")
        there = self.path.exists()  # looked at before the mark: whoever makes a log makes its mark first
        if not self._mark.exists() or (not there and self._mark.empty()):
            if there:
                raise LedgerError(
                    f"ledger {self.path}: its mark file {self._mark.path.name} is missing, "
                    "so this may be an older copy.",
                    hint=RESTORE,
                )
            if not create:
                raise LedgerError(
                    f"there is no ledger at {self.path}.",
                    hint="the first fit makes one, and so does setting a limit.",
                )
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._mark.create()
        if not self._mark.intact():
            raise LedgerError(f"ledger {self.path}: its mark file is damaged.", hint=RESTORE)
        if not self._mark.begun():
            self._make()
        elif not self.path.exists():
            raise LedgerError(
                f"ledger {self.path} is missing, and its mark file shows that it was in use.", hint=RESTORE
            )

    def _make(self) -> None:
        """Make the file, or finish what a crash (or a process racing us) has begun."""
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        sync_folder(self.path.parent)
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            head = connection.execute(f"SELECT {_FIELDS} FROM entries WHERE seq = 0").fetchone()
            if head is None:
                body = {"version": VERSION, "id": uuid.uuid4().hex}
                first = seal(None, _now(), kind="ledger", name="", job="", body=body, content=b"")
                _insert(connection, first, b"")
            else:
                first = Entry(*head)
            connection.execute("COMMIT")
        self._mark.reach(first.seq, first.seal)

    def _connect(self) -> sqlite3.Connection:
        address = f"file:{quote(os.fsencode(self.path))}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=_WAIT, isolation_level=None)
        try:
            self._limit(connection)  # before a word of the file is read
            # One file, whole after every commit; and the journal's removal is synced as well.
            (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: past the disk's own cache
            (sync,) = connection.execute("PRAGMA synchronous").fetchone()
            if (mode, sync) != ("delete", 3):
                raise LedgerError(
                    f"ledger {self.path} cannot be used: SQLite would not sync what it writes.",
                    hint="close what else has the file open, and use a SQLite of 3.12 or later.",
                )
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Faults of the disk and of SQLite, and whatever a damaged file leads to, as LedgerErrors."""
        try:
            yield
        except UnderstudyError:
            raise
        except sqlite3.OperationalError as fault:
            busy = "locked" in str(fault)
            hint = "another process is writing; try again." if busy else "check the disk and the file."
            raise LedgerError(f"ledger {self.path} cannot be used: {fault}.", hint=hint) from fault
        except OSError as fault:
            raise unusable(self.path, fault) from fault
        # Of bytes that are not what was written SQLite's own messages may be no UTF-8, and lengths past any memory.
        except (sqlite3.Error, UnicodeError, MemoryError) as fault:
            why = str(fault) if isinstance(fault, sqlite3.Error) else type(fault).__name__
            raise LedgerError(f"ledger {self.path} is damaged: {why}.", hint=RESTORE) from fault


def unusable(path: object, fault: OSError) -> LedgerError:
    """A fault of the disk, as a LedgerError."""
    why = fault.strerror or type(fault).__name__
    return LedgerError(f"ledger {path} cannot be used: {why}.", hint="check the disk and the permissions.")


def _insert(connection: sqlite3.Connection, entry: Entry, answer: bytes) -> None:
    values = [getattr(entry, field) for field in _FIELDS.split(", ")]
    connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 10)})", [*values, answer or None])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
