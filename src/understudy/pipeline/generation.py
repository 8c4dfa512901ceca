"""Synthetic records from drawn codes: the paper's step 8, in one place.

Every sample, of whatever size, to whatever file and on whatever engine, comes through `records`: what holds of a
record here holds of every synthetic record.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from understudy.data.forms.declared_values import as_declared
from understudy.data.forms.table_form import TableForm
from understudy.domain import Schema
from understudy.domain.codes import CodedColumns
from understudy.domain.columns.parts.codec import Within
from understudy.transforms.compress import Compression
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder


def records(
    codes: CodedColumns,
    schema: Schema,
    compression: Compression,
    transforms: Sequence[TableTransform],
    rng: np.random.Generator,
    within: Within,
    form: TableForm,
) -> pa.Table:
    """The records of drawn codes: compression undone, the encoding, the transforms; then the table's own form."""
    # In proportion to noisy counts: on Adult a tenth less error than the paper's even spread, and as private.
    whole = compression.reverse(dict(codes.items()), rng, spread="counts")
    table = Encoder(schema).reverse(whole, rng, within=within)
    for transform in reversed(transforms):
        table = transform.reverse(table, rng)
    return as_declared(table, schema, form)
