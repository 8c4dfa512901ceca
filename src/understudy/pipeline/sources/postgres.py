"""Records in a database of PostgreSQL: streamed when columns are counted together, else counted where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data import Streamed
from understudy.data.engines.postgres.address import parse
from understudy.data.engines.postgres.postgres_table import PostgresTable
from understudy.data.engines.pushdown import Counts, PushedDown
from understudy.data.engines.stream import MEMORY
from understudy.data.forms.table_form import TableForm
from understudy.domain import Schema
from understudy.domain.arrow_values import plain
from understudy.domain.dialect import Dialect
from understudy.marginals import Counter
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.streamed import StreamedRecords, StreamedSource, first_pieces_of
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder


class PostgresSource(StreamedSource):
    """A table or a query at an address."""

    @property
    def name(self) -> str:
        """The table's own name."""
        return parse(self.data).name

    def scannable(self, dialect: Dialect | None) -> PostgresTable:
        """Its columns of one plain value a cell, for a draft or a comparison."""
        return PostgresTable.open(self.data).plain()

    def first_pieces(self, most: int, *, dialect: Dialect | None = None) -> Iterator[pa.Table]:
        return first_pieces_of(self.scannable(dialect).first(most), most)

    def open(self, reading: Reading) -> PostgresRecords:
        """The records, once the server lets them be read."""
        return PostgresRecords.of(PostgresTable.open(self.data), reading)


@dataclass(frozen=True, eq=False)
class PostgresRecords:
    """The records of a table or a query, all of one snapshot."""

    source: PostgresTable
    transforms: tuple[TableTransform, ...] = ()
    memory: int = MEMORY
    kind: str = "arrow"

    @classmethod
    def of(cls, source: PostgresTable, reading: Reading) -> PostgresRecords:
        """The records of a table, once the schema can describe them."""
        schema = reading.schema
        if reading.transforms:
            return cls(source.plain(), tuple(reading.transforms), reading.memory)
        described = list(source.kinds) if schema is None else [*schema.synthesised, schema.unit or ""]
        source.check(name for name in described if name in source.kinds)
        return cls(source, memory=reading.memory)

    @property
    def types(self) -> Any:
        return self._streamed(None).types

    @property
    def form(self) -> TableForm:
        return self._streamed(None).form

    @property
    def snapshot(self) -> str | None:
        return self.source.snapshot

    @property
    def untyped(self) -> frozenset[str]:
        return frozenset()  # a database declares the type of every column

    def encode(self, schema: Schema) -> Streamed:
        """The engine for any cliques, after the scan that finds any fault of the connection."""
        if self._is_stream(schema):
            return self._streamed(schema.unit).encode(schema)
        return self._engine(schema).prepare()

    def encode_alone(self, schema: Schema) -> Counter:
        """The engine for columns alone: the server counts those with few values, the others are streamed."""
        if self._is_stream(schema):
            return self.encode(schema)
        encoder = Encoder(schema)
        return PushedDown(self._engine(schema), lambda names: self._tally(encoder, names)).prepare()

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        if self._is_stream(schema):
            return self._streamed(schema.unit).count_values(column, schema)
        return self.source.count_values(column)

    def count_units(self, unit: str) -> Mapping[int, int]:
        return self._streamed(unit).count_units(unit)

    def _is_stream(self, schema: Schema) -> bool:
        """Whether records are read as any stream is: what a transform makes of them, and which of a unit's
        records count, the server does not know."""
        return bool(self.transforms) or schema.unit is not None

    def _streamed(self, unit: str | None) -> StreamedRecords:
        source = self.source
        if unit is not None and unit in source.kinds:  # a transform may make the column of units
            source = source.by_unit(unit)
        return StreamedRecords(source, self.transforms, self.memory)

    def _engine(self, schema: Schema) -> Streamed:
        encoder = Encoder(schema)
        return _stream(self.source, encoder, encoder.domain.names, self.memory)

    def _tally(self, encoder: Encoder, names: Sequence[str]) -> dict[str, Counts]:
        """The counts of some columns, each alone: from their distinct values where these are few."""
        source = self.source
        found = {name: np.zeros(encoder.domain[name], np.int64) for name in names}
        few = [name for name in names if encoder.alone(name) and source.few(name)]
        for name, values, records in source.tally(few):
            codes = encoder.codecs[name].encode(plain(values))
            np.add.at(found[name], codes, records.to_numpy())
        many = tuple(name for name in names if name not in few)
        if many:
            counted = _stream(source, encoder, many, self.memory, cache=False).count(
                [(name,) for name in many]
            )
            found |= {marginal.clique[0]: marginal.counts for marginal in counted}
        return found


def _stream(
    source: PostgresTable, encoder: Encoder, names: tuple[str, ...], memory: int, *, cache: bool = True
) -> Streamed:
    """Some columns of the records as an engine, coded as they arrive."""
    return Streamed(
        encoder.domain.project(names),
        lambda: source.scan(encoder.reads(names)),
        lambda batch: encoder.coded(batch, names),
        memory=memory,
        cache=cache,
    )
