"""Tables of JSON lines: an object a line, in and out.

Cells are read one by one, each as the text of its value, so that none depends on another. Names stand in the records
themselves, which are private: who reads a table says which columns it has. Only drafts and comparisons look for them.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from understudy.data.files.raw_file import RawFile
from understudy.data.files.table_file import TableFile
from understudy.data.scannable import batch_rows
from understudy.domain.cell_text import cell_text
from understudy.errors import ParameterError

MOST_LOOKED_AT = 1_000_000  # records whose names are looked at
_MOST_DIGITS = 4000  # of a whole number; Python refuses to read more


class JsonLinesFile(TableFile):
    """A file of JSON lines, plain or gzipped; a record that lacks a name has no value there."""

    is_text = True

    def __init__(self, found: RawFile, names: Sequence[str] | None) -> None:
        super().__init__(found)
        if names is None:
            raise ParameterError(
                f"file {str(found.path)!r} is of JSON lines, whose columns are named in its records alone.",
                hint=f"they are private: draft a schema with `understudy schema {found.path.name}`, and give it.",
            )
        self.types = pa.schema([(name, pa.string()) for name in names])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        with self._reading():
            for records in _batched(_objects(self.raw), batch_rows(len(columns))):
                yield text_batch(columns, ([record.get(name) for name in columns] for record in records))


def seen_names(found: RawFile) -> list[str]:
    """The names in the first records, in the order in which they first come, but for `nested_names`. It looks at
    records: not private."""
    return [name for name, kinds in _seen(found).items() if kinds != {True}]


def nested_names(found: RawFile) -> list[str]:
    """The names that stand for nothing but lists and objects in the first records. Not private either."""
    return [name for name, kinds in _seen(found).items() if kinds == {True}]


def _seen(found: RawFile) -> dict[str, set[bool]]:
    """For each name whether its values are lists or objects: of some, of all, or nothing known."""
    names: dict[str, set[bool]] = {}
    for record in islice(_objects(found), MOST_LOOKED_AT):
        for name, value in record.items():
            names.setdefault(name, set()).update(() if value is None else (isinstance(value, list | dict),))
    return names


def text_batch(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Rows of Python objects as texts, each by itself; an empty text is a missing one, as in a text file."""
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array([cell_text(value) or None for value in column], pa.string()) for column in cells]
    return pa.record_batch(arrays, names=list(columns))


def _objects(found: RawFile) -> Iterator[dict[str, Any]]:
    """The object of every line; a line that holds none is a fault of the file, told by its number."""
    with found.opened() as file, found.unpacking():
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
            if not text:
                continue
            try:
                record = json.loads(text, parse_int=_whole)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise found.fault("is not one JSON object", line=number, hint="write an object a line.")
            yield record


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


class JsonLinesFormat:
    """Writes an object a line: numbers and true or false as such, moments as ISO texts, missing values as null."""

    def __init__(
        self,
        file: IO[bytes],
        schema: pa.Schema,
        missing: Mapping[str, str],
        advance: Callable[[float], object] | None,
        *,
        gzipped: bool,
    ) -> None:
        self._zip = gzip.GzipFile("", "wb", 6, file, mtime=0) if gzipped else None
        self._file: Any = self._zip or file
        self._missing = {name: text or None for name, text in missing.items()}
        self._advance = advance

    def write(self, table: pa.Table) -> None:
        for batch in table.to_batches(max_chunksize=1 << 15):
            lines = (json.dumps(self._plain(record), ensure_ascii=False) for record in batch.to_pylist())
            self._file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
            if self._advance is not None:
                self._advance(batch.num_rows)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def _plain(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: _plain(value, self._missing.get(name)) for name, value in record.items()}


def _plain(value: Any, missing: str | None) -> Any:
    """A value as JSON has it."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return missing
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return (
            int(value)
            if value == value.to_integral_value() and value.as_tuple().exponent == 0
            else float(value)
        )
    return str(value) if isinstance(value, timedelta) else value


def _batched(records: Iterable[dict[str, Any]], most: int) -> Iterator[list[dict[str, Any]]]:
    kept = iter(records)
    while batch := list(islice(kept, most)):
        yield batch
