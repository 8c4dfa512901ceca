"""Whole numbers: one by one or in bins, on the grid of their step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Integer
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Within, pick, step_aside

_EXACT = 2**53  # below this a float tells every whole number apart


class IntegerCodec(Codec[Integer]):
    """Bins in order, then the special values, then the slots."""

    arrow_type = pa.int64()

    def __init__(self, column: Integer) -> None:
        super().__init__(column)
        meant = (grammar.whole(text) for text in column.missing_texts)
        self.missing = [number for number in meant if number is not None]

    def encode(self, array: pa.Array) -> CodeArray:
        column = self.column
        values, unread = arrays.integers(array)
        codes = self._bins(values)
        if column.outside_code is not None:
            codes[(values < column.low) | (values > column.high)] = column.outside_code
        for place, special in enumerate(column.special):
            codes[values == special] = column.groups + place
        for number in self.missing:
            codes[values == number] = column.null_code
        if unread is not None:
            codes[unread] = column.null_code
        return codes

    def _bins(self, values: npt.NDArray[np.int64]) -> CodeArray:
        column = self.column
        if not column.one_by_one:
            inner = np.array(column.starts[1:-1], dtype=np.int64)
            return np.searchsorted(inner, values, side="right").astype(self.dtype)
        places = np.clip(values, column.low, column.high)
        # At most a million values, so the differences are small whatever the bounds.
        places -= column.low
        if column.step > 1:
            places //= column.step
        return places.astype(self.dtype)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: self._values(wide, rng, within))

    def _values(
        self, codes: npt.NDArray[np.int64], rng: np.random.Generator, within: Within
    ) -> npt.NDArray[np.int64]:
        column = self.column
        if column.one_by_one and not column.special:
            return column.low + codes * column.step
        # First value and number of steps after it, for each code; a special value is a bin of one.
        first = np.array([*column.starts[:-1], *column.special], dtype=np.int64)[codes]
        lengths = [(after - start) // column.step - 1 for start, after in pairwise(column.starts)]
        last = np.array([*lengths, *[0] * len(column.special)], dtype=np.int64)[codes]
        reserved = [*column.special, *self.missing]
        drawn = pick(last, rng, within)
        drawn = step_aside(drawn, last, lambda steps: np.isin(first + steps * column.step, reserved))
        return first + drawn * column.step

    def reading_type(self) -> pa.DataType:
        # As floats: Arrow's parser of whole numbers takes hexadecimal ones, which are not in the grammar.
        ends = (self.column.low, self.column.high, *self.column.special, *self.missing)
        told_apart = all(abs(end) < _EXACT for end in ends)
        readable = len(self.missing) == len(self.column.missing_texts)
        return pa.float64() if told_apart and readable else pa.string()
