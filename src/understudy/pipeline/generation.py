"""Synthetic records from drawn codes: the paper's step 8, in one place.

Every sample, of whatever size, to whatever file and on whatever engine, comes through `records`: what holds of a
record here holds of every synthetic record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.data.forms.declared_values import as_declared, settled
from understudy.data.forms.table_form import TableForm
from understudy.domain import Schema
from understudy.domain.codes import CodedColumns
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.codec import Within
from understudy.errors import ParameterError
from understudy.mechanisms import Generator
from understudy.model import Field
from understudy.pipeline.drawing.followed_pairs import followed
from understudy.pipeline.drawing.made_up import check_made, sample_place, with_made
from understudy.pipeline.drawing.partial_values import PartialValues
from understudy.pipeline.drawing.wanted_records import WantedRecords
from understudy.pipeline.holding.determined import agreeing
from understudy.pipeline.holding.repair import hold, hold_given
from understudy.transforms.compress import Compression
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder

MOST_ROWS = 10**10

Whole = dict[str, npt.NDArray[Any]]  # records in the schema's codes, with nothing merged


def records(
    codes: CodedColumns,
    schema: Schema,
    compression: Compression,
    transforms: Sequence[TableTransform],
    rng: np.random.Generator,
    within: Within,
    form: TableForm,
    field: Generator,
    place: Place | None = None,
    only: WantedRecords | PartialValues | None = None,
    spare: CodedColumns | None = None,
) -> pa.Table:
    """The records of drawn codes: compression undone, the encoding, constraints held, the transforms, what is made
    up; then the table's own form.

    `place` is where in their sample the records stand; left out, they are a sample of their own. `only` is what was
    asked of them: others are drawn for those that do not fulfil it, and what was given of them stands. Others are
    drawn from the `field` for those that would break a constraint. `spare` are as many records again, where those
    that follow the field best in pairs of columns are to be kept of all.
    """
    encoder = Encoder(schema)
    partial = only if isinstance(only, PartialValues) else None

    def spread(drawn: CodedColumns) -> Whole:
        # In proportion to noisy counts: on Adult a tenth less error than the paper's even spread, and as private.
        return compression.reverse(dict(drawn.items()), rng, spread="counts")

    def values(drawn: CodedColumns, within: Within = within, whole: Whole | None = None) -> pa.Table:
        agreed = agreeing(spread(drawn) if whole is None else whole, schema, compression, rng)
        one = settle_one if schema.rules else None
        return settle(encoder.reverse(agreed, rng, within=within, settle=one, given=partial))

    def settle(table: pa.Table) -> pa.Table:
        return settled(table, form) if schema.rules else table

    def settle_one(name: str, drawn: pa.Array) -> pa.Array:
        return settle(pa.table({name: drawn})).column(0).combine_chunks()

    def more(rows: int) -> CodedColumns:
        drawing = only if isinstance(only, WantedRecords) else field
        return drawing.sample(rows, seed=int(rng.integers(2**63))).columns

    def held(drawn: CodedColumns, whole: Whole | None = None) -> pa.Table:
        table = values(drawn, whole=whole)
        return hold(schema, table, drawn, lambda again: values(again, "uniform"), more, settle)

    def completed(partial: PartialValues) -> pa.Table:
        drawn = partial.sample(seed=int(rng.integers(2**63))).columns
        return partial.restored(values(drawn, "uniform"))

    if isinstance(only, PartialValues):
        given = only
        table = hold_given(schema, only.restored(values(codes)), lambda: completed(given), settle)
    elif spare is not None and isinstance(field, Field):
        both = {name: np.concatenate([column, spare[name]]) for name, column in codes.items()}
        whole = spread(both)
        kept = followed(whole, len(both[next(iter(both))]) // 2, field, compression, rng)
        table = held(*({name: column[kept] for name, column in part.items()} for part in (both, whole)))
    else:
        table = held(codes)
    if isinstance(only, WantedRecords):
        table = only.fill(table, lambda rows: held(more(rows)))
    for transform in reversed(transforms):
        table = transform.reverse(table, rng)
    table = with_made(table, schema, sample_place(schema, rng) if place is None else place)
    table = only.restored(table) if isinstance(only, PartialValues) else table
    return as_declared(table, schema, form)


def check_seed(seed: int | None) -> None:
    """Refuse a seed that is none, before anything is drawn."""
    if seed is None or (isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0):
        return
    raise ParameterError(
        f"seed {seed!r} is not a whole number of at least 0.", hint="leave it out to draw anew every time."
    )


def checked_rows(schema: Schema, form: TableForm, rows: int) -> int:
    """A number of records to draw, once there can be so many: none is drawn before."""
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 0 <= rows <= MOST_ROWS:
        raise ParameterError(
            f"rows {rows!r} is not a whole number from 0 to {MOST_ROWS}.", hint="ask for fewer rows."
        )
    check_made(schema, form, int(rows))
    return int(rows)
