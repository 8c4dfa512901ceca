"""Bytes of an open file read and written at a place, on systems that have calls for it and on those that have none.

Several threads may read one file. Windows has no `pread`: there its one position is moved, by one thread at a time,
and put back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_moving = threading.Lock()


def read_at(handle: int, size: int, place: int) -> bytes:
    """At most so many bytes from a place; none at the end."""
    if hasattr(os, "pread"):
        return os.pread(handle, size, place)
    with _moved(handle, place):
        return os.read(handle, size)


def read_into(handle: int, target: memoryview, place: int) -> int:
    """Fill what can be filled of the bytes of `target` from a place; how many that were."""
    if hasattr(os, "preadv"):
        return os.preadv(handle, [target], place)
    found = read_at(handle, len(target), place)
    target[: len(found)] = found
    return len(found)


def write_at(handle: int, data: memoryview, place: int) -> int:
    """Write what can be written of the data to a place; how many bytes that were."""
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, data, place)
    with _moved(handle, place):
        return os.write(handle, data)


@contextmanager
def _moved(handle: int, place: int) -> Iterator[None]:
    with _moving:
        before = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, place, os.SEEK_SET)
        try:
            yield
        finally:
            os.lseek(handle, before, os.SEEK_SET)
