"""A column whose codes say how far its values lie after another column's: a discharge so many days after admission.

The steps between codes are public: fine where the two are near each other, growing with the distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.column import Column
from understudy.domain.columns.differences.ends import Step, ends_of
from understudy.domain.columns.parts.codec import Codec
from understudy.domain.columns.parts.decimals import number_label
from understudy.domain.columns.parts.fields import ascending, finite, refuse, text
from understudy.domain.domain import CodeLayout

_LOWEST = -(2**63)  # below every value that a cell may hold
_PERIODS = {86_400_000_000: "day", 3_600_000_000: "hour", 60_000_000: "minute", 1_000_000: "second"}

# In a schema file, beside the column's own.
KEYS = ("after", "after_unit", "after_steps", "after_most", "after_alone")


@dataclass(frozen=True)
class Difference(Column):
    """The column `of`, coded by its difference from the column `after`, in whole `unit`s rounded down.

    `least` are the least differences of the codes, the last of which ends at `most`. A code follows of records that
    lie before the other column (`astray`); then, where its cells may be missing, codes of values `alone`: so many
    equal parts of the bounds; then the slot of missing values. Bounds, format and missing values are those of `of`.
    """

    type = "difference"

    of: Column
    after: str
    unit: Step
    least: tuple[int, ...]
    most: int
    alone: int = 0

    @classmethod
    def coded(
        cls, of: Column, after: str, unit: Step, steps: tuple[int, ...], most: int, alone: int = 0
    ) -> Self:
        """The column with what it shares with `of`."""
        return cls(
            of,
            after,
            unit,
            steps,
            most,
            alone,
            missing=of.missing,
            outside="missing" if of.rule == "missing" else None,
            description=of.description,
            comment=of.comment,
        )

    def _check(self) -> None:
        text("after", self.after)
        if not finite("after_unit", self.unit) > 0:
            refuse("after_unit", self.unit, "is not above 0.", "let `fit` write it.")
        if not self.least or self.least[0] not in (0, 1) or self.most < self.least[-1]:
            refuse("after_steps", list(self.least), "are no steps from 0 or 1 on.", "let `fit` write them.")
        ascending("after_steps", self.least)
        ends_of(self.of)

    @property
    def count(self) -> int:
        return len(self.least) + 1 + self.alone

    @property
    def ranges(self) -> int:
        return len(self.least)

    @property
    def astray(self) -> int:
        """The code of a record that lies before the other column, or where a promised value is not there."""
        return len(self.least)

    @property
    def null_code(self) -> int:
        return self.astray if self.missing_code is None else self.missing_code

    @property
    def layout(self) -> CodeLayout:
        starts = tuple(map(float, self.least))
        return CodeLayout(self.ranges, self.size - self.ranges, starts, open_end=True)

    def fields(self) -> dict[str, Any]:
        """Those of the column itself, and how its codes are made."""
        return self.of.fields() | dict(
            zip(KEYS, (self.after, self.unit, list(self.least), self.most, self.alone), strict=True)
        )

    def codec(self) -> Codec[Any]:
        """How its values are read and written, which is as without differences; its codes take two cells."""
        return self.of.codec()

    def value_labels(self) -> list[str]:
        last = [*(after - 1 for after in self.least[1:]), self.most]
        ranges = [self._label(first, end) for first, end in zip(self.least, last, strict=True)]
        alone = [f"({self.after} missing, part {part} of {self.alone})" for part in range(1, self.alone + 1)]
        return [*ranges, f"(before {self.after})", *alone]

    def _label(self, first: int, last: int) -> str:
        period = _PERIODS.get(int(self.unit)) if self.compared_as in ("moment", "time") else None
        scale = 1 if period else self.unit
        low, high = number_label(first * scale), number_label(last * scale)
        named = "" if period is None else f" {period}" if last == 1 else f" {period}s"
        return f"+{low}{named}" if first == last else f"+{low} to {high}{named}"

    # --- its values are those of the column itself -----------------------------------------------------------

    @property
    def compared_as(self) -> str:
        return self.of.compared_as

    def plain_values(self, array: pa.Array) -> pa.Array:
        return self.of.plain_values(array)

    def written(self, values: pa.Array) -> pa.Array:
        return self.of.written(values)

    def plain_text(self, text: str) -> str:
        return self.of.plain_text(text)

    @property
    def decimals(self) -> int | None:
        return self.of.decimals

    @property
    def misfit_cause(self) -> str:
        return self.of.misfit_cause

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Any value within the bounds, since what a difference is from is not known; records astray have none."""
        low, high = ends_of(self.of)
        far = _LOWEST if isinstance(low, int) else -np.inf
        width = (high - low) / max(1, self.alone)
        starts = [low + part * width for part in range(self.alone)]
        ends = [low + part * width for part in range(1, self.alone + 1)]
        if isinstance(low, int):  # whole numbers on either side of a cut
            starts, ends = [math.floor(start) for start in starts], [math.ceil(end) for end in ends]
        ranges = len(self.least)
        return np.array([low] * ranges + [far, *starts]), np.array([high] * ranges + [far, *ends])

    def spans_after(self, base: Column) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """For each code of the other column and each of this one, the least and the greatest value there may be."""
        starts = np.array(self.least) * self.unit
        ends = (
            np.array([*self.least[1:], self.most + 1]) + 1
        ) * self.unit  # values lie on a grid, at the next step
        low, high = (
            np.tile(np.append(end, [0] * (self.size - self.count)), (base.size, 1)) for end in self.spans()
        )
        known = base.spans()
        if known is None or isinstance(base, Difference):
            return low, high
        held, ranges = slice(0, base.count), slice(0, self.ranges)
        bottom, top = low[held, ranges], high[held, ranges]
        low[held, ranges] = np.clip(np.add.outer(known[0], starts), bottom, top)
        high[held, ranges] = np.clip(np.add.outer(known[1], ends), bottom, top)
        return low, high


def growing_steps(first: int, most: int) -> tuple[int, ...]:
    """The least differences of the codes from `first` to `most`: one by one, then an eighth or quarter more each."""
    if most <= ONE_BY_ONE:
        return tuple(range(first, most + 1))
    parts = 8 if most < MANY else 4
    found = list(range(first, FINE))
    start = FINE
    while start <= most:
        found += range(start, min(2 * start, most + 1), start // parts)
        start *= 2
    assert all(a < b for a, b in pairwise(found))
    return tuple(found)


ONE_BY_ONE = 128  # differences at most that all have a code of their own
FINE = 32  # differences have a code each up to this one, however large they may be
MANY = 1 << 14  # differences from which on codes stand for a quarter more, not an eighth
