"""Excel sheets (.xlsx) in and out, by openpyxl: the first sheet of a book, its first row the header.

Cells are read one by one, each as the text of its value: a moment at midnight as its date, an error as none.
"""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from understudy.data.files.json_lines import text_batch
from understudy.data.files.raw_file import UNPACKED_FREELY, UNPACKED_RATIO, RawFile
from understudy.data.files.table_file import TableFile
from understudy.data.files.text.header_line import names_of
from understudy.data.scannable import batch_rows
from understudy.domain.cell_text import cell_text
from understudy.errors import FileError, ParameterError, SizeError

MOST_ROWS = 1_048_575  # that Excel has below a header
FIRST_DAY = date(1900, 3, 1)  # before it Excel counts days otherwise, or not at all
_ERRORS = frozenset(("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"))


class SheetFile(TableFile):
    """The first sheet of a book."""

    is_text = True

    def __init__(self, found: RawFile) -> None:
        super().__init__(found)
        with self._rows() as rows:
            header = [cell_text(value) or "" for value in next(rows, ())]
        while header and not header[-1]:
            header.pop()
        if not header:
            raise found.fault("has no header in its first sheet", hint="name the columns in its first row.")
        self.types = pa.schema([(name, pa.string()) for name in names_of(found, header)])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        places = [self.types.get_field_index(name) for name in columns]
        with self._rows() as rows:
            next(rows, None)
            while batch := list(islice(rows, batch_rows(len(columns)))):
                filled = (row for row in batch if any(value is not None for value in row))
                yield text_batch(columns, ([_cell(row, place) for place in places] for row in filled))

    @contextmanager
    def _rows(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of the sheet, each as the values of its cells."""
        library = openpyxl()
        _check_size(self.raw)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about styles and such, which no cell has to do with
                book = library.load_workbook(self.path, read_only=True, data_only=True)
            try:
                sheet = next(sheet for sheet in book.worksheets if sheet.sheet_state == "visible")
                sheet.reset_dimensions()  # what a file says of its own size may be wrong
                yield sheet.iter_rows(values_only=True)
            finally:
                book.close()
        except (FileError, GeneratorExit):
            raise
        except Exception:  # whatever a library makes of a damaged file, in words that may quote it
            raise self.fault("is a damaged or encrypted Excel file", hint="save it again.") from None


def openpyxl() -> Any:
    """The library, or how to get it."""
    try:
        import openpyxl as library
    except ImportError:
        raise ParameterError(
            "Excel files need openpyxl, which is not installed.", hint='pip install "understudy[excel]".'
        ) from None
    return library


def _check_size(found: RawFile) -> None:
    """Refuse a book that unpacks to more than a plausible one."""
    try:
        with zipfile.ZipFile(found.path) as book:
            size = sum(part.file_size for part in book.infolist())
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        raise found.fault("is a damaged Excel file", hint="save it again.") from None
    if size > UNPACKED_FREELY and size > UNPACKED_RATIO * found.path.stat().st_size:
        raise found.fault(f"unpacks to {size >> 20:,} MiB", hint="save its table as CSV.")


def _cell(row: tuple[Any, ...], place: int) -> Any:
    value = row[place] if place < len(row) else None
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return None if isinstance(value, str) and value in _ERRORS else value


class SheetFormat:
    """Writes one sheet; no text is ever a formula."""

    def __init__(
        self,
        file: IO[bytes],
        schema: pa.Schema,
        missing: Mapping[str, str],
        advance: Callable[[float], object] | None,
    ) -> None:
        self._library, self._file, self._advance = openpyxl(), file, advance
        self._book = self._library.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("table")
        self._missing = [missing.get(name) or None for name in schema.names]
        self._rows = 0
        self._sheet.append([self._cell(name, None) for name in schema.names])

    def write(self, table: pa.Table) -> None:
        self._rows += table.num_rows
        if self._rows > MOST_ROWS:
            raise SizeError(
                f"an Excel sheet has room for {MOST_ROWS:,} records.", hint="write them to .csv or .parquet."
            )
        for batch in table.to_batches(max_chunksize=1 << 15):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                self._sheet.append([self._cell(*cell) for cell in zip(row, self._missing, strict=True)])
            if self._advance is not None:
                self._advance(batch.num_rows)

    def close(self) -> None:
        self._book.save(self._file)

    def _cell(self, value: Any, missing: str | None) -> Any:
        value = _writable(value)
        value = missing if value is None else value
        if not isinstance(value, str):
            return value
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        cell = self._library.cell.WriteOnlyCell(self._sheet, ILLEGAL_CHARACTERS_RE.sub("", value))
        cell.data_type = "s"
        return cell


def _writable(value: Any) -> Any:
    """A value as a sheet can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime | time) and value.tzinfo is not None:
        return value.isoformat()
    if isinstance(value, date):
        day = value.date() if isinstance(value, datetime) else value
        return value if day >= FIRST_DAY else value.isoformat()
    return str(value) if isinstance(value, timedelta) else value
