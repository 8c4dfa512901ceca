"""Records that are streamed: files larger than memory, folders of them, databases.

Which data is streamed is said by its address:

    parquet:people.parquet  parquet:folder/  parquet:folder/*.parquet     and csv: and jsonl: likewise
    duckdb:people.db?table=people            duckdb:people.db?query=SELECT ...
    folder/  folder/*.parquet                a folder or a pattern without a prefix
    people.csv                               a file that is large (see `LARGE`); a smaller one is read into memory
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from understudy.data import Streamed
from understudy.data.counting.bytes_of_values import unit_bytes, value_bytes, values_of_bytes
from understudy.data.counting.kept_records import KeptRecords
from understudy.data.counting.open_values import merge_counts, nameable
from understudy.data.engines.batch_source import BatchSource
from understudy.data.engines.stream import MEMORY
from understudy.data.files.file_set import FileSet, find_files, looks_large, table_name
from understudy.data.files.json_lines import seen_names
from understudy.data.files.raw_file import JSON_LINES, TEXT, open_raw
from understudy.data.files.text.seen_dialect import seen_dialect
from understudy.data.forms.table_form import TableForm
from understudy.data.scannable import Scannable
from understudy.domain import Schema
from understudy.domain.dialect import Dialect
from understudy.pipeline.sources.records import Reading, Records, still_untyped
from understudy.transforms.derive import TableTransform, transformed
from understudy.transforms.encode import Encoder, reading_types

FILES = {"parquet:": "Parquet", "csv:": "CSV", "jsonl:": "JSON lines"}
DATABASE = "duckdb:"


@dataclass(frozen=True, eq=False)
class StreamedRecords:
    """Records of any source that can be scanned, coded as they come by."""

    source: Scannable
    transforms: tuple[TableTransform, ...] = ()
    memory: int = MEMORY
    kind: str = "arrow"

    @classmethod
    def of(cls, source: Scannable, reading: Reading) -> StreamedRecords:
        """The records of a source."""
        return cls(source, tuple(reading.transforms), reading.memory)

    @cached_property
    def types(self) -> Any:
        """The names and types of the columns, once transformed: as they were declared, or text."""
        return transformed(self.source.types.empty_table(), self.transforms).schema

    @property
    def untyped(self) -> frozenset[str]:
        return still_untyped(self._bare, self.types, self.transforms)

    @property
    def _bare(self) -> frozenset[str]:
        return self.source.untyped if isinstance(self.source, FileSet | BatchSource) else frozenset[str]()

    @property
    def form(self) -> TableForm:
        dialect = self.source.dialect if isinstance(self.source, FileSet) else None
        return TableForm.of_types(self.source.types, self.kind, self._bare, dialect)

    @property
    def snapshot(self) -> str | None:
        return self.source.snapshot

    def check(self, columns: Sequence[str]) -> None:
        """Read these columns once, for their faults alone; all of them where transforms make columns of others."""
        for _ in self.source.scan(self.source.types.names if self.transforms else columns, {}):
            pass

    def encode(self, schema: Schema) -> Streamed:
        """The engine, after the scan that finds any fault of the source."""
        encoder = Encoder(schema)
        return Streamed(
            encoder.domain,
            lambda: self._batches(schema, tuple(encoder.domain)),
            encoder.forward,
            memory=self.memory,
            unit=schema.unit,
            most=schema.records_per_unit,
        ).prepare()

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        batches = self._batches(schema, (column,))
        if schema.unit is None:
            return merge_counts(batch.column(column) for batch in batches)
        kept, kinds = KeptRecords(schema.records_per_unit, self.memory), set()
        for batch in batches:
            values = nameable(batch.column(column))
            kinds.add(values.type)
            kept.add(batch.column(schema.unit), value_bytes(values))
        kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
        return merge_counts(values_of_bytes(contents, kind) for contents in kept.contents())

    def count_units(self, unit: str) -> Mapping[int, int]:
        kept = KeptRecords(1, self.memory)
        for batch in self._batches(Schema({}, unit=unit, max_records_per_unit=1), ()):
            kept.add(batch.column(unit), unit_bytes(batch.column(unit)))
        return kept.unit_counts()

    def _batches(self, schema: Schema, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """The records, with `columns` and the unit's."""
        wanted = list(dict.fromkeys([*columns, *([] if schema.unit is None else [schema.unit])]))
        types = reading_types(schema, self.transforms)
        if not self.transforms:
            yield from self.source.scan(wanted, types)
            return
        for batch in self.source.scan(self.source.types.names, types):
            table = transformed(pa.Table.from_batches([batch]), self.transforms).select(wanted)
            yield from table.combine_chunks().to_batches()


def first_pieces_of(source: Scannable, most: int) -> Iterator[pa.Table]:
    """The first records of a source, at most so many, in one piece at least; texts as they stand."""
    left: int | None = None
    for batch in source.scan(source.types.names, {}):
        piece = batch.slice(0, most if left is None else left)
        left = (most if left is None else left) - piece.num_rows
        yield pa.table({name: _plain(piece.column(name)) for name in piece.schema.names})
        if left <= 0:
            break
    if left is None:
        yield source.types.empty_table()


def _plain(array: pa.Array) -> pa.Array:
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


@dataclass(frozen=True, eq=False)
class StreamedSource(ABC):
    """A table that can be scanned. A kind of source says only what is scanned and what the table is called."""

    data: Any

    @property
    @abstractmethod
    def name(self) -> str | None:
        """What the ledger calls the table."""

    @abstractmethod
    def scannable(self, dialect: Dialect | None) -> Scannable:
        """The table, known to be there."""

    def open(self, reading: Reading) -> Records:
        return StreamedRecords.of(self.scannable(reading.dialect), reading)

    def first_records(
        self, most: int, *, dialect: Dialect | None = None, types: Mapping[str, pa.DataType] | None = None
    ) -> pa.Table:
        return pa.concat_tables(self.first_pieces(most, dialect=dialect), promote_options="permissive")

    def first_pieces(self, most: int, *, dialect: Dialect | None = None) -> Iterator[pa.Table]:
        return first_pieces_of(self.scannable(dialect), most)


class FilesSource(StreamedSource):
    """Files that make up one table: with a prefix that says of which kind they are, or without."""

    @property
    def name(self) -> str | None:
        return table_name(self._parts[1])

    @property
    def places(self) -> tuple[str, ...]:
        """The file, the folder or the pattern."""
        return (self._parts[1],)

    def scannable(self, dialect: Dialect | None) -> FileSet:
        """The files, for drafts and comparisons: the names of JSON lines are looked for in the first of them."""
        prefix, pattern = self._parts
        kind = FILES.get(prefix)
        first = open_raw(find_files(pattern, kind)[0])
        names = seen_names(first) if first.kind == JSON_LINES else None
        return FileSet.open(pattern, kind=kind, dialect=dialect, names=names, needed=())

    def files(self, reading: Reading) -> FileSet:
        """The files, by what is public."""
        prefix, pattern = self._parts
        return FileSet.open(
            pattern,
            kind=FILES.get(prefix),
            dialect=reading.dialect,
            names=reading.names,
            needed=reading.needed,
        )

    def open(self, reading: Reading) -> Records:
        return StreamedRecords.of(self.files(reading), reading)

    def seen_dialect(self, declared: Dialect) -> Dialect:
        """How text files are written, as the records of the first show it."""
        prefix, pattern = self._parts
        first = open_raw(find_files(pattern, FILES.get(prefix))[0])
        return seen_dialect(first, declared) if first.kind == TEXT else declared

    @property
    def _parts(self) -> tuple[str, str]:
        address = os.fspath(self.data)
        prefix = next((prefix for prefix in FILES if address.startswith(prefix)), "")
        return prefix, address.removeprefix(prefix)


class DatabaseSource(StreamedSource):
    """A table or a query of DuckDB's."""

    @property
    def name(self) -> str | None:
        """The table's name, or the name of the file where a query is asked."""
        place, _, asked = self._address.partition("?")
        how, _, what = asked.partition("=")
        return what.strip().split(".")[-1] if how == "table" else table_name(place)

    @property
    def places(self) -> tuple[str, ...]:
        """The database, and the files that its query or a view reads."""
        from understudy.data.engines.duckdb import places_read

        return tuple(places_read(self._address))

    def scannable(self, dialect: Dialect | None) -> Scannable:
        from understudy.data.engines.duckdb import open_database

        return open_database(self._address)

    @property
    def _address(self) -> str:
        return str(os.fspath(self.data)).removeprefix(DATABASE)


def is_large(data: Any) -> bool:
    """Whether the data is a path that is streamed: a folder, a pattern, or a file that is large."""
    return isinstance(data, str | os.PathLike) and looks_large(os.fspath(data))
