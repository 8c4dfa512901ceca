"""A CSV file in pieces that end where a record ends, each read as `delimited` reads a whole file.

A cell has one code however its column was read, so a piece whose column comes as text beside one whose column
comes as numbers gives the same codes as the whole file would.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from understudy.data.files.file_bytes import FileBytes
from understudy.data.files.raw_file import RawFile
from understudy.data.files.table_file import TableFile
from understudy.data.files.text import delimited
from understudy.data.files.text.header_line import BOM, layout_of
from understudy.data.scratch import scratch_folder
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, OperatorError

_Read = Callable[[bytes, Sequence[str], Mapping[str, pa.DataType]], pa.Table]

MOST_UNPACKED = 1 << 44  # to disk; what unpacks to a hundred times its size is refused before that
PIECE = 32 << 20  # bytes read at a time


class TextFile(TableFile):
    """A CSV file; one that is gzipped, or not in UTF-8, is unpacked to a nameless file on disk."""

    is_text = True

    def __init__(self, found: RawFile, declared: Dialect | None) -> None:
        self._layout = layout_of(found, declared)
        super().__init__(self._layout.raw)
        self._unpacked: FileBytes | None = None
        self.dialect = self._layout.dialect
        self.types = pa.schema([(name, pa.string()) for name in self._layout.names])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        wanted = {name: kind for name, kind in types.items() if not pa.types.is_null(kind)}
        for content, read in self._readers():
            yield from read(content, columns, wanted).combine_chunks().to_batches()

    def _readers(self) -> Iterator[tuple[bytes, _Read]]:
        """Every piece, with the function that reads it."""
        content = self._content()
        for start, end in self._pieces(content):
            piece = _Piece(
                self.path,
                self.raw.kind,
                self.raw.gzipped,
                lines_before=partial(_lines_before, content, start),
            )
            yield content[start:end], partial(self._read, piece, start == 0)

    def _read(
        self,
        piece: RawFile,
        headed: bool,
        content: bytes,
        columns: Sequence[str],
        types: Mapping[str, pa.DataType],
    ) -> pa.Table:
        return delimited.read_text(
            piece,
            content,
            self._layout,
            types=types,
            columns=columns,
            null_texts=delimited.EMPTY_CELL,
            headed=headed,
        )

    def _content(self) -> FileBytes:
        if self.raw.plain:
            with open(self.path, "rb") as file:
                return FileBytes(file.fileno(), str(self.path))
        if self._unpacked is None:
            self._unpacked = _unpack(self.raw)
        return self._unpacked

    def _pieces(self, content: FileBytes) -> Iterator[tuple[int, int]]:
        """The places in the file at which each piece begins and ends."""
        start, size = 0, PIECE
        while start < len(content):
            end = self._end(content, start, min(start + size, len(content)))
            if end <= start:
                if size >= delimited.MOST_BLOCK:
                    raise self.fault(f"holds a record of more than {delimited.MOST_BLOCK >> 20:,} MiB")
                size *= 4
                continue
            yield start, end
            start, size = end, PIECE

    def _end(self, content: FileBytes, start: int, target: int) -> int:
        """Where the last record ends that is whole between `start` and `target`; `start` when none is."""
        if target == len(content):
            return target
        piece = content[start:target]
        if not self._layout.quotes or piece.find(b'"') < 0:
            return start + max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, len(piece) - 1)) + 1
        from understudy.data.files.text.record_ends import end_of_records  # Numba takes a while to import

        skip = len(BOM) if not start and piece.startswith(BOM) else 0
        return start + end_of_records(piece, self._layout.delimiter, skip=skip)


@dataclass(frozen=True)
class _Piece(RawFile):
    """A piece of a file, whose faults are told by the lines of the whole."""

    lines_before: Callable[[], int] = lambda: 0

    def fault(self, what: str, *, line: int | None = None, hint: str = "") -> FileError:
        return super().fault(what, line=None if line is None else line + self.lines_before(), hint=hint)


def _lines_before(content: FileBytes, place: int) -> int:
    """How many lines end before a place in the file, by any of the three line ends."""
    lines = 0
    for start in range(0, place, PIECE):
        end = min(start + PIECE, place)
        piece = content[start : end + 1]  # one more, so that no pair is cut
        lines += piece.count(b"\n", 0, end - start) + piece.count(b"\r", 0, end - start)
        lines -= piece.count(b"\r\n")
    return lines


def _unpack(found: RawFile) -> FileBytes:
    """A file, unpacked and decoded into another on disk that has no name."""
    try:
        with tempfile.TemporaryFile(dir=scratch_folder()) as file:
            for chunk in found.unpacked(MOST_UNPACKED):
                file.write(chunk)
            file.flush()
            return FileBytes(file.fileno(), str(found.path))
    except OSError as error:
        raise OperatorError(
            f"file {str(found.path)!r} could not be unpacked: {error.strerror}.",
            hint="set TMPDIR to a folder with more room, or unpack it yourself.",
        ) from None
