"""Columns derived from others by a public rule, before they are coded: values to values and back.

They come first in the chain, on the table itself, so that a derived column is described by an ordinary
column of the schema and meets bounds, missing values and misfits like any other. A rule knows no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Column, Schema, arrays
from understudy.domain.arrow_values import plain
from understudy.errors import SchemaError


def transformed(table: pa.Table, transforms: Iterable[TableTransform]) -> pa.Table:
    """The table with derived columns in place of the originals, by one transform after the other."""
    for transform in transforms:
        table = transform.forward(table)
    return table


class TableTransform(Protocol):
    """Two functions from table to table that undo each other, which a release can carry."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns it looks at, which a text file hands it as text: the schema describes what it makes of them."""
        ...

    def forward(self, table: pa.Table, /) -> pa.Table:
        """The table with derived columns in place of the original."""
        ...

    def reverse(self, table: pa.Table, /, rng: np.random.Generator | None = None) -> pa.Table:
        """The table with the original column in place of the derived ones."""
        ...

    def describe(self, schema: Schema) -> Schema:
        """The schema of the far side: derived columns described in place of the original."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values, for a release file."""
        ...


def whole_numbers(table: pa.Table, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """A column as whole numbers (rounded down, stopping at the ends of int64), and which cells hold none."""
    values, unread = arrays.integers(plain(table.column(_place(table, name))))
    return values, np.zeros(len(values), np.bool_) if unread is None else unread


def exchange(table: pa.Table, gone: tuple[str, ...], columns: Mapping[str, pa.Array]) -> pa.Table:
    """The table with `columns` where the first of `gone` stood, and without the others."""
    place = _place(table, gone[0])
    before = [name for name in table.column_names[:place] if name not in gone]
    after = [name for name in table.column_names[place:] if name not in gone]
    taken = next((name for name in columns if name in before or name in after), None)
    if taken is not None:
        raise SchemaError(f"column {taken!r} is in the table already.", hint="choose another name.")
    return pa.table(
        {
            **{name: table.column(name) for name in before},
            **columns,
            **{name: table.column(name) for name in after},
        }
    )


def redescribe(schema: Schema, gone: str, columns: Mapping[str, Column]) -> Schema:
    """The schema with `columns` in place of one column."""
    schema[gone]
    made: dict[str, Column] = {}
    for name, column in schema.columns.items():
        made.update(columns if name == gone else {name: column})
    return replace(schema, columns=made)


def _place(table: pa.Table, name: str) -> int:
    places = table.schema.get_all_field_indices(name)
    if len(places) != 1:
        found = "is not in the table" if not places else f"stands {len(places)} times in the table"
        raise SchemaError(f"column {name!r} {found}.", hint="a transform needs its column, once.")
    return int(places[0])
