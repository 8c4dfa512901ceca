"""Coded columns as every measure reads them: integers, with -1 for anything that is not a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import ParameterError

Codes = npt.NDArray[np.integer[Any]]
Columns = dict[str, Codes]

NOT_A_CODE = -1
PIECE = 1 << 20  # records looked at together, where what is made of them is wider than their codes
LOOKUP_LIMIT = 1 << 24  # largest code for which a lookup table is cheaper than a binary search


def read_columns(table: Any, what: str, names: Sequence[str] | None = None) -> Columns:
    """The columns of `table` by name; missing, negative and fractional values become -1.

    `table` is a mapping of arrays, an engine's table with `domain` and `columns`, an Arrow table or a
    data frame. `what` names it in messages ("the true table"). Columns of integers are not copied.
    """
    raw = _as_mapping(table, what)
    wanted = list(raw) if names is None else list(names)
    missing = [name for name in wanted if name not in raw]
    if missing:
        raise ParameterError(
            f"{what} has no column {missing[0]!r}.", hint="both tables need every column that is compared."
        )
    if not wanted:
        raise ParameterError(f"{what} has no columns.")
    columns = {name: _as_codes(raw[name], name, what) for name in wanted}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ParameterError(f"{what} has columns of different lengths.")
    if lengths == {0}:
        raise ParameterError(f"{what} has no records.", hint="a frequency needs at least one.")
    return columns


def require_codes(columns: Columns, what: str, largest: Mapping[str, int] | None = None) -> Columns:
    """The same columns, once every value is a code of 0 or above and none exceeds the column's largest."""
    for name, column in columns.items():
        if int(column.min()) < 0:
            raise ParameterError(
                f"{what}, column {name!r}: some values are missing, negative or not whole.",
                hint="give missing values a code of their own before comparing.",
            )
        if largest is not None and int(column.max()) > largest[name]:
            raise ParameterError(
                f"{what}, column {name!r}: some codes exceed {largest[name]}, the largest of the column.",
                hint="the tests belong to another table, or the sizes given are too small.",
            )
    return columns


def rows_of(columns: Mapping[str, Codes]) -> int:
    """How many records the columns hold."""
    return len(next(iter(columns.values())))


def pieces(rows: int) -> Iterator[slice]:
    """All of so many records, a piece at a time."""
    for start in range(0, rows, PIECE):
        yield slice(start, min(start + PIECE, rows))


def thin(table: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """At most `rows` of the table's records, drawn without replacement."""
    have = rows_of(table)
    if have <= rows:
        return table
    chosen = np.sort(randomness.choice(have, rows, replace=False))
    return {name: column[chosen] for name, column in table.items()}


def _as_mapping(table: Any, what: str) -> Mapping[str, Any]:
    inner = table.columns if hasattr(table, "domain") else table
    if isinstance(inner, Mapping):
        return {str(name): inner[name] for name in inner}
    if hasattr(table, "__arrow_c_stream__"):  # Arrow, or a data frame
        read = pa.table(table)
        return {name: read.column(name) for name in read.column_names}
    raise ParameterError(
        f"{what} is a {type(table).__name__}, not a table of coded columns.",
        hint="give a mapping from column name to an array of integers.",
    )


def _as_codes(values: Any, name: str, what: str) -> Codes:
    plain = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "iu"
    if plain and values.dtype != np.uint64:
        return np.asarray(values)
    try:
        arrow = isinstance(values, pa.Array | pa.ChunkedArray)
        array = values if arrow else pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise _no_codes(what, name, "several types, or of several dimensions,") from None
    kind = array.type
    if pa.types.is_integer(kind) and not array.null_count and kind != pa.uint64():
        return np.asarray(array.to_numpy())
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    if not any(fits(kind) for fits in numeric):
        raise _no_codes(what, name, f"type {kind}")
    whole_type = pa.int8() if pa.types.is_boolean(kind) else kind
    numbers = np.asarray(array.cast(whole_type).cast(pa.float64(), safe=False), np.float64)
    whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**62)
    return np.where(whole, numbers, NOT_A_CODE).astype(np.int64)


def _no_codes(what: str, name: str, kind: str) -> ParameterError:
    return ParameterError(
        f"{what}, column {name!r}: values of {kind} are not codes.",
        hint="encode the table first; measures compare integer codes.",
    )


@dataclass(frozen=True, eq=False)
class Codebook:
    """Some codes of a column, renumbered 0, 1, 2, ... in ascending order; all others get `absent`."""

    values: npt.NDArray[np.int64]
    _lookup: npt.NDArray[np.int32] | None

    @classmethod
    def of(cls, column: Codes) -> Codebook:
        """The codebook of every code (0 or above) that occurs in `column`."""
        if len(column) and 0 <= int(column.max()) < LOOKUP_LIMIT:
            present = np.zeros(int(column.max()) + 1, bool)
            present[column[column >= 0] if int(column.min()) < 0 else column] = True
            return cls.listing(np.flatnonzero(present))
        return cls.listing(np.unique(column[column >= 0]))

    @classmethod
    def listing(cls, values: npt.ArrayLike) -> Codebook:
        """The codebook of these values."""
        ordered = np.unique(np.asarray(values, dtype=np.int64))
        if not len(ordered) or ordered[0] < 0 or ordered[-1] >= LOOKUP_LIMIT:
            return cls(ordered, None)
        lookup = np.full(int(ordered[-1]) + 1, len(ordered), np.int32)
        lookup[ordered] = np.arange(len(ordered), dtype=np.int32)
        return cls(ordered, lookup)

    @property
    def absent(self) -> int:
        """The number that stands for every code not in the book."""
        return len(self.values)

    @property
    def without_gaps(self) -> bool:
        """Whether every code of the book keeps its number."""
        return bool(len(self.values)) and int(self.values[-1]) == self.absent - 1

    def encode(self, column: Codes) -> npt.NDArray[np.int32]:
        """The column renumbered."""
        if not len(self.values):
            return np.zeros(len(column), np.int32)
        if self._lookup is None:
            place = np.minimum(np.searchsorted(self.values, column), self.absent - 1)
            return np.where(self.values[place] == column, place, self.absent).astype(np.int32)
        top = len(self._lookup) - 1
        low, high = int(column.min()), int(column.max())
        if low >= 0 and high <= top:
            return self._lookup[column]
        inside = (column >= 0) & (column <= top)
        return np.where(inside, self._lookup[np.where(inside, column, 0)], self.absent).astype(np.int32)
