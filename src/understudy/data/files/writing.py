"""Tables out: CSV and JSON lines (plain or gzipped), Excel, Parquet, Arrow; whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.files.atomic import is_device, whole_file
from understudy.data.files.frames import with_form
from understudy.data.files.json_lines import JsonLinesFormat
from understudy.data.files.spreadsheet import SheetFormat, openpyxl
from understudy.data.files.text.header_line import ENDINGS
from understudy.data.files.text.rendering import TextFormat
from understudy.data.forms.pandas_notes import with_notes
from understudy.data.progress_bar import progress
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, ParameterError

TEXTS = (".csv", ".txt", *ENDINGS)


class _Format(Protocol):
    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


def write(
    table: Any,
    path: str | os.PathLike[str],
    *,
    missing: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    spreadsheet: bool = False,
) -> None:
    """Write a table of any kind that `read` takes, in the format that the path's extension names.

    `dialect` says how CSV is written; left out, the extension does. In CSV a missing value is an empty cell, or the
    text that `missing` gives for its column. With `spreadsheet`, a text in CSV that a spreadsheet would take for a
    formula has a ' before it; numbers stay as they are.
    """
    whole, form = with_form(table)
    whole = with_notes(whole, form.words)
    with (
        progress(f"writing {Path(path).name}", total=whole.num_rows) as advance,
        Writer(path, missing=missing, dialect=dialect, advance=advance, spreadsheet=spreadsheet) as file,
    ):
        file.write(whole)


class Writer:
    """A file written table by table, all with the columns of the first; it appears when the `with` ends.

    `numbers` are columns that hold numbers, also where they come as texts. If the block is left by an exception,
    nothing appears and nothing is left behind.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema | None = None,
        *,
        missing: Mapping[str, str] | None = None,
        dialect: Dialect | None = None,
        numbers: Collection[str] = (),
        advance: Callable[[float], object] | None = None,
        spreadsheet: bool = False,
    ) -> None:
        self._path, self._schema = path, schema
        self._missing, self._advance = dict(missing or {}), advance
        self._open = _format_of(path, dialect or Dialect(), spreadsheet, numbers)
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


class _Parquet:
    def __init__(self, file: IO[bytes], schema: pa.Schema, missing: object, advance: object) -> None:
        from pyarrow.parquet import ParquetWriter  # takes a while to import

        self._writer = ParquetWriter(file, schema)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


class _Arrow:
    def __init__(
        self, file: IO[bytes], schema: pa.Schema, missing: object, advance: object, *, stream: bool
    ) -> None:
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=not stream)
        self._writer = (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, schema, options=options)
        self._lists: dict[str, pa.Array] | None = None if stream else {}

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table if self._lists is None else self._grown(table, self._lists))

    def _grown(self, table: pa.Table, lists: dict[str, pa.Array]) -> pa.Table:
        """The table with dictionaries that begin as those before: in a file, one may grow and not change."""
        for place, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                array = table.column(place).unify_dictionaries().combine_chunks()
                values = array.dictionary
                lists[field.name] = pa.concat_arrays([lists.get(field.name, values[:0]), values]).unique()
                places = (
                    pc.index_in(values, lists[field.name]).take(array.indices).cast(field.type.index_type)
                )
                grown = pa.DictionaryArray.from_arrays(places, lists[field.name], ordered=field.type.ordered)
                table = table.set_column(place, field, grown)
        return table

    def close(self) -> None:
        self._writer.close()


def check_format(path: str | os.PathLike[str]) -> None:
    """Refuse a path whose extension names no format, or one whose library is not there, before any work is done."""
    _format_of(path, Dialect(), False, ())


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a path's extension, or its being a device, makes a text file of it."""
    return _suffix(Path(path))[0] in TEXTS


def text_dialect(path: str | os.PathLike[str], usual: Dialect, asked: Dialect | None = None) -> Dialect:
    """How a text file is written: as asked, else as its ending says, else as usual for its table."""
    return (asked or Dialect()).over(Dialect(ENDINGS.get(_suffix(Path(path))[0]))).over(usual)


def _suffix(path: Path) -> tuple[str, bool]:
    """The extension that names a format, and whether the file is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    gzipped = suffixes[-1:] == [".gz"]
    last = (suffixes[:-1] if gzipped else suffixes)[-1:]
    return last[0] if last else (".csv" if gzipped or is_device(path) else ""), gzipped


def _format_of(
    path: str | os.PathLike[str], dialect: Dialect, spreadsheet: bool, numbers: Collection[str]
) -> Callable[..., _Format]:
    """The format that an extension names; unknown ones are refused before anything is done."""
    suffix, gzipped = _suffix(Path(path))
    if suffix in TEXTS:
        chosen = dialect.over(Dialect(ENDINGS.get(suffix)))
        return lambda *given: TextFormat(
            *given, dialect=chosen, gzipped=gzipped, spreadsheet=spreadsheet, numbers=numbers
        )
    if not gzipped and suffix in (".parquet", ".pq"):
        return _Parquet
    if not gzipped and suffix in (".arrow", ".ipc", ".feather", ".arrows"):
        return lambda *given: _Arrow(*given, stream=suffix == ".arrows")
    if suffix in (".jsonl", ".ndjson"):
        return lambda *given: JsonLinesFormat(*given, gzipped=gzipped)
    if not gzipped and suffix == ".xlsx":
        openpyxl()
        return SheetFormat
    raise FileError(
        f"file {str(path)!r} has no extension that names a format.",
        hint="end it in .csv, .csv.gz, .tsv, .jsonl, .xlsx, .parquet, .arrow or .arrows.",
    )
