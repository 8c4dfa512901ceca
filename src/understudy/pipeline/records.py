"""The private records of one run: read once, bounded by unit, coded by whatever schema is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy.data import Table, bound, count_values, frame_kind, read
from understudy.domain import Domain, Schema
from understudy.errors import SchemaError
from understudy.marginals import Marginal
from understudy.marginals.counter import Recoding
from understudy.pipeline.draft import schema_of_types
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder, reading_types


@dataclass(frozen=True, eq=False)
class Records:
    """Records as values, held inside the boundary: only a curator may be given what they count to."""

    table: Any  # an Arrow table
    schema: Schema
    kind: str
    dropped: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        data: Any,
        schema: Schema | None,
        *,
        name: str,
        delimiter: str | None = None,
        transforms: Sequence[TableTransform] = (),
    ) -> Records:
        """The records of a file or a frame; columns that the schema does not describe are dropped and named."""
        path = isinstance(data, str | os.PathLike)
        known = None if schema is None or transforms else reading_types(schema)
        table = read(data, types=known, delimiter=delimiter) if path else read(data)
        for transform in transforms:
            table = transform.forward(table)
        described = schema_of_types(table.schema, name=name) if schema is None else schema
        missing = [column for column in described.columns if column not in table.column_names]
        if missing:
            raise SchemaError(
                f"column {missing[0]!r} of the schema is not in the data.",
                hint="remove it, or correct its name.",
            )
        dropped = tuple(column for column in table.column_names if column not in described.columns)
        kind = "arrow" if path else frame_kind(data)
        records = cls(table.select(list(described.columns)), described, kind, dropped)
        return records._bounded()

    def _bounded(self) -> Records:
        """At most so many records of each unit, as the schema declares: enforced, not assumed."""
        unit = self.schema.unit
        if unit is None:
            return self
        kept = bound(self.table[unit], self.schema.max_records_per_unit or 1)
        return replace(self, table=self.table.filter(kept))

    def encode(self, schema: Schema) -> Table:
        """The records under a complete schema, as an engine that counts."""
        encoder = Encoder(schema)
        names = [name for name in schema.columns if name in self.table.column_names]
        return Table(encoder.domain, encoder.forward(self.table.select(names)))


@dataclass(frozen=True, eq=False)
class Uncoded:
    """Records before they have codes: all that can be counted are the values of an open column."""

    records: Records

    @property
    def domain(self) -> Domain:
        return Domain({})

    def count(self, cliques: Sequence[tuple[str, ...]]) -> list[Marginal]:
        raise SchemaError("records cannot be counted before they are coded.")

    def recode(self, maps: Mapping[str, Recoding]) -> Uncoded:
        return self

    def count_values(self, column: str) -> Mapping[Any, int]:
        return count_values(self.records.table[column])
