"""Tables in: CSV, Parquet, Arrow files and streams, pandas, Polars and Arrow objects, all as Arrow tables."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from understudy.data.files import raw_file
from understudy.data.files.frames import check_schema, from_frame, plain_text, without_nested
from understudy.data.files.json_lines import JsonLinesFile, seen_names
from understudy.data.files.lake_folder import check_plain_files
from understudy.data.files.raw_file import RawFile, open_raw
from understudy.data.files.spreadsheet import SheetFile
from understudy.data.files.table_file import TableFile
from understudy.data.files.text import delimited
from understudy.data.files.text.header_line import layout_of
from understudy.data.progress_bar import progress
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, ParameterError, SizeError

# The most cells that a binary file may declare: a few bytes of it can stand for a billion records.
MOST_CELLS = 4_000_000_000


def read(
    data: Any,
    *,
    types: Mapping[str, pa.DataType] | None = None,
    columns: Sequence[str] | None = None,
    dialect: Dialect | None = None,
    names: Sequence[str] | None = None,
    null_texts: Sequence[str] = delimited.EMPTY_CELL,
    rest: pa.DataType | None = None,
    allow_large: bool = False,
    needed: Collection[str] | None = None,
) -> pa.Table:
    """The table in a file, or in a pandas, Polars or Arrow object, with `columns` only where given.

    `types`, `dialect`, `null_texts`, `rest` concern CSV. What `dialect` leaves out is told by the header line. A
    column with a cell that does not fit its type is read as text instead: the reader raises for faults of the file,
    never for a value. `rest` is the type of columns that `types` does not name; left out, it is told from their
    cells, which is not private; nor is it to leave out `names`, the columns of JSON lines. `allow_large` lets a
    gzipped file unpack to any size. Columns of lists, records or bytes are left out of a binary file where they are
    not `needed`; without it they are refused.
    """
    if not isinstance(data, str | os.PathLike):
        return _select(from_frame(data), columns, "the table")
    found = open_raw(data)
    check_plain_files(os.fspath(data), [found.path])
    with progress(f"reading {found.path.name}"):
        if found.kind in (raw_file.EXCEL, raw_file.JSON_LINES):
            return _read_cells(found, columns, names)
        if found.kind != raw_file.TEXT:
            return _read_binary(found, columns, needed)
        layout = layout_of(found, dialect)
        _check_names(columns, layout.names, f"file {str(found.path)!r}")
        known = {} if rest is None else dict.fromkeys(layout.names, rest)
        with layout.raw.content(allow_large=allow_large) as content:
            return delimited.read_text(
                layout.raw,
                content,
                layout,
                types=known | dict(types or {}),
                columns=columns,
                null_texts=null_texts,
            )


def header(data: Any, needed: Collection[str] | None = None) -> pa.Schema:
    """The names and types of a file's columns, from its first lines or its footer alone; `needed` as for `read`."""
    if not isinstance(data, str | os.PathLike):
        return from_frame(data).schema
    found = open_raw(data)
    if found.kind in (raw_file.EXCEL, raw_file.JSON_LINES):
        return _of_cells(found, None).types
    if found.kind != raw_file.TEXT:
        return _binary_schema(found, needed)
    return delimited.infer_types(layout_of(found), delimited.EMPTY_CELL)


def _of_cells(found: RawFile, names: Sequence[str] | None) -> TableFile:
    if found.kind == raw_file.EXCEL:
        return SheetFile(found)
    return JsonLinesFile(found, seen_names(found) if names is None else names)


def _read_cells(found: RawFile, columns: Sequence[str] | None, names: Sequence[str] | None) -> pa.Table:
    """A table whose cells come one by one, as texts."""
    file = _of_cells(found, names)
    _check_names(columns, file.types.names, f"file {str(found.path)!r}")
    wanted = file.types.names if columns is None else list(columns)
    return pa.Table.from_batches(file.scan(wanted, {}), pa.schema([(name, pa.string()) for name in wanted]))


def _binary_schema(found: RawFile, needed: Collection[str] | None) -> pa.Schema:
    try:
        if found.kind == raw_file.PARQUET:
            from pyarrow.parquet import ParquetFile  # takes a while to import

            with ParquetFile(found.path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
        else:
            opener = pa.ipc.open_file if found.kind == raw_file.ARROW_FILE else pa.ipc.open_stream
            with pa.OSFile(str(found.path)) as raw:
                schema, rows = opener(raw).schema, 0
        schema = without_nested(schema, needed)
    except (pa.ArrowException, OSError, ValueError, MemoryError, UnicodeDecodeError):
        raise _damaged(found) from None
    check_schema(schema, f"file {str(found.path)!r}")
    if rows * max(1, len(schema)) > MOST_CELLS:
        raise SizeError(
            f"file {str(found.path)!r} declares {rows:,} records of {len(schema):,} columns, "
            f"more than {MOST_CELLS:,} cells.",
            hint="split it into several files.",
        )
    return schema


def _read_binary(found: RawFile, columns: Sequence[str] | None, needed: Collection[str] | None) -> pa.Table:
    schema = _binary_schema(found, needed)
    _check_names(columns, schema.names, f"file {str(found.path)!r}")
    wanted = schema.names if columns is None else list(columns)
    try:
        if found.kind == raw_file.PARQUET:
            from pyarrow.parquet import ParquetFile

            with ParquetFile(found.path) as file:
                table = file.read(columns=wanted)
        else:
            opener = pa.ipc.open_file if found.kind == raw_file.ARROW_FILE else pa.ipc.open_stream
            with pa.OSFile(str(found.path)) as raw:
                table = opener(raw).read_all()
        table = table.select(wanted)
        table.validate(full=True)  # a damaged file can point outside of itself, or hold text that is none
    except (pa.ArrowException, OSError, ValueError, MemoryError, UnicodeDecodeError):
        raise _damaged(found) from None
    return plain_text(table.replace_schema_metadata(None))


def _damaged(found: RawFile) -> FileError:
    return found.fault(f"is a damaged, truncated or encrypted {found.kind}", hint="write it again.")


def _check_names(columns: Sequence[str] | None, names: Sequence[str], what: str) -> None:
    if isinstance(columns, str):
        raise ParameterError(f"columns {columns!r} is one text.", hint="give a list of names.")
    for name in columns or ():
        if name not in names:
            raise FileError(
                f"{what} has no column {name!r}.", hint="check the name, the header line and the delimiter."
            )


def _select(table: pa.Table, columns: Sequence[str] | None, what: str) -> pa.Table:
    _check_names(columns, table.column_names, what)
    return table if columns is None else table.select(list(columns))
