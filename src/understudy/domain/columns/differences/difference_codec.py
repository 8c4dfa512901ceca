"""Two cells of one record to a code, and a code with the other cell back to a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.codes import Codes, code_type
from understudy.domain.columns.column import Column
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.differences.ends import ends_of, grid_of
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.moment import DAY, SECOND, Moment, MomentCodec
from understudy.domain.columns.parts.codec import Whole, Within, pick

Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

SLACK = 1e-6  # of a unit, by which a difference of decimals may be off


class DifferenceCodec:
    """The codes of a column by its difference from another, `base`."""

    def __init__(self, column: Difference, base: Column) -> None:
        self.column, self.base = column, base.of if isinstance(base, Difference) else base
        self.dtype = code_type(column.size)
        self.steps = np.array(column.least, np.int64)

    def encode(self, others: pa.Array, array: pa.Array) -> Codes:
        """The code of each record by its cell of the other column and its own; no two cells raise."""
        column = self.column
        start, start_missing, _ = _numbers(self.base, others)
        value, missing, promised = _numbers(column.of, array)
        units = self._units(start, value)
        places = np.searchsorted(self.steps, np.minimum(units, column.most), side="right") - 1
        codes = np.where(places < 0, column.astray, places)
        codes = np.where(start_missing, self._alone(value) if column.alone else column.astray, codes)
        codes[missing] = column.null_code
        codes[promised] = column.astray
        return codes.astype(self.dtype)

    def _alone(self, value: Numbers) -> Whole:
        """The code of each value by itself."""
        low, high = ends_of(self.column.of)
        parts = np.floor((value - low) / (high - low) * self.column.alone)
        place: Whole = np.clip(parts, 0, self.column.alone - 1).astype(np.int64)
        return place + self.column.astray + 1

    def _units(self, start: Numbers, value: Numbers) -> Whole:
        """How many whole units each value lies after its start; -1 for all that lie before it."""
        apart = value - start
        if apart.dtype == np.int64:
            return np.where(apart < 0, -1, apart // int(self.column.unit))
        whole = np.clip(np.floor(apart / self.column.unit + SLACK), 0, self.column.most)
        return np.where(apart < 0, -1, whole).astype(np.int64)

    def decode(
        self, others: pa.Array, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within
    ) -> tuple[pa.Array, Mask]:
        """A value for each code after the other cell of its record, and which of them lay beyond the upper bound.

        A code that says nothing of how far apart they are takes that of another record among these; where the other
        cell is missing and the code does not say what the value is by itself, it takes another record's value.
        """
        column = self.column
        low, high = ends_of(column.of)
        start, absent, _ = _numbers(self.base, others)
        wide = np.asarray(codes).astype(np.int64)
        missing = wide == column.missing_code
        known = wide < column.ranges
        part = np.where((wide > column.astray) & ~missing, wide - column.astray - 1, -1)
        wide[~known] = rng.choice(wide[known], int((~known).sum())) if known.any() else 0
        value = self._after(start, wide, rng, within)
        beyond = (value > high) & ~absent & ~missing
        value = np.clip(value, low, high)
        if absent.any():
            value[absent] = self._values_alone(part[absent], value[~absent & ~missing], rng, within)
        return column.written(_array(column.of, value, missing)), beyond

    def _values_alone(
        self, parts: Whole, others: Numbers, rng: np.random.Generator, within: Within
    ) -> Numbers:
        """A value within each part of the bounds; where none is said, another record's, or any."""
        low, high = ends_of(self.column.of)
        inside = np.full(len(parts), 0.5) if within == "midpoint" else rng.random(len(parts))
        whole = (parts < 0) | (self.column.alone == 0)
        place = np.where(whole, inside, (parts + inside) / max(1, self.column.alone))
        found = _snapped(self.column.of, low + place * (high - low))
        if whole.any() and len(others):
            found[whole] = rng.choice(others, int(whole.sum()))
        return found

    def before(self, array: pa.Array, codes: npt.NDArray[Any], rng: np.random.Generator) -> pa.Array:
        """A value of the other column that lies as far before each of this one as its code says."""
        column = self.column
        wide = np.asarray(codes).astype(np.int64)
        known = wide < column.ranges
        wide[~known] = rng.choice(wide[known], int((~known).sum())) if known.any() else 0
        value, missing, _ = _numbers(column.of, array)
        low, high = ends_of(self.base)
        start = np.clip(value - self._drawn(wide, rng, "uniform") * column.unit, low, high)
        return self.base.written(_array(self.base, _snapped(self.base, start), missing))

    def _drawn(self, codes: Whole, rng: np.random.Generator, within: Within) -> Whole:
        """How many units lie between the two, for each code."""
        first = self.steps[codes]
        return first + pick(np.append(self.steps[1:] - 1, self.column.most)[codes] - first, rng, within)

    def _after(self, start: Numbers, codes: Whole, rng: np.random.Generator, within: Within) -> Numbers:
        """The first value on the column's grid that lies so far after each start."""
        units = self._drawn(codes, rng, within)
        grid, unit = grid_of(self.column.of), self.column.unit
        found: Numbers
        if start.dtype == np.int64 and isinstance(unit, int):
            origin = ends_of(self.column.of)[0] if isinstance(self.column.of, Integer) else 0
            found = -(-(start + units * unit - origin) // unit) * unit + origin
        elif not grid:
            found = start + (units + (0.5 if within == "midpoint" else rng.random(len(units)))) * unit
        else:
            scale = getattr(self.column.of, "steps_a_unit", 1 / grid)
            place = np.ceil(start * scale - SLACK) + units
            found = place / scale if scale >= 1 else place * grid
        return found


def _numbers(column: Column, array: pa.Array) -> tuple[Numbers, Mask, Mask]:
    """Each cell of a column as a number within its bounds, which are missing, and which break a promise not to be.

    Each by its cell alone: what cannot be read is missing, and so is a value outside where the schema says so.
    """
    assert isinstance(column, FormattedColumn)
    plain = column.plain_values(array)
    numbers, unread = _read(column, plain)
    bad = np.zeros(len(numbers), np.bool_) if unread is None else unread.copy()
    low, high = ends_of(column)
    if isinstance(column, Moment):
        high = column.extent[1]  # any moment of the last day is inside
    for number in _marks(column):
        bad |= numbers == number
    if column.rule == "missing":
        bad |= ~((numbers >= low) & (numbers <= high))
    numbers = np.where(bad, low, np.clip(numbers, low, high))
    if isinstance(column, Moment):
        numbers = numbers // grid_of(column) * grid_of(column)
    broken = bad if column.missing is False else np.zeros(len(numbers), np.bool_)
    return numbers, bad, broken


def _snapped(column: Column, value: Numbers) -> Numbers:
    """The greatest value on a column's grid, and within its bounds, that lies at or below each number."""
    low, high = ends_of(column)
    grid = grid_of(column)
    if not grid:
        return np.clip(value, low, high)
    if isinstance(column, Moment):
        return np.clip(np.floor(value).astype(np.int64) // int(grid) * int(grid), low, high)
    if isinstance(column, Integer):
        whole: Whole = (low + np.floor((value - low) / grid + SLACK) * grid).astype(np.int64)
        return whole
    scale = getattr(column, "steps_a_unit", 1 / grid)
    place = np.floor(value * scale + SLACK)
    return np.clip(place / scale if scale >= 1 else place * grid, low, high)


def _read(column: FormattedColumn, plain: pa.Array) -> tuple[Numbers, Mask | None]:
    if isinstance(column, Moment):
        return _moments(column).read(plain)
    if isinstance(column, Integer):
        return arrays.integers(plain)
    numbers = arrays.floats(plain)
    return numbers, np.isnan(numbers)


def _moments(column: Moment) -> MomentCodec[Any]:
    codec = column.unformatted.codec()
    assert isinstance(codec, MomentCodec)
    return codec


def _marks(column: FormattedColumn) -> list[Any]:
    """The numbers that texts of missing values mean."""
    if isinstance(column, Moment):
        return _moments(column).missing
    read = grammar.whole if isinstance(column, Integer) else grammar.number
    return [number for text in column.plain_marks if (number := read(text)) is not None]


def _array(column: Column, value: Numbers, missing: Mask) -> pa.Array:
    """Numbers as values of the plain column."""
    assert isinstance(column, FormattedColumn)
    kind = column.unformatted.codec().arrow_type
    if pa.types.is_date32(kind):
        return pa.array((value // DAY).astype(np.int32), pa.int32(), mask=missing).view(kind)
    if pa.types.is_time32(kind):
        return pa.array((value // SECOND).astype(np.int32), pa.int32(), mask=missing).view(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(value, pa.int64(), mask=missing).view(kind)
    if pa.types.is_integer(kind):
        return pa.array(np.ceil(value).astype(np.int64), kind, mask=missing)
    return pa.array(value.astype(np.float64), kind, mask=missing)
