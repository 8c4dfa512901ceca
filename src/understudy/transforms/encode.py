"""Values to codes and back: one codec a column, by the column's type (see `domain/columns`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Domain, Schema, arrays
from understudy.domain.arrow_values import plain
from understudy.domain.codes import CodedColumns, Codes
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.differences.difference_codec import DifferenceCodec
from understudy.domain.columns.parts.codec import Within
from understudy.errors import DomainError, FileError, ParameterError, SchemaError
from understudy.transforms.derive import TableTransform

REDRAWN = 8  # times that a record whose difference leads past a bound is given other values of the same codes

Mask = npt.NDArray[np.bool_]
Settle = Callable[[str, pa.Array], pa.Array]


class Known(Protocol):
    """What is given of records before they are decoded."""

    def known(self, name: str, drawn: pa.Array) -> pa.Array:
        """A drawn column with the values that are given of it."""
        ...


class Encoder:
    """A table of values to a table of codes and back, by a schema in which nothing is left to learn.

    A value that misfits the schema never raises, since an error that depends on a record is a leak: it goes
    to the slot that its column's description gives it.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.domain: Domain = schema.domain()
        self.codecs = {name: column.codec() for name, column in schema.synthesised.items()}
        self._after = {
            name: (column.after, DifferenceCodec(column, schema[column.after]))
            for name, column in schema.synthesised.items()
            if isinstance(column, Difference)
        }

    def forward(self, table: pa.Table | pa.RecordBatch, /) -> dict[str, Codes]:
        """The codes of every synthesised column, in the smallest unsigned type; other columns are dropped."""
        return self.coded(table, self.domain.names)

    def coded(self, table: pa.Table | pa.RecordBatch, names: Sequence[str]) -> dict[str, Codes]:
        """The codes of some columns, for which the table has all that they read."""
        columns = {name: _column(table, name) for name in self.reads(names)}
        with ThreadPoolExecutor(max_workers=2) as pool:
            coded = pool.map(lambda name: self._encode(name, columns), names)
            return dict(zip(names, coded, strict=True))

    def reads(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns whose cells the codes of some columns come from: their own, and those they lie after."""
        cells = ((name, self._after[name][0]) if name in self._after else (name,) for name in names)
        return tuple(dict.fromkeys(cell for pair in cells for cell in pair))

    def alone(self, name: str) -> bool:
        """Whether a column's codes come from its own cells alone."""
        return name not in self._after

    def _encode(self, name: str, columns: Mapping[str, Any]) -> Codes:
        if name not in self._after:
            return self.codecs[name].encode(plain(columns[name]))
        other, codec = self._after[name]
        return codec.encode(plain(columns[other]), plain(columns[name]))

    def reverse(
        self,
        codes: CodedColumns,
        /,
        rng: np.random.Generator | None = None,
        *,
        within: Within = "uniform",
        settle: Settle | None = None,
        given: Known | None = None,
    ) -> pa.Table:
        """A table of values, each column in its own type; inside a bin, any value or the middle one.

        `settle` takes off what a column cannot show, and what is `given` of it stands: columns that are coded by how
        far they lie after it do so after that.
        """
        if within not in ("uniform", "midpoint"):
            raise ParameterError(f"within {within!r} is not known.", hint='write "uniform" or "midpoint".')
        rng = np.random.default_rng() if rng is None else rng
        table, beyond = self._values(codes, rng, within, settle, given)
        for _ in range(REDRAWN if given is None and within == "uniform" else 0):
            rows = np.flatnonzero(beyond)
            if not len(rows):
                break
            some = {name: np.asarray(codes[name])[rows] for name in self.domain}
            again, still = self._values(some, rng, within, settle, None)
            order = np.arange(table.num_rows)
            order[rows[~still]] = table.num_rows + np.flatnonzero(~still)
            table = pa.concat_tables([table, again]).take(pa.array(order))
            beyond[rows] = still
        return table

    def _values(
        self,
        codes: CodedColumns,
        rng: np.random.Generator,
        within: Within,
        settle: Settle | None,
        given: Known | None,
    ) -> tuple[pa.Table, Mask]:
        """The values of codes, and of which records a difference led past the upper bound, where it was stopped."""
        found: dict[str, pa.Array] = {}
        past: list[Mask] = []

        def decode(name: str) -> None:
            if name in found:
                return
            if name in self._after:
                other, codec = self._after[name]
                decode(other)
                array, beyond = codec.decode(found[other], self._codes(name, codes), rng, within)
                past.append(beyond)
            else:
                array = self._decode(name, codes, rng, within)
            array = array if settle is None else settle(name, array)
            found[name] = array if given is None else given.known(name, array)

        for name in self.domain:
            decode(name)
        rows = len(next(iter(found.values())))
        beyond = np.logical_or.reduce(past) if past else np.zeros(rows, np.bool_)
        return pa.table({name: found[name] for name in self.domain}), beyond

    def _codes(self, name: str, codes: CodedColumns) -> npt.NDArray[Any]:
        """The codes of a column that is coded by a difference, once each is one of it."""
        held = np.asarray(codes[name])
        if held.size and (held.min() < 0 or held.max() >= self.domain[name]):
            raise DomainError(f"column {name!r}: codes reach beyond its {self.domain[name]}.")
        return held

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
