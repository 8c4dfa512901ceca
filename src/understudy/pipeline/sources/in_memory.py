"""Tables in memory: files of a moderate size, whatever their kind, and frames (pandas, Polars, Arrow)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data import Table, bound, count_values, frame_kind, header, read
from understudy.data.counting.bytes_of_values import value_bytes
from understudy.data.counting.open_values import nameable
from understudy.data.counting.units import unit_counts
from understudy.data.engines.unread_frames import check_plan
from understudy.data.files.file_set import table_name
from understudy.data.files.frames import untyped, with_form
from understudy.data.files.json_lines import JsonLinesFile
from understudy.data.files.raw_file import JSON_LINES, TEXT, UNTYPED, open_raw
from understudy.data.files.text.header_line import layout_of
from understudy.data.files.text.seen_dialect import seen_dialect
from understudy.data.forms.table_form import NO_FORM, TableForm
from understudy.domain import Schema
from understudy.domain.codes import Codes, code_type
from understudy.domain.dialect import Dialect
from understudy.pipeline.sources.records import Reading, still_untyped
from understudy.transforms.derive import transformed
from understudy.transforms.encode import Encoder, reading_types

PIECE = 1 << 18  # records that are coded at a time


@dataclass(frozen=True, eq=False)
class MemorySource:
    """A file that is read whole, or a frame."""

    data: Any

    @property
    def _path(self) -> Path | None:
        return Path(self.data) if isinstance(self.data, str | os.PathLike) else None

    @property
    def name(self) -> str | None:
        """The file's name without its endings; a frame has none."""
        return None if self._path is None else table_name(str(self._path))

    @property
    def places(self) -> tuple[str, ...]:
        """The file; a frame lies in none."""
        return () if self._path is None else (str(self._path),)

    def open(self, reading: Reading) -> InMemory:
        """The records of the file or the frame."""
        if self._path is not None:
            known = {} if reading.schema is None else reading_types(reading.schema, reading.transforms)
            found, kind = open_raw(self._path), "arrow"
            if found.kind == JSON_LINES and reading.names is None:
                JsonLinesFile(found, None)  # refuses to look for names in records
            table = read(
                self.data,
                types=known,
                rest=pa.string(),
                dialect=reading.dialect,
                names=reading.names,
                needed=reading.needed,
            )
            bare = frozenset(table.column_names if found.kind in UNTYPED else ())
            dialect = layout_of(found, reading.dialect).dialect if found.kind == TEXT else None
            types = table.schema if bare else header(self.data, reading.needed)  # with its notes
            form = TableForm.of_types(types, untyped=bare, dialect=dialect)
        else:
            check_plan(self.data)
            (table, form), kind, bare = with_form(self.data), frame_kind(self.data), untyped(self.data)
        table = transformed(table, reading.transforms)
        bare = still_untyped(bare, table.schema, reading.transforms)
        return InMemory(table, kind, bare, _snapshot(self._path), form)

    def seen_dialect(self, declared: Dialect) -> Dialect:
        """How a text file is written, as its records show it."""
        found = None if self._path is None else open_raw(self._path)
        return seen_dialect(found, declared) if found and found.kind == TEXT else declared

    def first_records(
        self,
        most: int | None = None,
        *,
        dialect: Dialect | None = None,
        types: Mapping[str, pa.DataType] | None = None,
    ) -> pa.Table:
        """The first records; all where no number is asked for, as they fit in memory."""
        if self._path is None:
            check_plan(self.data)
            table = read(self.data)
        else:
            table = read(self.data, types=types, rest=pa.string(), dialect=dialect, needed=())
        return table if most is None else table.slice(0, most)


@dataclass(frozen=True, eq=False)
class InMemory:
    """Records as one Arrow table: files of a moderate size, and frames."""

    table: Any
    kind: str = "arrow"
    untyped: frozenset[str] = frozenset()
    snapshot: str | None = None
    form: TableForm = NO_FORM

    @property
    def types(self) -> Any:
        return self.table.schema

    def encode(self, schema: Schema) -> Table:
        encoder = Encoder(schema)
        codes = _in_pieces(encoder, self.table.select(list(encoder.domain)))
        coded = Table(encoder.domain, codes, rows=self.table.num_rows)
        if schema.unit is None:
            return coded
        return coded.bound(self.table[schema.unit], schema.records_per_unit)

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        if schema.unit is None:
            return count_values(self.table[column])
        values = nameable(self.table[column])
        keep = bound(self.table[schema.unit], value_bytes(values), schema.records_per_unit)
        return count_values(values.filter(pa.array(keep)))

    def count_units(self, unit: str) -> Mapping[int, int]:
        return unit_counts(self.table[unit])


def _in_pieces(encoder: Encoder, table: pa.Table) -> dict[str, Codes]:
    """The codes of a table, so many records at a time as a processor's caches hold what is worked out for them.

    A cell's code depends on that cell alone, so pieces give the same. A dictionary would be read anew for each.
    """
    if table.num_rows <= PIECE or any(map(pa.types.is_dictionary, table.schema.types)):
        return encoder.forward(table)
    whole = {name: np.empty(table.num_rows, code_type(size)) for name, size in encoder.domain.items()}
    for start in range(0, table.num_rows, PIECE):
        for name, codes in encoder.forward(table.slice(start, PIECE)).items():
            whole[name][start : start + len(codes)] = codes
    return whole


def _snapshot(path: Path | None) -> str | None:
    """The file's place and time of change; a frame is new every time."""
    if path is not None:
        with suppress(OSError):
            return f"{path.resolve()} {os.stat(path).st_mtime_ns}"
    return None
