"""Where a CSV file is broken: ragged rows and quotes that never close, by line and without content."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from understudy.data.files.raw_file import Bytes, RawFile
from understudy.domain.dialect import Dialect
from understudy.errors import FileError

_WINDOW = 16 << 20
ENCODED = (
    'if it is text, say its encoding in the schema, as encoding = "latin-1" under [table]: '
    "`understudy schema FILE` finds it. Or save it as UTF-8."
)


def quotes_close(content: Bytes, delimiter: str) -> bool:
    """Whether every quote plainly opens or closes a field (or is half of a doubled one).

    In such a file the quotes take turns: every first one follows a delimiter, a line's end or a quote, and
    every second one precedes one. False means that a slower look must decide.
    """
    beside = np.zeros(256, np.bool_)
    beside[[ord(delimiter), 10, 13, 34]] = True
    codes = np.frombuffer(content, np.uint8)
    skip = 3 if bytes(content[:3]) == b"\xef\xbb\xbf" else 0
    count = 0
    for start in range(skip, len(codes), _WINDOW):
        places = np.flatnonzero(codes[start : start + _WINDOW] == 34) + start
        opening, closing = places[count % 2 :: 2], places[1 - count % 2 :: 2]
        before = opening[opening > skip] - 1
        after = closing[closing + 1 < len(codes)] + 1
        if not (beside[codes[before]].all() and beside[codes[after]].all()):
            return False
        count += len(places)
    return count % 2 == 0


def csv_rows(lines: Iterable[str], dialect: Dialect, *, strict: bool = True) -> Any:
    """The rows as the standard library tells them apart."""
    signs: Any = {"delimiter": dialect.delimiter or ",", "escapechar": dialect.escape, "strict": strict}
    if dialect.quoting == "none":
        return csv.reader(lines, quoting=csv.QUOTE_NONE, **signs)
    return csv.reader(lines, quotechar=dialect.quote or '"', **signs)


class _Layout(Protocol):
    """What must be known of a text file to tell where it is broken: see `header_line.TextLayout`."""

    @property
    def delimiter(self) -> str: ...

    @property
    def quotes(self) -> bool: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def header_lines(self) -> int: ...


def find_fault(raw: RawFile, content: Bytes, layout: _Layout, *, strict: bool) -> FileError | None:
    """The first row with another number of fields than the header, or a quote out of place, if any."""
    before, width = 0, len(layout.names)
    with _long_fields():
        usual = Dialect(layout.delimiter, quoting=None if layout.quotes else "none")
        reader = csv_rows(_lines(content), usual, strict=strict)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return None
            except csv.Error:
                return raw.fault(
                    "a quote is not closed, or text follows a closing quote",
                    line=before + 1,
                    hint='a quote inside a quoted field is written twice: "".',
                )
            if row and len(row) != width and before >= layout.header_lines - 1:
                return raw.fault(
                    f"{len(row)} fields where the header has {width}",
                    line=before + 1,
                    hint="quote fields that hold the delimiter, and give every row as many fields. If notes "
                    "stand before the header, say how many lines: skip = 2 under [table] of the schema.",
                )
            before = reader.line_num


def _lines(content: Bytes) -> Iterator[str]:
    """The lines of the text, at any kind of line end; bytes that are not UTF-8 are left to others."""
    return io.TextIOWrapper(
        io.BufferedReader(_View(content), 1 << 20), encoding="utf-8-sig", errors="replace", newline=""
    )


class _View(io.RawIOBase):
    """Bytes in memory as a stream, without a copy of them."""

    def __init__(self, content: Bytes) -> None:
        super().__init__()
        self._content, self._place = memoryview(content), 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any, /) -> int:
        part = self._content[self._place : self._place + len(target)]
        target[: len(part)] = part
        self._place += len(part)
        return len(part)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Fields of any length: an unclosed quote makes one of the whole rest of the file."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def encoding_fault(raw: RawFile, content: Bytes) -> Exception:
    """The error for text that is not UTF-8, with the first line where it is not."""
    line = None
    for number, text in enumerate(_byte_lines(content), start=1):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            line = number
            break
    return raw.fault("is not UTF-8 text", line=line, hint=ENCODED)


def _byte_lines(content: Bytes) -> Iterable[bytes]:
    """The lines of some bytes, one at a time."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end + 1
        yield bytes(content[start:end])
        start = end


def nul_fault(raw: RawFile, content: Bytes, place: int) -> Exception:
    """The error for a NUL byte, with its line."""
    line, start = 1, 0
    while 0 <= (start := content.find(b"\n", start) + 1) <= place and start:
        line += 1
    return raw.fault("holds a NUL byte, which no text does", line=line, hint=ENCODED)
