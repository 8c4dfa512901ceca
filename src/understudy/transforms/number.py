"""Numbers: in bins, with special values exact, and decoded at the declared precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Number
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Whole, Within, pick, step_aside

Floats = npt.NDArray[np.float64]


class NumberCodec(Codec[Number]):
    """Bins in order, then the special values, then the slots."""

    arrow_type = pa.float64()

    def __init__(self, column: Number) -> None:
        super().__init__(column)
        self.cuts = np.array(column.cuts, dtype=np.float64)
        self.bins = len(self.cuts) - 1
        meant = (grammar.number(text) for text in column.missing_texts)
        self.missing = [number for number in meant if number is not None]

    def encode(self, array: pa.Array) -> CodeArray:
        column, numbers = self.column, arrays.floats(array)
        codes = np.searchsorted(self.cuts[1:-1], numbers, side="right").astype(self.dtype)
        if column.outside_code is not None:
            codes[(numbers < self.cuts[0]) | (numbers > self.cuts[-1])] = column.outside_code
        for place, special in enumerate(column.special):
            codes[numbers == special] = self.bins + place
        for number in self.missing:
            codes[numbers == number] = column.null_code
        unread = np.isnan(numbers)
        if unread.any():
            codes[unread] = column.null_code
        return codes

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: self._values(wide, rng, within))

    def _values(self, codes: Whole, rng: np.random.Generator, within: Within) -> Floats:
        specials = codes >= self.bins
        bins = np.where(specials, 0, codes)
        reserved = [*self.column.special, *self.missing]
        numbers = self._anywhere(bins, rng, within, reserved)
        if self.column.precision is not None:
            numbers = self._rounded(bins, numbers, rng, within, reserved)
        if specials.any():
            exact = np.array(self.column.special, dtype=np.float64)
            numbers[specials] = exact[codes[specials] - self.bins]
        return numbers

    def _anywhere(
        self, bins: Whole, rng: np.random.Generator, within: Within, reserved: list[float]
    ) -> Floats:
        """A float inside each bin, at no particular precision."""
        low, high = self.cuts[bins], self._tops()[bins]
        share = 0.5 if within == "midpoint" else rng.random(len(bins))
        # Not low + share * (high - low): that overflows when the bounds are as far apart as floats go.
        numbers = np.clip(low * (1 - share) + high * share, low, high)
        taken = np.isin(numbers, reserved)
        numbers[taken] = np.nextafter(numbers[taken], np.where(numbers < high, high, low)[taken])
        return numbers

    def _rounded(
        self, bins: Whole, numbers: Floats, rng: np.random.Generator, within: Within, reserved: list[float]
    ) -> Floats:
        """A number of the declared precision inside each bin; where a bin holds none, `numbers` as it is."""
        first, last = self._grid()
        start, length = first[bins], (last - first)[bins]
        drawn = pick(np.maximum(length, 0), rng, within)
        drawn = step_aside(drawn, length, lambda steps: np.isin(self._on_grid(start + steps), reserved))
        return np.where(length >= 0, self._on_grid(start + drawn), numbers)

    def _tops(self) -> Floats:
        """The largest float of each bin: only the last one holds its upper edge."""
        return np.append(np.nextafter(self.cuts[1:-1], -np.inf), self.cuts[-1])

    def _on_grid(self, places: Whole) -> Floats:
        """The number at each place of the grid of the declared precision, rounded once."""
        steps = self.column.steps_a_unit
        exact = places.astype(np.float64)
        return exact / steps if steps >= 1 else exact * (self.column.precision or 1.0)

    def _grid(self) -> tuple[Whole, Whole]:
        """The first and last place of the grid inside each bin; last < first where there is none."""
        furthest = 2.0**53  # beyond this floats are coarser than the grid
        scale = self.column.steps_a_unit
        low, high = self.cuts[:-1], self._tops()
        with np.errstate(over="ignore"):
            first = np.clip(np.floor(low * scale), -furthest, furthest).astype(np.int64) - 1
            last = np.clip(np.ceil(high * scale), -furthest, furthest).astype(np.int64) + 1
            beyond = np.maximum(np.abs(low), np.abs(high)) * scale > furthest
        for _ in range(3):  # the products are off by a rounding at most: settle it on the numbers themselves
            first += self._on_grid(first) < low
            last -= self._on_grid(last) > high
        coarse = beyond | (self._on_grid(first) < low) | (self._on_grid(last) > high)
        last[coarse] = first[coarse] - 1
        return first, last

    def reading_type(self) -> pa.DataType:
        return pa.float64() if len(self.missing) == len(self.column.missing_texts) else pa.string()
