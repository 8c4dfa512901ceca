"""Columns that are made up, put among the others: every record's place in its sample, and the types they fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from understudy.data.forms.declared_values import as_type
from understudy.data.forms.table_form import ColumnForm, TableForm
from understudy.domain import Schema
from understudy.domain.columns.made.made import Made, Place
from understudy.errors import ParameterError

PROBED = 50  # values of a column that show whether a type holds them


def sample_place(schema: Schema, rng: np.random.Generator) -> Place | None:
    """Where a sample begins; None, and nothing drawn, for a schema without a column that asks."""
    return Place(int(rng.integers(2**63))) if schema.made else None


def with_made(table: pa.Table, schema: Schema, place: Place | None) -> pa.Table:
    """The table with the columns that are made up, each where the schema has it."""
    if place is None:
        return table
    made = {
        name: column.generated(table.num_rows, place.within(name)) for name, column in schema.made.items()
    }
    known = [name for name in schema.columns if name in made or name in table.column_names]
    rest = [name for name in table.column_names if name not in known]  # what a transform put together again
    return pa.table({name: made[name] if name in made else table[name] for name in [*known, *rest]})


def check_made(schema: Schema, form: TableForm, rows: int) -> None:
    """Refuse, before the first is made, more records than a column has keys for, or its declared type."""
    schema.check_keys(rows)
    for name, column in schema.made.items():
        column.ready()
        declared = form.columns.get(name, ColumnForm()).type
        if declared is None or not rows or not pa.types.is_integer(declared):
            continue
        if not _holds(declared, column, 1, Place(0, rows - 1)):
            raise ParameterError(
                f"column {name!r}: keys of so many records ({rows}) do not fit the column's type, {declared}.",
                hint="ask for fewer records, or choose a lower start.",
            )


def form_with_made(form: TableForm, schema: Schema) -> TableForm:
    """The form without the types that cannot hold what is made up: such a column keeps the type it is made in."""
    kept = dict(form.columns)
    for name, column in schema.made.items():
        declared = kept.get(name, ColumnForm()).type
        if declared is not None and not _holds(declared, column, PROBED, Place(0)):
            kept[name] = ColumnForm()
    return replace(form, columns=kept)


def _holds(kind: pa.DataType, column: Made, rows: int, place: Place) -> bool:
    """Whether values that are made up come through a type unchanged."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    made = column.generated(rows, place)
    held = as_type(made, kind)
    return held.type == kind and not held.null_count and as_type(held, made.type).equals(made)
