"""The notes of a ledger: its last entries, as far as no commit has taken them into its file yet.

A commit of SQLite takes five syncs of the disk, and a run may choose a thousand times. What is short and asked often
is therefore noted in a text file beside the ledger, one line an entry with its answer, written and synced, and then
marked, before its turn returns: two syncs. Notes are written and read under the ledger's lock; the next commit takes
them along, and the first note after it begins the file anew. Notes that are lost leave a mark that no entry meets.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from understudy.privacy.ledger.hash_chain import Entry, canonical, digest
from understudy.privacy.ledger.high_water_mark import sync, sync_folder

Note = tuple[Entry, bytes]  # an entry with its answer


class Notes:
    """The notes of one ledger. Only who holds its lock may call anything here."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + ".notes")
        self._read = 0

    def begin_anew(self) -> None:
        """No note is known to count, so the file may begin anew whenever somebody notes something."""
        self._read = 0

    def add(self, notes: Sequence[Note], *, first: bool) -> None:
        """Note some entries, the `first` of a new file or after those there; on return they are on the disk."""
        lines = [canonical([*astuple(entry), answer.hex()]).encode() for entry, answer in notes]
        text = b"".join(b"\n" + line + b"\n" for line in lines)  # apart from a line that a crash tore
        # On Windows a file that is not binary gets other ends of lines.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        there = self.path.exists()
        descriptor = os.open(self.path, flags | (os.O_TRUNC if first else 0), 0o600)
        try:
            if os.write(descriptor, text) != len(text):
                raise OSError(errno.ENOSPC, "the disk took only part of a note")
            sync(descriptor)
        finally:
            os.close(descriptor)
        self._read = 0 if first else self._read
        if not there:
            sync_folder(self.path.parent)

    def unread(self, start: int) -> list[Note]:
        """The notes that were not read yet, of entries from `start` on, in order, on the disk, none torn."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read:
                    self._read = 0  # somebody cut the file: read all of it again
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text.rfind(b"\n") + 1
        self._read += whole
        found = [note for note in map(_noted, text[:whole].split(b"\n")) if note and note[0].seq >= start]
        if found:  # whoever wrote them may have been killed before they were synced
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                sync(descriptor)
            finally:
                os.close(descriptor)
        return found


def _noted(line: bytes) -> Note | None:
    """The entry of a line, with its answer, or None where that is no whole one."""
    try:
        seq, *texts, answer = json.loads(line)
        entry, content = Entry(seq, *texts), bytes.fromhex(answer)
    except (ValueError, TypeError, RecursionError):
        return None
    whole = type(seq) is int and {*map(type, texts)} == {str} and digest(content) == entry.content
    return (entry, content) if whole else None
