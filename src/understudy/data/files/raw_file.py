"""A file's bytes, whatever they are: told apart by content, unpacked within bounds.

Faults are operator errors. Their messages name the file, the line and the rule, and never a byte of the
content, so the errors of the libraries underneath are replaced and not chained.
"""

from __future__ import annotations

import gzip
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from understudy.errors import FileError

Path_ = str | os.PathLike[str]
Bytes = bytes | bytearray | mmap.mmap

# A gzipped file may unpack to this much at once; beyond it only what a plausible table can: 100 to 1.
UNPACKED_FREELY = 256 << 20
UNPACKED_RATIO = 100
UNPACKED_MOST = 8 << 30
CHUNK = 1 << 20

PARQUET, ARROW_FILE, ARROW_STREAM, TEXT = "Parquet", "Arrow file", "Arrow stream", "CSV"
_EXTENSIONS = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW_FILE,
    ".ipc": ARROW_FILE,
    ".feather": ARROW_FILE,
    ".arrows": ARROW_STREAM,
}
# The first bytes of files that are not tables, or not ones that can be read here.
_REFUSED = {
    b"PARE": ("is an encrypted Parquet file", "decrypt it first."),
    b"PK\x03\x04": ("is a zip archive or a spreadsheet", "unpack it, or save it as CSV."),
    b"\xd0\xcf\x11\xe0": ("is an old spreadsheet", "save it as CSV."),
    b"FEA1": ("is a Feather file of version 1", "save it as Arrow or Parquet."),
    b"\xff\xfe": ("is UTF-16 text", "save it as UTF-8."),
    b"\xfe\xff": ("is UTF-16 text", "save it as UTF-8."),
    b"BZh": ("is packed with bzip2", "unpack it, or pack it with gzip."),
    b"\xfd7zXZ": ("is packed with xz", "unpack it, or pack it with gzip."),
    b"\x28\xb5\x2f\xfd": ("is packed with Zstandard", "unpack it, or pack it with gzip."),
}


@dataclass(frozen=True)
class RawFile:
    """A file that exists, can be read and is not empty: its name, kind and whether it is gzipped."""

    path: Path
    kind: str
    gzipped: bool

    def fault(self, what: str, *, line: int | None = None, hint: str = "") -> FileError:
        """An error that names this file, and a line of it."""
        where = f", line {line:,}" if line is not None else ""
        return FileError(f"file {str(self.path)!r}{where}: {what}.", hint=hint)

    @contextmanager
    def content(self, *, allow_large: bool = False) -> Iterator[Bytes]:
        """All bytes of the file: mapped, or unpacked in memory within the bounds above."""
        if self.gzipped:
            yield self._unpack(None if allow_large else UNPACKED_MOST)
            return
        with open(self.path, "rb") as file:
            # Unmapped with its last reader: closing it here would fail while Arrow still looks at it.
            yield mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def start(self, most: int) -> bytes:
        """The first bytes of the file, unpacked, at most so many."""
        with self._opened() as file, self._unpacking():
            start: bytes = file.read(most)
            return start

    def _opened(self) -> Any:
        return gzip.open(self.path, "rb") if self.gzipped else open(self.path, "rb")

    def _unpack(self, most: int | None) -> bytearray:
        content = bytearray()
        for chunk in self.unpacked(most):
            content += chunk
        return content

    def unpacked(self, most: int | None = UNPACKED_MOST) -> Iterator[bytes]:
        """The bytes of a gzipped file in chunks, as long as it unpacks to what a plausible table can."""
        packed, size = self.path.stat().st_size, 0
        with self._opened() as file, self._unpacking():
            while chunk := file.read(CHUNK):
                size += len(chunk)
                if most is not None and (
                    size > most or (size > UNPACKED_FREELY and size > UNPACKED_RATIO * packed)
                ):
                    raise self.fault(
                        f"unpacks to more than {size >> 20:,} MiB from {packed:,} bytes",
                        hint="unpack it yourself if it is meant to be so large.",
                    )
                yield chunk

    @contextmanager
    def _unpacking(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self.fault("is a damaged or truncated gzip file", hint="fetch it again.") from None


def open_raw(path: Path_) -> RawFile:
    """The file at `path`, once it is known to be there, readable and of a kind that holds a table."""
    place = Path(path)
    shown = str(place)
    try:
        if place.is_dir():
            raise FileError(f"{shown!r} is a folder.", hint="name one file in it.")
        if not place.exists():
            raise FileError(f"there is no file {shown!r}.", hint="check the path.")
        if not place.is_file():
            raise FileError(f"{shown!r} is not a regular file.", hint="copy the data to a file first.")
        with open(place, "rb") as file:
            head, tail = _ends(file)
    except FileError:
        raise
    except (OSError, ValueError):  # ValueError: a NUL in the path
        raise FileError(
            f"file {shown!r} cannot be read.", hint="check the path and its permissions."
        ) from None
    return _recognise(place, head, tail)


def _ends(file: IO[bytes]) -> tuple[bytes, bytes]:
    head = file.read(8)
    file.seek(max(0, file.seek(0, os.SEEK_END) - 8))
    return head, file.read(8)


def _recognise(path: Path, head: bytes, tail: bytes) -> RawFile:
    suffix = path.suffix.lower()
    kind = _EXTENSIONS.get(suffix)
    refuse: Callable[..., FileError] = RawFile(path, "", False).fault
    if not head:
        raise refuse("is empty", hint="a table needs at least a header line.")
    for magic, (what, hint) in _REFUSED.items():
        if head.startswith(magic):
            raise refuse(what, hint=hint)
    if head.startswith(b"PAR1"):
        if tail.endswith(b"PARE"):
            raise refuse("is an encrypted Parquet file", hint="decrypt it first.")
        return RawFile(path, PARQUET, False)
    if head.startswith(b"ARROW1"):
        return RawFile(path, ARROW_FILE, False)
    if kind == ARROW_STREAM or (kind == ARROW_FILE and head.startswith(b"\xff\xff\xff\xff")):
        return RawFile(path, ARROW_STREAM, False)
    if head.startswith(b"\xff\xff\xff\xff"):
        return RawFile(path, ARROW_STREAM, False)
    if kind is not None:
        raise refuse(f"is not the {kind} that its name says, or is damaged", hint="write it again.")
    if suffix == ".gz" and not head.startswith(b"\x1f\x8b"):
        raise refuse("is not the gzip file that its name says", hint="rename it, or pack it again.")
    return RawFile(path, TEXT, head.startswith(b"\x1f\x8b"))
