"""Whole numbers: one by one or in bins, on the grid of their step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.arrow_values import is_text
from understudy.domain.codes import Codes
from understudy.domain.columns.binned import (
    BINS,
    BinnedColumn,
    Edges,
    NumbersSeen,
    bounds_of,
    quantiles,
    with_ends,
)
from understudy.domain.columns.category import Category
from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.codec import Codec, Within, pick, step_aside
from understudy.domain.columns.parts.decimals import plain_form
from understudy.domain.columns.parts.density import Pieces, place_within
from understudy.domain.columns.parts.fields import ascending, below, distinct, listed, refuse, whole
from understudy.domain.columns.parts.ladder import LADDER, ladder
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.domain.columns.parts.sight import (
    LEFT_BOUNDS,
    MOSTLY,
    REVIEW_BOUNDS,
    REVIEW_CODES,
    REVIEW_SPECIAL,
    REVIEW_STEP,
    REVIEW_VALUES,
    REVIEW_YEARS,
    TOO_WIDE,
    Sight,
)

# Up to this many whole numbers are kept one by one unless `bins` asks for fewer, or records are few.
ONE_BY_ONE = 1_000
FINE_VALUES = 4_096  # whole numbers that are looked at one by one, to find bins
FEW = 128  # whole numbers that are kept one by one in any case
_EXACT = 2**53  # below this a float tells every whole number apart
STEPPED = 20  # different numbers that are all multiples of one are no chance


@dataclass(frozen=True)
class Integer(BinnedColumn):
    """Whole numbers, one by one or in bins. More parameters: those of every `Column`.

    Parameters:
        min: the least; left out, it is learned privately.
        max: the greatest; left out, it is learned privately.
        step: values come in steps of this, 1 by default; one between two steps counts as the lower.
        bins: spreads the values evenly over that many codes.
        edges: where bins begin, in order, instead of `bins`; a bin holds its lower edge.
        special: values with codes of their own, also outside the bounds.
        density: how values lie within bins: from each number on, a weight. A private run fills it in.
        format: an example of how cells are written, such as "1.234"; by default plain digits.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "integer"

    min: int | None = None
    max: int | None = None
    step: int = 1
    bins: int | None = None
    edges: tuple[int, ...] | None = None
    special: tuple[int, ...] = ()
    density: Pieces = ()

    def _check(self) -> None:
        for field in ("min", "max"):
            if getattr(self, field) is not None:
                _in_64_bits(field, whole(field, getattr(self, field)))
        below(self.min, self.max)
        whole("step", self.step, 1)
        self._set(
            "special",
            tuple(_in_64_bits("special", whole("special", v)) for v in listed("special", self.special)),
        )
        distinct("special", self.special)
        if self.edges is not None:
            edges = tuple(_in_64_bits("edges", whole("edges", v)) for v in listed("edges", self.edges))
            self._check_edges(edges)
            self._set("edges", edges)
        self._check_bins()
        if self.unlearned in ((), ("bins",)):
            self._check_steps()

    def _check_steps(self) -> None:
        if self.values == 1:
            refuse("step", self.step, "leaves a single value.", "take a smaller step.")
        if self.bins is not None and self.bins > self.values:
            refuse(
                "bins",
                self.bins,
                f"is more than the {self.values} values.",
                "ask for fewer, or leave bins out.",
            )
        if self.edges is not None:
            ascending("edges", self.starts)  # a bin between two steps would hold nothing

    @property
    def unlearned(self) -> tuple[str, ...]:
        if self.edges is not None:
            return ()
        open_bounds = tuple(field for field in ("min", "max") if getattr(self, field) is None)
        if open_bounds:
            return open_bounds  # whether bins are wanted depends on how far apart they turn out to be
        return ("bins",) if self.bins is None and self.values > ONE_BY_ONE else ()

    @property
    def low(self) -> int:
        """The smallest value."""
        ends = [end for end in (self.min, self.edges[0] if self.edges else None) if end is not None]
        return min(ends)

    @property
    def high(self) -> int:
        """The largest value allowed (the last step may stop short of it)."""
        ends = [end for end in (self.max, self.edges[-1] if self.edges else None) if end is not None]
        return max(ends)

    @property
    def values(self) -> int:
        """How many values there are from the smallest to the largest."""
        return (self.high - self.low) // self.step + 1

    @property
    def one_by_one(self) -> bool:
        """Whether each value has a code of its own."""
        return self.edges is None and self.bins in (None, self.values)

    @property
    def groups(self) -> int:
        """How many codes stand for ranges of values, the special ones not counted."""
        if self.edges is not None:
            return len(with_ends(self.low, self.edges, self.high)) - 1
        return self.bins or self.values

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first value of each bin, and one step past the last."""
        end = self.low + self.values * self.step
        if self.edges is not None:
            inner = with_ends(self.low, self.edges, self.high)[:-1]
            return (*(self.low - (self.low - cut) // self.step * self.step for cut in inner), end)
        groups, low, values = self.groups, self.low, self.values
        return tuple(low - -(i * values) // groups * self.step for i in range(groups + 1))

    @property
    def count(self) -> int:
        return self.groups + len(self.special)

    def _plain_codec(self) -> IntegerCodec:
        return IntegerCodec(self)

    def _starts(self) -> tuple[float, ...]:
        return tuple(map(float, self.starts[:-1]))

    def value_labels(self) -> list[str]:
        last = [after - self.step for after in self.starts[1:]]
        ranges = [str(a) if a == b else f"{a} to {b}" for a, b in zip(self.starts, last, strict=False)]
        return ranges + [str(value) for value in self.special]

    @property
    def decimals(self) -> int:
        return 0

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        last = [after - self.step for after in self.starts[1:]]
        return np.array([*self.starts[:-1], *self.special]), np.array([*last, *self.special])

    def grid(self, *, instants: bool = False) -> Self:
        """Steps of 1, 2 and 5; that from 0 to 1 holds zero alone."""
        inside = ladder(LADDER, self.min, self.max)
        edges = tuple(sorted({int(edge) for edge in inside if -(2**63) <= edge < 2**63}))
        return replace(self, min=None, max=None, step=1, bins=None, edges=edges)

    def with_bounds(self, grid: Self, counts: NoisyCounts) -> Self:
        """As of any column with bins; in steps, from a multiple of the step on."""
        found = super(Integer, replace(self, step=1)).with_bounds(grid, counts)
        first, last = found.bounds
        low = first // self.step * self.step if self.min is None else first
        high = max(last, low + self.step) if self.max is None else last
        return replace(found, min=low, max=high, step=self.step)

    def _last(self, edge: int, bottom: int) -> int:
        return max(edge - 1, bottom + 1)  # a bin of whole numbers ends one before the next begins

    def fine(self, coarse: tuple[Self, NoisyCounts] | None) -> Self:
        """Every whole number by itself where they are not too many: a cap or a code may hold much of the mass."""
        if self.values <= FINE_VALUES:
            return replace(self, bins=self.values, edges=None)
        return super().fine(coarse)

    def _places(self) -> Edges:
        return np.array(self.starts)

    def with_bins(self, counts: NoisyCounts) -> Self:
        """The column with bins, as of any column with bins; whole numbers that are few enough are kept one by one."""
        if self.values <= np.clip(counts.first(self.ranges).bins, FEW, ONE_BY_ONE):
            return replace(self, bins=None, edges=None)
        if not self.one_by_one:
            return super().with_bins(counts)
        spikes = counts.first(self.ranges).spikes()
        rest = counts.values.astype(np.float64)
        rest[spikes] = 0.0
        special = [value for place in spikes if (value := self.starts[place]) not in self.special]
        binned = super().with_bins(NoisyCounts(rest, counts.stddev))
        return replace(binned, special=(*self.special, *special))

    def _cut_at(self, edges: Edges) -> Self:
        low, high = self.bounds
        cuts = (low - (low - int(edge)) // self.step * self.step for edge in np.ceil(edges[:-1]).tolist())
        inner = {cut for cut in cuts if low <= cut < high}
        return replace(self, bins=None, edges=tuple(sorted({low, *inner, high})))

    def completed(self, array: pa.Array) -> Integer:
        values, unread = arrays.integers(self.plain_values(array))
        meant = [number for text in self.plain_marks if (number := grammar.whole(text)) is not None]
        seen = np.sort(arrays.readable(values, unread, [*self.special, *meant]))
        low, high = bounds_of(self, seen, self.step)
        high = min(int(high), 2**63 - 1)
        low = min(int(low), high - self.step)  # where every value is the largest that there is
        bounded = replace(self, min=low, max=high, bins=None)
        if self.bins is not None:
            return replace(bounded, bins=min(self.bins, bounded.values))
        if not bounded.unlearned:
            return bounded
        if self.step > 1:
            return replace(bounded, bins=min(BINS, bounded.values))
        edges, heavy = quantiles(seen, low, high)
        return replace(bounded, edges=edges, special=(*self.special, *heavy))

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Integer | None:
        return cls() if pa.types.is_integer(kind) or pa.types.is_duration(kind) else None

    @classmethod
    def drafted(cls, sight: Sight) -> Column | None:
        """Whole numbers: a range where they have few gaps, a list of codes where few of many, else left open."""
        seen = None if sight.zeros else NumbersSeen.of(sight)
        if seen is None:
            return cls._by_format(sight, whole=True)
        if not seen.whole or sight.epoch or sight.clock or sight.form("date"):
            return None
        if sight.share(filter(_is_wide, sight.numbers)) > 1 - MOSTLY:
            texts = Category.of_texts(sight)
            return replace(texts, comment="\n".join((texts.comment, TOO_WIDE)))
        if seen.codes:
            codes = tuple(sorted({grammar.whole(text) or 0 for text in seen.codes}))
            comment = sight.comment(*seen.remarks, REVIEW_CODES)
            return Category(codes, ordered=True, missing=seen.missing, comment=comment)
        written = plain_form(sight.numbers) if is_text(sight.kind) else None  # a plus before all
        years = [grammar.whole(text) or 0 for text in sight.only(sight.numbers).repeated()[0]]
        if not seen.listed and years and not seen.spikes and all(1800 <= year < 2100 for year in years):
            low, high = min(years) // 10 * 10, max(years) // 10 * 10 + 9
            comment = sight.comment(*seen.remarks, REVIEW_YEARS)
            return cls(min=low, max=high, missing=seen.missing, comment=comment)
        if not seen.listed:
            remarks = (*seen.remarks, REVIEW_SPECIAL) if seen.spikes else seen.remarks
            special = tuple(map(int, seen.spikes))
            step = _step(sight, special)
            stepped = REVIEW_STEP if step > 1 else ""
            comment = sight.comment(*remarks, stepped, LEFT_BOUNDS)
            return cls(step=step, special=special, format=written, missing=seen.missing, comment=comment)
        values = sorted({grammar.whole(text) or 0 for text in seen.listed})
        low, high = values[0], values[-1]
        if low < high and high - low + 1 <= 2 * len(values):
            comment = sight.comment(*seen.remarks, REVIEW_BOUNDS)
            return cls(min=low, max=high, format=written, missing=seen.missing, comment=comment)
        comment = sight.comment(*seen.remarks, REVIEW_VALUES)
        return Category(tuple(values), missing=seen.missing, comment=comment)


class IntegerCodec(Codec[Integer]):
    """Bins in order, then the special values, then the slots."""

    arrow_type = pa.int64()

    def __init__(self, column: Integer) -> None:
        super().__init__(column)
        meant = (grammar.whole(text) for text in column.missing_texts)
        self.missing = [number for number in meant if number is not None]

    def encode(self, array: pa.Array) -> Codes:
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

    def _bins(self, values: npt.NDArray[np.int64]) -> Codes:
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
            if column.step > 1:
                codes *= column.step
            codes += column.low
            return codes
        # First value and number of steps after it, for each code; a special value is a bin of one.
        first = np.array([*column.starts[:-1], *column.special], dtype=np.int64)[codes]
        lengths = [(after - start) // column.step - 1 for start, after in pairwise(column.starts)]
        last = np.array([*lengths, *[0] * len(column.special)], dtype=np.int64)[codes]
        reserved = [*column.special, *self.missing]
        drawn = self._drawn(first, last, rng, within)
        drawn = step_aside(drawn, last, lambda steps: np.isin(first + steps * column.step, reserved))
        return first + drawn * column.step

    def _drawn(
        self,
        first: npt.NDArray[np.int64],
        last: npt.NDArray[np.int64],
        rng: np.random.Generator,
        within: Within,
    ) -> npt.NDArray[np.int64]:
        """How many steps after the first value of its bin each value lies."""
        column = self.column
        if not column.density or within == "midpoint":
            return pick(last, rng, within)
        low, wide = first.astype(np.float64), (last + 1) * float(column.step)
        found = place_within(
            column.density, float(column.starts[-1]), low, low + wide, rng.random(len(first))
        )
        return np.clip(((found - low) // column.step).astype(np.int64), 0, last)

    def reading_type(self) -> pa.DataType:
        # As floats: Arrow's parser of whole numbers takes hexadecimal ones, which are not in the grammar.
        ends = (self.column.low, self.column.high, *self.column.special, *self.missing)
        told_apart = all(abs(end) < _EXACT for end in ends)
        readable = len(self.missing) == len(self.column.missing_texts)
        return pa.float64() if told_apart and readable else pa.string()


def _is_wide(text: str) -> bool:
    number = grammar.digits(text)
    return number is not None and not -(2**63) <= number < 2**63


def _step(sight: Sight, special: tuple[int, ...]) -> int:
    """What all numbers but the special ones are multiples of; of time, the longest usual span, in its unit."""
    seen = [grammar.whole(text) or 0 for text in sight.numbers]
    if not pa.types.is_duration(sight.kind):
        plain = [value for value in seen if value not in special]
        return max(1, math.gcd(*plain)) if len(plain) >= STEPPED else 1
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[sight.kind.unit]
    usual = [second * seconds for seconds in (86_400, 3_600, 60, 1)] + [10**6, 10**3]
    return next((span for span in usual if span <= second * 86_400 and not any(v % span for v in seen)), 1)


def _in_64_bits(field: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        refuse(field, value, "does not fit in 64 bits.", "stay between -2^63 and 2^63 - 1.")
    return value
