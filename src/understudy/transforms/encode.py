"""Values to codes and back: one codec a column, by the column's type (see `domain/columns`)."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from understudy.domain import Domain, Schema, arrays
from understudy.domain.arrow_values import plain
from understudy.domain.codes import CodedColumns, Codes
from understudy.domain.columns.parts.codec import Within
from understudy.errors import DomainError, FileError, ParameterError, SchemaError
from understudy.transforms.derive import TableTransform


class Encoder:
    """A table of values to a table of codes and back, by a schema in which nothing is left to learn.

    A value that misfits the schema never raises, since an error that depends on a record is a leak: it goes
    to the slot that its column's description gives it.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.domain: Domain = schema.domain()
        self.codecs = {name: column.codec() for name, column in schema.synthesised.items()}

    def forward(self, table: pa.Table | pa.RecordBatch, /) -> dict[str, Codes]:
        """The codes of every synthesised column, in the smallest unsigned type; other columns are dropped."""
        columns = {name: _column(table, name) for name in self.domain}
        with ThreadPoolExecutor(max_workers=2) as pool:
            coded = pool.map(lambda name: self.codecs[name].encode(plain(columns[name])), columns)
            return dict(zip(columns, coded, strict=True))

    def reverse(
        self, codes: CodedColumns, /, rng: np.random.Generator | None = None, *, within: Within = "uniform"
    ) -> pa.Table:
        """A table of values, each column in its own type; inside a bin, any value or the middle one."""
        if within not in ("uniform", "midpoint"):
            raise ParameterError(f"within {within!r} is not known.", hint='write "uniform" or "midpoint".')
        rng = np.random.default_rng() if rng is None else rng
        return pa.table({name: self._decode(name, codes, rng, within) for name in self.domain})

    def _decode(self, name: str, codes: CodedColumns, rng: np.random.Generator, within: Within) -> pa.Array:
        if name not in codes:
            raise DomainError(
                f"column {name!r} is not among the codes.", hint="give every column of the domain."
            )
        try:
            return self.codecs[name].decode(codes[name], rng, within)
        except DomainError as error:
            raise DomainError(f"column {name!r}: {error}") from None


def reading_types(schema: Schema, transforms: Iterable[TableTransform] = ()) -> dict[str, pa.DataType]:
    """For each column, the type in which a CSV reader should try to parse it before it falls back to text.

    A cell must read the same whatever the others hold, so a type is named only where Arrow's parser
    agrees with ours; for that the reader must take nothing but the empty cell for null. What a transform reads
    is text, also where the schema describes a column of that name: it is the one that the transform makes.
    """
    known = {name: column for name, column in schema.synthesised.items() if not column.unlearned}
    types = dict.fromkeys([*schema.columns, *([schema.unit] if schema.unit else [])], pa.string())
    types |= {name: column.codec().reading_type() for name, column in known.items()}
    return types | {name: pa.string() for transform in transforms for name in transform.reads}


def missing_text(schema: Schema) -> dict[str, str]:
    """For each column, the text that a file should show for a missing value: the first declared, or none."""
    return {name: next(iter(column.missing_texts), "") for name, column in schema.columns.items()}


def _column(table: pa.Table | pa.RecordBatch, name: str) -> pa.ChunkedArray | pa.Array:
    places = table.schema.get_all_field_indices(name)
    if len(places) != 1:
        found = "is not in the table" if not places else f"stands {len(places)} times in the table"
        raise SchemaError(
            f"column {name!r} {found}.", hint="a schema describes columns that the table has, each once."
        )
    column = table.column(places[0])
    if not arrays.is_flat(column.type):
        raise FileError(
            f"column {name!r} has the nested type {column.type}.",
            hint="give it one value a cell, or drop it.",
        )
    return column
