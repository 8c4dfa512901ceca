"""The bytes of a file at any place, read when they are asked for.

Mapped into memory they would be quicker by a copy, and a file that is cut short meanwhile would kill the process.
"""

from __future__ import annotations

import os
import weakref

from understudy.data.file_places import read_at
from understudy.errors import FileError


class FileBytes:
    """A file of a size that must stay, whose bytes are read slice by slice."""

    def __init__(self, handle: int, shown: str) -> None:
        self._handle, self._shown = os.dup(handle), shown
        self._size = os.fstat(handle).st_size
        weakref.finalize(self, os.close, self._handle)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        """The bytes from one place to another."""
        start, end, _ = part.indices(self._size)
        found = bytearray()
        while start < end:
            read = read_at(self._handle, end - start, start)
            if not read:
                raise FileError(
                    f"file {self._shown!r}: was cut short while it was being read.",
                    hint="run it again on a copy.",
                )
            if len(read) == end - start and not found:
                return read
            found += read
            start += len(read)
        return bytes(found)
