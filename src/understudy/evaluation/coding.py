"""Two tables of values as codes of one schema, so that equal codes mean equal values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from understudy.domain import Column, Schema, arrays
from understudy.domain.arrow_values import plain
from understudy.domain.grammar import no_number
from understudy.errors import ParameterError, SchemaError
from understudy.evaluation.columns import NOT_A_CODE, PIECE, Codes, Columns, rows_of
from understudy.transforms.encode import Encoder


@dataclass(frozen=True, eq=False)
class Coding:
    """A complete schema, the real records coded by it, and for each column the code of values that it does not list.

    Where a schema file says what becomes of values outside (`outside`), that is done; else they are kept
    apart, for a value outside the bounds is not the bound.
    """

    schema: Schema
    real: Columns
    unknown: Mapping[str, int]
    absent: Mapping[str, frozenset[str]]  # texts of the real table that stand for no value, where others do

    @classmethod
    def of(cls, schema: Schema, real: pa.Table) -> Coding:
        """The coding of a schema; what it leaves out is read from the real records."""
        return cls.of_pieces(completed(schema, real), [real])

    @classmethod
    def of_pieces(cls, schema: Schema, real: Iterable[pa.Table]) -> Coding:
        """The coding of a schema that leaves nothing out, of real records that are read a piece at a time."""
        apart = {name: _apart(column) for name, column in schema.synthesised.items() if not column.outside}
        codes = {name: column.other_code for name, column in apart.items()}
        complete = schema.with_columns(apart)
        coded: dict[str, list[Codes]] = {}
        absent: dict[str, set[str]] = {}
        for name, values, part in _coded(complete, real):
            coded.setdefault(name, []).append(part)
            cells = _absent_cells(complete.columns[name], values, part)
            absent.setdefault(name, set()).update(cells.unique().to_pylist())
        return cls(
            complete,
            _whole(coded),
            {name: code for name, code in codes.items() if code is not None},
            {name: frozenset(found) for name, found in absent.items()},
        )

    def synthetic(self, table: Iterable[pa.Table]) -> Columns:
        """The codes of the synthetic records, which come in pieces; a value unknown to the schema matches nothing."""
        coded: dict[str, list[Codes]] = {}
        for name, values, part in _coded(self.schema, table):
            coded.setdefault(name, []).append(self._without_unknown(name, values, part))
        return _whole(coded)

    def only(self, names: Collection[str]) -> Coding:
        """The coding of some of its columns, at least one of them."""
        kept = {name: column for name, column in self.schema.columns.items() if name in names}
        if not kept:
            raise ParameterError(
                "the two tables have no column in common.",
                hint="give the synthetic table of this real table.",
            )
        return Coding(
            replace(self.schema, columns=kept),
            {name: codes for name, codes in self.real.items() if name in kept},
            {name: code for name, code in self.unknown.items() if name in kept},
            {name: texts for name, texts in self.absent.items() if name in kept},
        )

    def strangers(self, columns: Columns) -> int:
        """How many records hold a value that the schema does not know."""
        found = np.zeros(rows_of(columns), bool)
        for name, column in columns.items():
            found |= (column == self.unknown.get(name, NOT_A_CODE)) | (column == NOT_A_CODE)
        return int(found.sum())

    def _without_unknown(self, name: str, values: pa.ChunkedArray, codes: Codes) -> Codes:
        strange = codes == self.unknown.get(name, NOT_A_CODE)
        described = self.schema.columns[name]
        cells = _absent_cells(described, values, codes)
        known = {None, *self.absent[name], *described.missing_texts}
        if len(cells):  # texts without a value, which neither the schema nor the real table takes for missing
            foreign = [text not in known and not no_number(text) for text in cells.to_pylist()]
            strange[codes == described.missing_code] |= foreign
        return np.where(strange, NOT_A_CODE, codes.astype(np.int64)) if strange.any() else codes


def _coded(schema: Schema, table: Iterable[pa.Table]) -> Iterator[tuple[str, pa.ChunkedArray, Codes]]:
    """Each column's values and codes, piece after piece of the table."""
    encoder = Encoder(schema)
    for given in table:
        for start in range(0, max(1, given.num_rows), PIECE):
            piece = given.slice(start, PIECE)
            for name, codes in encoder.forward(piece).items():
                yield name, piece[name], codes


def _whole(parts: dict[str, list[Codes]]) -> Columns:
    """The columns, each put together of its parts, which are given up for it."""
    return {name: np.concatenate(parts.pop(name)) for name in list(parts)}


def _absent_cells(column: Column, values: pa.ChunkedArray, codes: Codes) -> pa.Array:
    """The cells that were coded as missing, of a column of numbers or moments that was read as text."""
    array = plain(values)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not column.bounded or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return pa.array([], pa.string())
    return array.filter(pa.array(codes == column.missing_code)).cast(pa.string())


def _apart(column: Column) -> Column:
    """The column with a slot for values outside, and one for missing values whatever was promised."""
    return replace(column, outside="other", missing=column.missing or None)


def completed(schema: Schema, real: pa.Table) -> Schema:
    """The schema with nothing left out, once these records have been looked at.

    `fit` learns the same privately. Here nothing is protected, for a page that stays inside: bounds are those of the
    records, categories all that occur, and bins hold about as many records each.
    """
    found = {}
    for name in schema.unlearned:
        try:
            found[name] = schema[name].completed(plain(real[name]))
        except SchemaError:  # its message may show a value, so it goes no further
            raise SchemaError(
                f"column {name!r}: its records do not say what its codes should be.",
                hint="describe it in a schema: values, or bounds and bins.",
            ) from None
    return schema.with_columns(found)


def check_table(table: pa.Table, schema: Schema, what: str) -> None:
    """Refuse a table without records, or without a column of the schema."""
    check_columns(table.column_names, schema, what)
    check_records(table.num_rows, what)


def check_columns(names: Collection[str], schema: Schema, what: str) -> None:
    """Refuse a table without a column of the schema."""
    for name in schema.synthesised:
        if name not in names:
            raise SchemaError(f"{what} has no column {name!r}.", hint="both need every column of the schema.")


def check_records(rows: int, what: str) -> None:
    """Refuse a table without records."""
    if not rows:
        raise ParameterError(f"{what} has no records.", hint="a frequency needs at least one.")


def whole_numbers(table: pa.Table, names: list[str]) -> Columns:
    """The columns as the numbers that they hold; what is not a whole number of at least 0 is not a code."""
    found: Columns = {}
    for name in names:
        numbers = arrays.floats(plain(table[name]))
        with np.errstate(invalid="ignore"):
            whole = (
                np.isfinite(numbers) & (numbers >= 0) & (numbers < 2.0**53) & (numbers == np.floor(numbers))
            )
        found[name] = np.where(whole, numbers, NOT_A_CODE).astype(np.int64)
    return found
