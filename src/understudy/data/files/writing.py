"""Tables out: CSV (plain or gzipped), Parquet, Arrow files and streams; whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from understudy.data.files.atomic import is_device, whole_file
from understudy.data.files.frames import from_frame
from understudy.data.progress_bar import progress
from understudy.errors import FileError, ParameterError

SLICE = 1 << 15  # records rendered to text at a time
# What a spreadsheet takes for the start of a formula, also after space; and what is a number all the same.
FORMULA = r"^[\s]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r\n]"
PLAIN_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}


class _Format(Protocol):
    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


def write(
    table: Any,
    path: str | os.PathLike[str],
    *,
    missing: Mapping[str, str] | None = None,
    delimiter: str = "",
    spreadsheet: bool = False,
) -> None:
    """Write a table of any kind that `read` takes, in the format that the path's extension names.

    In CSV a missing value is an empty cell, or the text that `missing` gives for its column. With `spreadsheet`,
    a text in CSV that a spreadsheet would take for a formula has a ' before it; numbers stay as they are.
    """
    whole = from_frame(table)
    with (
        progress(f"writing {Path(path).name}", total=whole.num_rows) as advance,
        Writer(path, missing=missing, delimiter=delimiter, advance=advance, spreadsheet=spreadsheet) as file,
    ):
        file.write(whole)


class Writer:
    """A file written table by table, all with the columns of the first; it appears when the `with` ends.

    If the block is left by an exception, nothing appears and nothing is left behind.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema | None = None,
        *,
        missing: Mapping[str, str] | None = None,
        delimiter: str = "",
        advance: Callable[[float], object] | None = None,
        spreadsheet: bool = False,
    ) -> None:
        self._path, self._schema = path, schema
        self._missing, self._advance = dict(missing or {}), advance
        self._open = _format_of(path, delimiter, spreadsheet)
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None
        self._format: _Format | None = None

    def __enter__(self) -> Writer:
        self._file = self._stack.enter_context(whole_file(self._path))
        return self

    def write(self, table: pa.Table | pa.RecordBatch) -> None:
        """Append a table."""
        if self._file is None:
            raise ParameterError("a Writer writes inside its `with` block.")
        whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        if self._schema is None:
            self._schema = whole.schema
        if whole.schema.names != self._schema.names:
            raise ParameterError("a table has other columns than the first one written to the same file.")
        if whole.schema.types != self._schema.types:
            whole = whole.cast(self._schema)
        self._formatted().write(whole)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None and self._format is not None:
            with suppress(Exception):  # so that nothing tries to finish a file that is gone
                self._format.close()
        try:
            if kind is None:
                if self._schema is None:
                    raise ParameterError(
                        "nothing was written.", hint="write one table, if only an empty one."
                    )
                self._formatted().close()
        except BaseException as late:
            self._stack.__exit__(type(late), late, late.__traceback__)
            raise
        finally:
            self._file = None
        return self._stack.__exit__(kind, error, trace)

    def _formatted(self) -> _Format:
        if self._format is None:
            self._format = self._open(self._file, self._schema, self._missing, self._advance)
        return self._format


class _Text:
    """CSV: a header, then slices of records rendered on all cores and written in order."""

    def __init__(
        self,
        file: IO[bytes],
        schema: pa.Schema,
        missing: Mapping[str, str],
        advance: Callable[[float], object] | None,
        *,
        delimiter: str,
        gzipped: bool,
        spreadsheet: bool,
    ) -> None:
        # No time stamp, so that the same table gives the same bytes.
        self._zip = gzip.GzipFile("", "wb", 6, file, mtime=0) if gzipped else None
        self._file: Any = self._zip or file
        self._missing, self._advance, self._delimiter = missing, advance, delimiter
        names = schema.names
        self._spreadsheet = spreadsheet
        if spreadsheet:
            names = inert(pa.array(names, pa.string())).to_pylist()
            self._missing = {name: inert(pa.array([text])).to_pylist()[0] for name, text in missing.items()}
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
        self._file.write(line.getvalue().encode("utf-8"))

    def write(self, table: pa.Table) -> None:
        for rows, rendered in _ahead(self._render, table):
            self._file.write(rendered)
            if self._advance is not None:
                self._advance(rows)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def _render(self, table: pa.Table) -> pa.Buffer:
        columns = [inert(column) for column in table.columns] if self._spreadsheet else table.columns
        table = pa.table(
            [_shown(c, self._missing.get(n)) for n, c in zip(table.column_names, columns, strict=True)],
            names=table.column_names,
        )
        style = "needed" if _has_empty_text(table) else "none"
        try:
            return self._as_text(table, style)
        except pa.ArrowInvalid:  # a text that must be quoted: then all texts of the slice are
            return self._as_text(table, "needed")

    def _as_text(self, table: pa.Table, style: str) -> pa.Buffer:
        sink = pa.BufferOutputStream()
        options = pacsv.WriteOptions(
            include_header=False, batch_size=SLICE, delimiter=self._delimiter, quoting_style=style
        )
        pacsv.write_csv(table, sink, options)
        return sink.getvalue()


class _Parquet:
    def __init__(self, file: IO[bytes], schema: pa.Schema, missing: object, advance: object) -> None:
        self._writer = pq.ParquetWriter(file, schema)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


class _Arrow:
    def __init__(
        self, file: IO[bytes], schema: pa.Schema, missing: object, advance: object, *, stream: bool
    ) -> None:
        self._writer = pa.ipc.new_stream(file, schema) if stream else pa.ipc.new_file(file, schema)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension, or its being a device, makes a text file of it."""
    return _suffix(Path(path))[0] in DELIMITERS


def _suffix(path: Path) -> tuple[str, bool]:
    """The extension that names a format, and whether the file is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    gzipped = suffixes[-1:] == [".gz"]
    last = (suffixes[:-1] if gzipped else suffixes)[-1:]
    return last[0] if last else (".csv" if gzipped or is_device(path) else ""), gzipped


def _format_of(path: str | os.PathLike[str], delimiter: str, spreadsheet: bool) -> Callable[..., _Format]:
    """The format that an extension names; unknown ones are refused before anything is done."""
    suffix, gzipped = _suffix(Path(path))
    if delimiter and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(f"delimiter {delimiter!r} is not one plain character.")
    if suffix in DELIMITERS:
        chosen = delimiter or DELIMITERS[suffix]
        return lambda *given: _Text(*given, delimiter=chosen, gzipped=gzipped, spreadsheet=spreadsheet)
    if not gzipped and suffix in (".parquet", ".pq"):
        return _Parquet
    if not gzipped and suffix in (".arrow", ".ipc", ".feather", ".arrows"):
        return lambda *given: _Arrow(*given, stream=suffix == ".arrows")
    raise FileError(
        f"file {str(path)!r} has no extension that names a format.",
        hint="end it in .csv, .csv.gz, .tsv, .parquet, .arrow or .arrows.",
    )


def _ahead(render: Callable[[pa.Table], pa.Buffer], table: pa.Table) -> Iterator[tuple[int, pa.Buffer]]:
    """The slices of a table rendered on two threads, never more than a few ahead of the writer."""
    starts = range(0, table.num_rows, SLICE)
    if len(starts) < 2:
        yield from ((len(part), render(part)) for part in [table] if part.num_rows)
        return
    waiting: deque[tuple[int, Future[pa.Buffer]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for start in starts:
            part = table.slice(start, SLICE)
            waiting.append((part.num_rows, pool.submit(render, part)))
            if len(waiting) > 4:
                rows, ready = waiting.popleft()
                yield rows, ready.result()
        for rows, ready in waiting:
            yield rows, ready.result()


def _shown(column: pa.ChunkedArray, missing: str | None) -> pa.ChunkedArray:
    """A column as CSV shows it: whole numbers of a column of floats keep their ".0", and stay floats."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_duration(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_decimal(column.type) or pa.types.is_time(column.type):
        column = column.cast(pa.string())
    if pa.types.is_floating(column.type) and _all_whole(column):
        texts = column.cast(pa.string())
        plain = pc.match_substring_regex(texts, "^-?[0-9]+$")
        column = pc.if_else(plain, pc.binary_join_element_wise(texts, ".0", ""), texts)
    if missing and column.null_count:
        column = column.cast(pa.string()).fill_null(missing)
    return column


def inert(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """A column whose texts no spreadsheet takes for formulas: those that begin like one get a ' before them.

    A text that is a plain number, such as -5, is none; and columns of numbers are left as they are.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    risky = pc.and_(
        pc.match_substring_regex(column, FORMULA), pc.invert(pc.match_substring_regex(column, PLAIN_NUMBER))
    )
    quote, nothing = pa.scalar("'", column.type), pa.scalar("", column.type)
    return pc.if_else(risky, pc.binary_join_element_wise(quote, column, nothing), column)


def _all_whole(column: pa.ChunkedArray) -> bool:
    return bool(pc.all(pc.equal(column, pc.floor(column)), min_count=0).as_py())


def _has_empty_text(table: pa.Table) -> bool:
    """Whether a text is empty: unquoted it would read as missing."""
    texts = [c for c in table.columns if pa.types.is_string(c.type) or pa.types.is_large_string(c.type)]
    return any(pc.any(pc.equal(pc.binary_length(c), 0), min_count=0).as_py() for c in texts)
