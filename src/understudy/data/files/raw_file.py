"""A file's bytes, whatever they are: told apart by content, unpacked within bounds.

Faults are operator errors. Their messages name the file, the line and the rule, and never a byte of the
content, so the errors of the libraries underneath are replaced and not chained.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from understudy.errors import FileError

Path_ = str | os.PathLike[str]
Bytes = bytes | bytearray

# A gzipped file may unpack to this much at once; beyond it only what a plausible table can: 100 to 1.
UNPACKED_FREELY = 256 << 20
UNPACKED_RATIO = 100
UNPACKED_MOST = 8 << 30
CHUNK = 1 << 20

PARQUET, ARROW_FILE, ARROW_STREAM, TEXT = "Parquet", "Arrow file", "Arrow stream", "CSV"
EXCEL, JSON_LINES = "Excel sheet", "JSON lines"
UNTYPED = (TEXT, EXCEL, JSON_LINES)  # kinds whose columns declare no types
_EXTENSIONS = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW_FILE,
    ".ipc": ARROW_FILE,
    ".feather": ARROW_FILE,
    ".arrows": ARROW_STREAM,
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
}
# The first bytes of files that are not tables, or not ones that can be read here.
_REFUSED = {
    b"PARE": ("is an encrypted Parquet file", "decrypt it first."),
    b"PK\x03\x04": ("is a zip archive", "unpack it; a spreadsheet ends in .xlsx."),
    b"\xd0\xcf\x11\xe0": (
        "is an old or encrypted spreadsheet",
        "save it as .xlsx or CSV, without a password.",
    ),
    b"FEA1": ("is a Feather file of version 1", "save it as Arrow or Parquet."),
    b"BZh": ("is packed with bzip2", "unpack it, or pack it with gzip."),
    b"\xfd7zXZ": ("is packed with xz", "unpack it, or pack it with gzip."),
    b"\x28\xb5\x2f\xfd": ("is packed with Zstandard", "unpack it, or pack it with gzip."),
}


@dataclass(frozen=True)
class RawFile:
    """A file that exists, can be read and is not empty: its name, kind and whether it is gzipped.

    With an `encoding` its bytes come as UTF-8, whatever they are in the file: what cannot be decoded, and NUL, as the
    mark U+FFFD. Without, they come as they are. `requoted` makes the usual quotes of others, line by line.
    """

    path: Path
    kind: str
    gzipped: bool
    encoding: str = ""
    requoted: Callable[[Iterable[str]], Iterator[str]] | None = None

    def fault(self, what: str, *, line: int | None = None, hint: str = "") -> FileError:
        """An error that names this file, and a line of it."""
        where = f", line {line:,}" if line is not None else ""
        return FileError(f"file {str(self.path)!r}{where}: {what}.", hint=hint)

    @property
    def plain(self) -> bool:
        """Whether its bytes are those on disk."""
        return not self.gzipped and not self.encoding and self.requoted is None

    @contextmanager
    def content(self, *, allow_large: bool = False) -> Iterator[Bytes]:
        """All bytes of the file, unpacked within the bounds above."""
        if not self.plain:
            content = bytearray()
            for chunk in self.unpacked(None if allow_large else UNPACKED_MOST):
                content += chunk
            yield content
            return
        with open(self.path, "rb") as file:
            yield file.read()  # mapped, a file that is cut short meanwhile would kill the process

    def start(self, most: int) -> bytes:
        """The first bytes of the file, unpacked, at most so many."""
        with self.opened() as file, self.unpacking():
            start: bytes = file.read(most)
        return b"".join(self._readable([start], whole=False))

    def opened(self) -> Any:
        """Its bytes as a stream, unpacked."""
        return gzip.open(self.path, "rb") if self.gzipped else open(self.path, "rb")

    def unpacked(self, most: int | None = UNPACKED_MOST) -> Iterator[bytes]:
        """The bytes in chunks; of a gzipped file, as long as it unpacks to what a plausible table can."""
        return self._readable(self._chunks(most))

    def _readable(self, chunks: Iterable[bytes], *, whole: bool = True) -> Iterator[bytes]:
        """Bytes of the file in UTF-8 and in the usual quotes."""
        decoded = _as_utf8(chunks, self.encoding, whole=whole) if self.encoding else iter(chunks)
        if self.requoted is None:
            return decoded
        texts = codecs.iterdecode(decoded, "utf-8-sig", "strict" if whole else "ignore")
        return (text.encode() for text in self.requoted(_lines(texts)))

    def _chunks(self, most: int | None) -> Iterator[bytes]:
        packed, size = self.path.stat().st_size, 0
        with self.opened() as file, self.unpacking():
            while chunk := file.read(CHUNK):
                size += len(chunk)
                if (
                    self.gzipped
                    and most is not None
                    and (size > most or (size > UNPACKED_FREELY and size > UNPACKED_RATIO * packed))
                ):
                    raise self.fault(
                        f"unpacks to more than {size >> 20:,} MiB from {packed:,} bytes",
                        hint="unpack it yourself if it is meant to be so large.",
                    )
                yield chunk

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """What goes wrong inside is a fault of the file."""
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


def _as_utf8(chunks: Iterable[bytes], encoding: str, *, whole: bool = True) -> Iterator[bytes]:
    """Bytes of an encoding as UTF-8, without a byte order mark; no byte raises, and none changes others but its own
    character. Of a start that is not the `whole`, a character that is cut off is left out."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    opening = True
    for chunk in chain(chunks, (b"",)):  # none but the last is empty
        text = decoder.decode(chunk, final=whole and not chunk).replace("\0", "\ufffd")
        text = text.removeprefix("\ufeff") if opening else text
        opening = opening and not text
        yield text.encode("utf-8", "replace")


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in chunks, with whatever ends them."""
    rest = ""
    for text in texts:
        *lines, rest = re.split("(?<=\n)|(?<=\r)(?!\n)(?!\\Z)", rest + text)
        yield from lines
    yield rest


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
    if suffix in (".xlsx", ".xlsm") and head.startswith(b"PK"):
        return RawFile(path, EXCEL, False)
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
    gzipped = head.startswith(b"\x1f\x8b")
    ending = path.suffixes[-2:-1] if suffix == ".gz" else [suffix]
    lines = any(end.lower() in (".jsonl", ".ndjson") for end in ending)
    return RawFile(path, JSON_LINES if lines else TEXT, gzipped)
