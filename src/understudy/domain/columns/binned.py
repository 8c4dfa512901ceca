"""What whole numbers and numbers share: bounds and bins, how they are learned, and how they are read from records."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.column import Step
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.parts.density import Pieces, Smooth, checked_density, density_of, sloping
from understudy.domain.columns.parts.fields import ascending, refuse, text, whole
from understudy.domain.columns.parts.ladder import cut, tail
from understudy.domain.columns.parts.noisy_counts import FULL, MOST_SPIKES, SURE, NoisyCounts
from understudy.domain.columns.parts.sight import INFINITE, LEFT_BOUNDS, LEFT_ZEROS, MOST_SHARE, STRAY, Sight
from understudy.domain.formats.number_format import NumberFormat

FINE = 512  # cells of the histogram that bins are made from
MOST_BINS = 64  # that are learned
BINS = 64  # that are read from records
SPIKE_SHARE = 0.02  # of the records that have a number, and
SPIKE_TIMES = 10.0  # times the usual share, make a draft propose it as a special value,
SPIKE_RECORDS = 20  # if so many have it
APART_RECORDS, APART_SHARE = (
    10,
    0.002,
)  # fewer do where it lies as far from all others as these from each other
RANGE_OF = 10  # numbers that there must be to tell how far they lie from each other
UNLIKE = {
    -1.0,
    -2.0,
    -7.0,
    -8.0,
    -9.0,
    -77.0,
    -88.0,
    -98.0,
    -99.0,
    -999.0,
    -9999.0,
}  # alone below zero: codes
MOST_NUMBERED = 500  # whole numbers that a draft lists as codes
SCATTERED = 8.0  # times as many numbers lie between codes, at least
NEAR_ZERO = 0.25  # of the upper bound: a lower one that is found nearer to zero than this is zero

Edges = npt.NDArray[Any]


class BinnedColumn(FormattedColumn):
    """A column of numbers: bins in order, then special values with codes of their own."""

    learns = ("bounds", "bins")
    unread = (
        "Its numbers may be written in a form of their own, with signs of currency, separators or a decimal comma: "
        'write one as an example, such as format = "$1,234.50".'
    )

    min: Any
    max: Any
    bins: int | None
    edges: tuple[Any, ...] | None
    special: tuple[Any, ...]
    density: Pieces

    def _check_edges(self, edges: tuple[Any, ...]) -> None:
        ends = (self.min is not None) + (self.max is not None)
        if not edges or len(edges) + ends < 2:
            refuse(
                "edges", list(edges), "is too short.", "give two edges at least; n + 1 of them make n bins."
            )
        ascending("edges", edges)
        if self.min is not None and edges[0] < self.min:
            refuse("edges", edges[0], f"is below min {self.min}.", "drop it, or lower min.")
        if self.max is not None and edges[-1] > self.max:
            refuse("edges", edges[-1], f"is above max {self.max}.", "drop it, or raise max.")
        low = edges[0] if self.min is None else self.min
        if len(with_ends(low, edges, edges[-1] if self.max is None else self.max)) < 2:
            refuse("edges", list(edges), "makes no bin.", "give two edges at least.")

    def _check_bins(self) -> None:
        self._set("density", checked_density(self.density))
        if self.format is not None:
            self._form()  # refuses one that makes no sense
        if self.bins is None:
            return
        whole("bins", self.bins, 1)
        if self.edges is not None:
            refuse("bins", self.bins, "contradicts edges.", "drop one of the two.")

    @cached_property
    def form(self) -> NumberFormat | None:
        return None if self.format is None else self._form()

    def _form(self) -> NumberFormat:
        return NumberFormat(text("format", self.format))

    @property
    def ranges(self) -> int:
        return self.count - len(self.special)

    @property
    def compared_as(self) -> str:
        return "number"

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest value, once they are known."""
        return self.min, self.max

    @classmethod
    def _by_format(cls, sight: Sight, *, whole: bool) -> Self | None:
        """The draft of numbers that are written in a form of their own, where they have decimals or not."""
        if sight.zeros:
            if ("." not in sight.zeros) != whole:
                return None
            comment = sight.comment(LEFT_ZEROS, LEFT_BOUNDS)
            return cls(format=sight.zeros, missing=sight.missing(sight.markers), comment=comment)
        found = sight.form("number")
        if found is None or sight.few or sight.form("date") or NumberFormat(found.spec).whole != whole:
            return None
        comment = sight.comment(*sight.remarks(found), LEFT_BOUNDS)
        return cls(format=found.spec, missing=sight.missing(sight.markers), comment=comment)

    # --- learned privately ---------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step, ...]:
        """Bins are learned after bounds: how many are wanted depends on how far apart these turn out to be."""
        return ("bins",) if self.unlearned == ("bins",) else super().steps

    @abstractmethod
    def _last(self, edge: Any, bottom: Any) -> Any:
        """The largest value of a bin that ends at this edge, and above the smallest value of all."""

    @abstractmethod
    def _cut_at(self, edges: Edges) -> Self:
        """The column cut at these places, as finely as its values are."""

    def with_bounds(self, grid: Self, counts: NoisyCounts) -> Self:
        """Bounds around every cell of the grid that holds more than noise; zero on its own where it is common."""
        edges = grid.edges or ()
        first, last = counts.first(grid.ranges).extent(edges.index(0) if 0 in edges else None)
        special = self.special
        if special != grid.special and counts.values[grid.ranges] > SURE * counts.stddev:
            special = grid.special
        bottom = edges[first] if self.min is None else self.min
        if self.min is None and 0 < bottom <= NEAR_ZERO * edges[last + 1]:
            bottom *= 0  # what thins out towards zero begins there
        top = edges[last + 1] if last + 2 == len(edges) else self._last(edges[last + 1], bottom)
        return self._but(min=bottom, max=top if self.max is None else self.max, special=special)

    def fine(self, coarse: tuple[Self, NoisyCounts] | None) -> Self:
        """Many cells between the bounds: evenly, or more finely where a coarse histogram saw more records."""
        cuts = np.array([self.min, self.max], dtype=np.float64)
        mass = np.ones(1)
        if coarse is not None:
            grid, counts = coarse
            edges = np.array(grid.edges, dtype=np.float64)
            inside = (edges[:-1] >= self.min) & (edges[1:] <= self.max + 1)
            if inside.any():
                cuts = np.append(edges[:-1][inside], edges[1:][inside][-1])
                mass = np.maximum(counts.values[: len(edges) - 1][inside], counts.stddev)
        parts = np.maximum(1, np.round(FINE * mass / mass.sum())).astype(int)
        ends = zip(cuts.tolist(), cuts[1:].tolist(), parts.tolist(), strict=False)
        pieces = [cut(low, high, n) for low, high, n in ends if low < high]  # floats may not tell them apart
        return self._cut_at(np.concatenate([cuts[:1], *pieces, cuts[-1:]]))

    def with_bins(self, counts: NoisyCounts) -> Self:
        """Neighbouring cells joined until each bin holds a fair share and more than noise."""
        counts = counts.first(self.ranges)
        values, total = counts.values, counts.total
        bins = int(np.clip(counts.bins, 1, MOST_BINS))
        running = np.maximum.accumulate(np.cumsum(values))
        ends = np.searchsorted(running, total * np.arange(1, bins) / bins) + 1
        heavy = np.flatnonzero(values > max(total / bins, FULL * counts.stddev))
        edges = self._places()
        keep = np.unique(np.concatenate([[0], ends, heavy, heavy + 1, tail(edges), [len(values)]]))
        return self._cut_at(edges[keep[keep <= len(values)]])

    @abstractmethod
    def _places(self) -> Edges:
        """Where each bin begins, and where the last one ends."""

    def with_density(self, fine: Self, counts: NoisyCounts, smooth: Smooth) -> Self:
        """The column with what its `fine` cells likely hold: values within a bin lie so, special ones aside."""
        if self.edges is None or fine.ranges == self.ranges:
            return self
        places, cuts = fine._places().astype(np.float64), self._places().astype(np.float64)
        alone = np.isin(places[:-1], self.special) & np.isin(places[:-1], fine.special, invert=True)
        noisy = np.where(alone, 0.0, counts.values[: fine.ranges])
        cells = smooth(noisy, sloping(places, cuts, noisy), counts.stddev)
        return self._but(density=density_of(places, np.where(alone, 0.0, cells), cuts.tolist()))

    def fields(self) -> dict[str, Any]:
        """As of any column, with pieces as lists."""
        said = super().fields()
        return said | ({"density": [list(piece) for piece in self.density]} if self.density else {})


def with_ends(low: Any, edges: tuple[Any, ...], high: Any) -> tuple[Any, ...]:
    """The edges with the bounds at both ends, once each."""
    return (*((low,) if low < edges[0] else ()), *edges, *((high,) if high > edges[-1] else ()))


# --- read from records -------------------------------------------------------------------------------------


def bounds_of(column: BinnedColumn, seen: npt.NDArray[Any], step: Any) -> tuple[Any, Any]:
    """The bounds that are given, and for the others those of the sorted values; the lower below the upper."""
    first, last = (seen[0].item(), seen[-1].item()) if len(seen) else (step * 0, step)
    if column.min is not None:
        return column.min, column.max if column.max is not None else max(last, _after(column.min, step))
    if column.max is not None:
        return min(first, -_after(-column.max, step)), column.max
    return first, last if last > first else _after(first, step)


def _after(number: Any, step: Any) -> Any:
    """The number and one step, or for a large float the next that differs."""
    moved = number + step
    return moved if moved > number else float(np.nextafter(number, np.inf))


def quantiles(seen: npt.NDArray[Any], low: Any, high: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Edges of bins that hold about as many records each, and values that fill a bin by themselves."""
    seen = seen[(seen >= low) & (seen <= high)]
    values, counts = np.unique(seen, return_counts=True)
    heavy = values[counts * BINS > len(seen)]
    rest = seen[~np.isin(seen, heavy)]
    inner = rest[np.arange(1, BINS) * (len(rest) - 1) // BINS].tolist() if len(rest) else []
    return tuple(sorted({low, high, *inner})), tuple(heavy.tolist())


@dataclass(frozen=True)
class NumbersSeen:
    """What a draft sees of a column of numbers: the finite ones, and those that may be written down.

    `listed` where they are few, else `spikes`, which many records have, and `codes`, which are scattered over so
    wide a range that a number between two of them would mean nothing.
    """

    whole: bool
    finite: list[float]
    listed: list[str]
    spikes: tuple[float, ...]
    codes: list[str]
    missing: bool | tuple[str, ...] | None
    remarks: list[str]

    @classmethod
    def of(cls, sight: Sight) -> NumbersSeen | None:
        """None where the cells are not mostly numbers."""
        numbers = sight.numbers
        if not numbers:
            return None
        infinite = tuple(sorted(text for text in numbers if not np.isfinite(float(text))))
        stray = 1 - sight.share(numbers)
        remarks = [STRAY.format(f"{stray:.2%}")] if stray > 1e-9 else []
        remarks += [INFINITE] if infinite else []
        finite = [float(text) for text in numbers if np.isfinite(float(text))]
        fractions = pa.types.is_floating(sight.kind) or pa.types.is_decimal(sight.kind)
        fractions = fractions or any("." in text for text in numbers)
        seen = sight.only(text for text in numbers if text not in infinite)
        listed, rare = seen.repeated() if seen.few and finite else ([], [])
        return cls(
            not fractions and all(value.is_integer() for value in finite),
            finite,
            listed,
            () if listed else _spikes(seen),
            [] if listed else _codes(seen),
            sight.missing(tuple(dict.fromkeys((*sight.markers, *infinite)))),
            remarks + (rare if listed else []),
        )


def _spikes(seen: Sight) -> tuple[float, ...]:
    """The numbers that far more records have than usual: a cap, a zero, a figure that stands for something else."""
    records = max(1, int(seen.counts.sum()))
    least = max(SPIKE_RECORDS, SPIKE_SHARE * records, SPIKE_TIMES * records / max(1, len(seen.texts)))
    found = {
        float(text) for text, count in zip(seen.texts, seen.counts.tolist(), strict=True) if count >= least
    }
    return tuple(sorted(value for value in found if np.isfinite(value)) + _apart(seen, found))[:MOST_SPIKES]


def _apart(seen: Sight, found: Collection[float]) -> list[float]:
    """Numbers that stand for something else: some records each, and far from all others, or alone below zero."""
    counts = dict(zip(map(float, seen.texts), seen.counts.tolist(), strict=True))
    numbers = sorted(value for value in counts if np.isfinite(value) and value not in found)
    least = max(APART_RECORDS, APART_SHARE * sum(counts.values()))
    apart: list[float] = []
    while len(numbers) > len(apart) + RANGE_OF and len(apart) < MOST_SPIKES:
        inner = [value for value in numbers if value not in apart]
        low, high = inner[0], inner[-1]
        below = inner[1] - low > high - inner[1] or (low < 0 <= inner[1] and low in UNLIKE)
        above = high - inner[-2] > inner[-2] - low
        ends = [end for end, far in ((low, below), (high, above)) if far and counts[end] >= least]
        if not ends:
            break
        apart += ends
    return sorted(apart)


def _codes(seen: Sight) -> list[str]:
    """The whole numbers that are codes: many records each, and far apart, at no common step; else none."""
    if not 2 < len(seen.texts) <= min(MOST_NUMBERED, MOST_SHARE * (seen.rows - seen.nulls)):
        return []
    numbers = sorted(value for text in seen.texts if (value := float(text)).is_integer())
    if len(numbers) < len(seen.texts):
        return []
    step = math.gcd(*(int(b - a) for a, b in pairwise(numbers)))
    apart = (numbers[-1] - numbers[0]) / max(1, step) / len(numbers)
    return seen.repeated()[0] if apart >= SCATTERED else []
