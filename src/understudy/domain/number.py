"""Columns with arithmetic: whole numbers and numbers, in bins, with values that carry a mass of their own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from understudy.domain.column import Column, ascending, below, distinct, finite, listed, refuse, whole

# Up to this many whole numbers are kept one by one unless `bins` asks for fewer.
ONE_BY_ONE = 1_000
EXACT_EDGES = 10_000  # more edges than this are worked out in floats, which is quicker
SMALLEST_STEP = 1e-15


@dataclass(frozen=True)
class Integer(Column):
    """Whole numbers from `min` to `max` in steps, one by one or in bins.

    `bins` spreads the values evenly over that many codes; `edges` cuts them instead (a bin holds its lower
    edge). A value between two steps counts as the lower one. `special` values have codes of their own.
    """

    type = "integer"

    min: int | None = None
    max: int | None = None
    step: int = 1
    bins: int | None = None
    edges: tuple[int, ...] | None = None
    special: tuple[int, ...] = ()

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
            _check_edges(self, edges)
            self._set("edges", edges)
        _check_bins(self.bins, self.edges)
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
            return len(_cuts(self.low, self.edges, self.high)) - 1
        return self.bins or self.values

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first value of each bin, and one step past the last."""
        end = self.low + self.values * self.step
        if self.edges is not None:
            inner = _cuts(self.low, self.edges, self.high)[:-1]
            return (*(self.low - (self.low - cut) // self.step * self.step for cut in inner), end)
        groups = self.groups
        return tuple(self.low - -(i * self.values) // groups * self.step for i in range(groups + 1))

    @property
    def count(self) -> int:
        return self.groups + len(self.special)


@dataclass(frozen=True)
class Number(Column):
    """Numbers from `min` to `max`, in `bins` of equal width or between `edges`.

    A bin holds its lower edge, the last one its upper edge too. `special` values carry a mass of
    their own and may lie outside the bounds. `precision` is the step between values: 0.01 for cents, 1 for whole
    numbers, 1000 for thousands.
    """

    type = "number"

    min: float | None = None
    max: float | None = None
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    special: tuple[float, ...] = ()
    precision: float | None = None

    def _check(self) -> None:
        for field in ("min", "max"):
            if getattr(self, field) is not None:
                self._set(field, finite(field, getattr(self, field)))
        below(self.min, self.max)
        self._set("special", tuple(finite("special", value) for value in listed("special", self.special)))
        distinct("special", self.special)
        if self.edges is not None:
            edges = tuple(finite("edges", value) for value in listed("edges", self.edges))
            _check_edges(self, edges)
            self._set("edges", edges)
        _check_bins(self.bins, self.edges)
        self._check_precision()
        if not self.unlearned and self.edges is None and self.count <= 1_000_000:
            edges = self.cuts
            if any(not a < b for a, b in pairwise(edges)):
                refuse("bins", self.bins, "is more than floating point can tell apart.", "ask for fewer.")

    def _check_precision(self) -> None:
        if self.precision is None:
            return
        step = finite("precision", self.precision)
        if not SMALLEST_STEP <= step <= 1 / SMALLEST_STEP:
            refuse(
                "precision",
                self.precision,
                "is no step between values.",
                "write 1 for whole numbers, 0.01 for cents.",
            )
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
        left_out = [field for field in ("min", "max", "bins") if getattr(self, field) is None]
        return tuple(left_out)

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The edges of the bins, from the lowest to the highest."""
        if self.edges is not None:
            low = self.edges[0] if self.min is None else self.min
            return _cuts(low, self.edges, self.edges[-1] if self.max is None else self.max)
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
        """As of any column, with 10000.0 written as 10000."""
        return {field: _short(value) for field, value in super().fields().items()}


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _cuts(low: Any, edges: tuple[Any, ...], high: Any) -> tuple[Any, ...]:
    """The edges with the bounds at both ends, once each."""
    return (*((low,) if low < edges[0] else ()), *edges, *((high,) if high > edges[-1] else ()))


def _check_edges(column: Integer | Number, edges: tuple[Any, ...]) -> None:
    ends = (column.min is not None) + (column.max is not None)
    if not edges or len(edges) + ends < 2:
        refuse("edges", list(edges), "is too short.", "give two edges at least; n + 1 of them make n bins.")
    ascending("edges", edges)
    if column.min is not None and edges[0] < column.min:
        refuse("edges", edges[0], f"is below min {column.min}.", "drop it, or lower min.")
    if column.max is not None and edges[-1] > column.max:
        refuse("edges", edges[-1], f"is above max {column.max}.", "drop it, or raise max.")
    if (
        len(
            _cuts(
                edges[0] if column.min is None else column.min,
                edges,
                edges[-1] if column.max is None else column.max,
            )
        )
        < 2
    ):
        refuse("edges", list(edges), "makes no bin.", "give two edges at least.")


def _check_bins(bins: object, edges: object) -> None:
    if bins is None:
        return
    whole("bins", bins, 1)
    if edges is not None:
        refuse("bins", bins, "contradicts edges.", "drop one of the two.")


def _in_64_bits(field: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        refuse(field, value, "does not fit in 64 bits.", "stay between -2^63 and 2^63 - 1.")
    return value
