"""Numbers: in bins, with special values exact, and at a declared precision."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.arrow_values import is_text
from understudy.domain.codes import Codes
from understudy.domain.columns.binned import BinnedColumn, Edges, NumbersSeen, bounds_of, quantiles, with_ends
from understudy.domain.columns.category import Category
from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.codec import Codec, Whole, Within, pick, step_aside
from understudy.domain.columns.parts.decimals import (
    coarsest_step,
    decimals_of,
    number_label,
    plain_form,
    shortest,
)
from understudy.domain.columns.parts.density import Pieces, place_within
from understudy.domain.columns.parts.fields import below, distinct, finite, listed, refuse
from understudy.domain.columns.parts.ladder import FRACTIONS, LADDER, digits, ladder, tops
from understudy.domain.columns.parts.noisy_counts import SURE, NoisyCounts
from understudy.domain.columns.parts.sight import (
    LEFT_BOUNDS,
    REVIEW_BOUNDS,
    REVIEW_SPECIAL,
    REVIEW_VALUES,
    Sight,
)

EXACT_EDGES = 10_000  # more edges than this are worked out in floats, which is quicker
SMALLEST_STEP = 1e-15
MOST_DECIMALS = 4  # that are told apart when decimals are learned
MOSTLY = 0.98  # of the values must have so many decimals at most for it to be the precision
RANGE = 20  # numbers with few gaps between them that a draft takes for a range, not a list

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Number(BinnedColumn):
    """Numbers, in bins. More parameters: those of every `Column`.

    Parameters:
        min: the least; left out, it is learned privately.
        max: the greatest; left out, it is learned privately.
        bins: so many of equal width; left out, they are learned privately.
        edges: where bins begin and the last one ends, in order, instead of `bins`; a bin holds its lower edge.
        special: values with a mass of their own, also outside the bounds.
        precision: the step between synthetic values: 0.01 for cents, 1 for whole numbers, 1000 for thousands.
        density: how values lie within bins: from each number on, a weight. A private run fills it in.
        format: an example of how cells are written, such as "1.234,50"; by default digits and a point.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "number"

    min: float | None = None
    max: float | None = None
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    special: tuple[float, ...] = ()
    precision: float | None = None
    density: Pieces = ()

    def _check(self) -> None:
        for field in ("min", "max"):
            if getattr(self, field) is not None:
                self._set(field, finite(field, getattr(self, field)))
        below(self.min, self.max)
        self._set("special", tuple(finite("special", value) for value in listed("special", self.special)))
        distinct("special", self.special)
        if self.edges is not None:
            edges = tuple(finite("edges", value) for value in listed("edges", self.edges))
            self._check_edges(edges)
            self._set("edges", edges)
        self._check_bins()
        self._check_precision()
        few = not self.unlearned and self.edges is None and self.count <= 1_000_000
        if few and any(not a < b for a, b in pairwise(self.cuts)):
            refuse("bins", self.bins, "is more than floating point can tell apart.", "ask for fewer.")

    def _check_precision(self) -> None:
        finest = None if self.form is None else self.form.step
        if finest is not None:
            if self.precision is None:
                self._set("precision", finest)
            elif finite("precision", self.precision) < finest * (1 - 1e-9):
                refuse("precision", self.precision, f"is finer than format {self.format!r}.", "add decimals.")
        if self.precision is None:
            return
        step = finite("precision", self.precision)
        if not SMALLEST_STEP <= step <= 1 / SMALLEST_STEP:
            refuse("precision", self.precision, "is no step between values.", "write 0.01 for cents.")
        self._set("precision", step)

    @property
    def steps_a_unit(self) -> float:
        """How many steps of the declared precision make one: a whole number where precision is 1, 0.1, 0.25, ..."""
        steps = 1 / (self.precision or 1.0)
        return float(round(steps)) if abs(steps - round(steps)) < 1e-9 * steps and steps >= 1 else steps

    @property
    def unlearned(self) -> tuple[str, ...]:
        if self.edges is not None:
            return ()
        return tuple(field for field in ("min", "max", "bins") if getattr(self, field) is None)

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The edges of the bins, from the lowest to the highest."""
        if self.edges is not None:
            low = self.edges[0] if self.min is None else self.min
            return with_ends(low, self.edges, self.edges[-1] if self.max is None else self.max)
        if self.min is None or self.max is None or self.bins is None:
            return ()
        low, high, bins = self.min, self.max, self.bins
        if bins <= EXACT_EDGES:  # as a person would write them: 0, 0.1, 0.2, 0.3, and not 0.30000000000000004
            start, width = Fraction(repr(low)), (Fraction(repr(high)) - Fraction(repr(low))) / bins
            inner: Iterable[float] = (float(start + width * i) for i in range(1, bins))
        elif math.isfinite(low * bins) and math.isfinite(high * bins):
            inner = ((low * (bins - i) + high * i) / bins for i in range(1, bins))
        else:
            inner = (low * (1 - i / bins) + high * (i / bins) for i in range(1, bins))
        return (low, *inner, high)

    @property
    def count(self) -> int:
        groups = len(self.cuts) - 1 if self.edges is not None else self.bins or 0
        return groups + len(self.special)

    def fields(self) -> dict[str, Any]:
        """The fields of the schema file, as for any column, with 10000.0 written as 10000."""
        return {field: shortest(value) for field, value in super().fields().items()}

    def _plain_codec(self) -> NumberCodec:
        return NumberCodec(self)

    def _starts(self) -> tuple[float, ...]:
        return self.cuts[:-1]

    def value_labels(self) -> list[str]:
        ranges = [f"{number_label(a)} to {number_label(b)}" for a, b in pairwise(self.cuts)]
        return ranges + [number_label(value) for value in self.special]

    @property
    def decimals(self) -> int | None:
        exact = None if self.precision is None else (self.precision, *self.special)
        return None if exact is None else max(map(decimals_of, exact))

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        low, high = np.array(self.cuts[:-1]), tops(np.array(self.cuts))
        return np.append(low, self.special), np.append(high, self.special)

    def grid(self, *, instants: bool = False) -> Number:
        """Steps of 1, 2 and 5, and zero on its own; for each how many decimals its values have, where nobody said."""
        grid = self._ladder()
        known = self.precision is not None or self.format is not None
        said = {field.name: getattr(grid, field.name) for field in fields(grid)}
        return grid if known else NumberGrid(**said)

    def _ladder(self) -> Self:
        inside = ladder([*FRACTIONS, *LADDER], self.min, self.max)
        known = (self.min, self.max)
        edges = tuple(sorted({float(edge) for edge in inside if abs(edge) < 1e300 or edge in known}))
        special = self.special or ((0.0,) if edges[0] <= 0 <= edges[-1] else ())
        return replace(self, min=None, max=None, bins=None, edges=edges, special=special)

    def with_bounds(self, grid: Number, counts: NoisyCounts) -> Number:
        if not isinstance(grid, NumberGrid):
            return super().with_bounds(grid, counts)
        column = replace(self, precision=grid.precision_of(counts))
        return super(Number, column).with_bounds(grid.ladder, grid.ladder_of(counts))

    def fine(self, coarse: tuple[Number, NoisyCounts] | None) -> Number:
        if coarse is not None and isinstance(coarse[0], NumberGrid):
            coarse = coarse[0].ladder, coarse[0].ladder_of(coarse[1])
        return super().fine(coarse)

    def _places(self) -> Edges:
        return np.array(self.cuts)

    def _last(self, edge: float, bottom: float) -> float:
        return edge

    def _cut_at(self, edges: Edges) -> Self:
        (low, high), inner = self.bounds, edges.astype(np.float64)
        if self.precision is not None:  # at values themselves, so that every bin holds some
            with np.errstate(over="ignore"):
                inner = np.ceil(inner * self.steps_a_unit - 1e-9) / self.steps_a_unit
        exact = sorted({low, *(edge for edge in inner.tolist() if low < edge < high), high})
        # Of a number learned from scratch a hundred values a bin are told apart: enough for any use, and readable.
        decimals = digits(min(np.diff(exact))) + 2
        step = self.precision or (10.0**-decimals if -15 <= decimals <= 15 else None)
        return replace(self, bins=None, edges=tuple(exact), precision=step)

    def completed(self, array: pa.Array) -> Number:
        numbers = arrays.floats(self.plain_values(array))
        meant = [number for text in self.plain_marks if (number := grammar.number(text)) is not None]
        seen = np.sort(arrays.readable(numbers, ~np.isfinite(numbers), [*self.special, *meant]))
        low, high = bounds_of(self, seen, 1.0)
        bounded = replace(self, min=low, max=high)
        if self.bins is not None:
            return bounded
        edges, heavy = quantiles(seen, low, high)
        return replace(bounded, edges=edges, special=(*self.special, *heavy))

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Number | None:
        return cls() if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else None

    @classmethod
    def drafted(cls, sight: Sight) -> Column | None:
        """Numbers that are not all whole: of few, a range where they have few gaps, or a list; else left open."""
        seen = None if sight.zeros else NumbersSeen.of(sight)
        if seen is None:
            return cls._by_format(sight, whole=False)
        if seen.whole:
            return None
        written = plain_form(sight.numbers) if is_text(sight.kind) else None
        if not seen.listed:
            remarks = (*seen.remarks, REVIEW_SPECIAL) if seen.spikes else seen.remarks
            return cls(
                special=seen.spikes,
                precision=coarsest_step(seen.finite, written),
                format=written,
                missing=seen.missing,
                comment=sight.comment(*remarks, LEFT_BOUNDS),
            )
        values = sorted({float(text) for text in seen.listed if np.isfinite(float(text))})
        step = coarsest_step(values, written)
        if step and len(values) >= RANGE and (values[-1] - values[0]) / step < 2 * len(values):
            comment = sight.comment(*seen.remarks, REVIEW_BOUNDS)
            low, high = values[0], values[-1]
            return cls(low, high, precision=step, format=written, missing=seen.missing, comment=comment)
        comment = sight.comment(*seen.remarks, REVIEW_VALUES)
        texts = tuple(sorted(seen.listed, key=float))  # 0.50 is a number that would be written 0.5
        return Category(texts if written else tuple(values), missing=seen.missing, comment=comment)


@dataclass(frozen=True)
class NumberGrid(Number):
    """The grid on which bounds are looked for: a code for each step of it and each number of decimals, none first.

    One question tells both: a record falls in one cell, so its noise is that of the steps alone.
    """

    @property
    def ladder(self) -> Number:
        """The column of the steps alone."""
        return Number(**{field.name: getattr(self, field.name) for field in fields(self)})

    @property
    def count(self) -> int:
        return (MOST_DECIMALS + 2) * super().count

    def _plain_codec(self) -> NumberGridCodec:
        return NumberGridCodec(self)

    def value_labels(self) -> list[str]:
        return [
            f"{step}, {n} decimals" for n in range(MOST_DECIMALS + 2) for step in self.ladder.value_labels()
        ]

    def ladder_of(self, counts: NoisyCounts) -> NoisyCounts:
        """The counts of the steps, whatever the decimals."""
        return counts.first(self.count).folded(MOST_DECIMALS + 2)

    def precision_of(self, counts: NoisyCounts) -> float | None:
        """The step between values of so many decimals as nearly all have, where more than noise says so."""
        cells = counts.first(self.count).layers(MOST_DECIMALS + 2)
        held = np.where(cells > SURE * counts.stddev, cells, 0.0).sum(axis=1).cumsum()
        enough = np.flatnonzero(held[:-1] >= MOSTLY * held[-1])
        return 1.0 / 10 ** int(enough[0]) if held[-1] > 0 and enough.size else None


class NumberCodec(Codec[Number]):
    """Bins in order, then the special values, then the slots."""

    arrow_type = pa.float64()

    def __init__(self, column: Number) -> None:
        super().__init__(column)
        self.cuts = np.array(column.cuts, dtype=np.float64)
        self.bins = len(self.cuts) - 1
        meant = (grammar.number(text) for text in column.missing_texts)
        self.missing = [number for number in meant if number is not None]

    def encode(self, array: pa.Array) -> Codes:
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
        low, high = self.cuts[bins], tops(self.cuts)[bins]
        share = 0.5 if within == "midpoint" else rng.random(len(bins))
        # Not low + share * (high - low): that overflows when the bounds are as far apart as floats go.
        numbers = np.clip(low * (1 - share) + high * share, low, high)
        if self.column.density and within != "midpoint":
            numbers = place_within(
                self.column.density, float(self.cuts[-1]), low, high, rng.random(len(bins))
            )
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
        if self.column.density and within != "midpoint":
            with np.errstate(over="ignore", invalid="ignore"):
                nearest = np.nan_to_num(np.floor(numbers * self.column.steps_a_unit) - start)
            drawn = np.clip(nearest, 0, np.maximum(length, 0)).astype(np.int64)
        drawn = step_aside(drawn, length, lambda steps: np.isin(self._on_grid(start + steps), reserved))
        return np.where(length >= 0, self._on_grid(start + drawn), numbers)

    def _on_grid(self, places: Whole) -> Floats:
        """The number at each place of the grid of the declared precision, rounded once."""
        steps = self.column.steps_a_unit
        exact = places.astype(np.float64)
        return exact / steps if steps >= 1 else exact * (self.column.precision or 1.0)

    def _grid(self) -> tuple[Whole, Whole]:
        """The first and last place of the grid inside each bin; last < first where there is none."""
        furthest = 2.0**53  # beyond this floats are coarser than the grid
        scale = self.column.steps_a_unit
        low, high = self.cuts[:-1], tops(self.cuts)
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


class NumberGridCodec(NumberCodec):
    """The step of each number, and how many decimals it has; slots after all of these."""

    def encode(self, array: pa.Array) -> Codes:
        ladder = self.column.ladder if isinstance(self.column, NumberGrid) else self.column
        found, numbers = ladder.codec().encode(array).astype(np.int64), arrays.floats(array)
        decimals = np.full(len(numbers), MOST_DECIMALS + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            for places in range(MOST_DECIMALS, -1, -1):
                decimals[np.round(numbers, places) == numbers] = places
        slots = found >= ladder.count
        codes = np.where(slots, found + self.column.count - ladder.count, found + decimals * ladder.count)
        return codes.astype(self.dtype)
