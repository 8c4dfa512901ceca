"""The high-water mark beside a ledger: how far it had come, so that an older copy is noticed.

A text file that is only ever appended to, one line `seq seal` for the last entry of each turn, written and synced
after the commit and before the turn returns: so before anything is counted for a job, and before an answer leaves.
Appends of one short line need no lock: lines may land out of order, a line torn by a crash is no line, and what
counts is the highest. The first line, `creating`, is there before the ledger itself, so a ledger without a mark, and
a mark without a ledger, can only mean that a file was lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_LINE = re.compile(rb"(\d{1,18}) ([0-9a-f]{64})")
_CREATING = b"creating"


class HighWaterMark:
    """The mark file of one ledger."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + ".mark")
        self._read = 0

    def exists(self) -> bool:
        """Whether there is a mark file."""
        return self.path.exists()

    def empty(self) -> bool:
        """Whether the file was made and nothing was written to it: who made it was killed, or is about to write."""
        return self.path.stat().st_size == 0

    def intact(self) -> bool:
        """Whether the file begins as a mark does."""
        with self.path.open("rb") as file:
            return file.read(len(_CREATING) + 2).strip() == _CREATING

    def create(self) -> None:
        """Say that a ledger is about to be made here."""
        self._append(_CREATING)
        sync_folder(self.path.parent)

    def reach(self, seq: int, seal: str) -> None:
        """Raise the mark to an entry; on return the line is on the disk."""
        self._append(f"{seq} {seal}".encode())

    def begun(self) -> bool:
        """Whether any entry was ever acted on; if not, a ledger was only about to be made."""
        return bool(_lines(self.path.read_bytes()))

    def unmet(self, seals: Sequence[str]) -> int | None:
        """The highest entry acted on that `seals` lacks or has otherwise; None where all stand.

        Lines that were met are not read again.
        """
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < self._read:
                self._read = 0  # somebody cut the file: read all of it again
            file.seek(self._read)
            fresh = file.read()
        whole = fresh.rfind(b"\n") + 1  # a line that is being written is read next time
        lost = [seq for seq, seal in _lines(fresh[:whole]) if seq >= len(seals) or seals[seq] != seal]
        if lost:
            return max(lost)
        self._read += whole
        return None

    def _append(self, line: bytes) -> None:
        # The newline in front keeps a line that a crash tore apart from swallowing this one.
        # On Windows a file that is not binary gets other ends of lines, and lines with those are none.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            text = b"\n" + line + b"\n"
            if os.write(descriptor, text) != len(text):
                raise OSError(f"{self.path.name}: the disk took only part of a line")
            sync(descriptor)
        finally:
            os.close(descriptor)


def _lines(text: bytes) -> list[tuple[int, str]]:
    found = (_LINE.fullmatch(line) for line in text.split(b"\n"))
    return [(int(match[1]), match[2].decode()) for match in found if match]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable (a no-op where folders cannot be opened)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Have the disk itself hold what was written: macOS has a call of its own for that."""
    with suppress(ImportError, KeyError, OSError):  # Windows; other systems; a file system without it
        import fcntl

        fcntl.fcntl(descriptor, vars(fcntl)["F_FULLFSYNC"])
        return
    os.fsync(descriptor)
