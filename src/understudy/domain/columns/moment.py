"""What the columns of time share: bounds, and one code for every period between them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.codes import Codes
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.parts.codec import Codec, Whole, Within, pick
from understudy.domain.columns.parts.fields import below, refuse, text
from understudy.domain.formats.epoch_format import EPOCHS, EpochFormat
from understudy.domain.formats.moment_format import MomentFormat
from understudy.errors import SchemaError

SECOND = 1_000_000  # microseconds, as all lengths of time here
DAY = 86_400 * SECOND
LENGTHS = {"day": DAY, "hour": 3_600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


DAYS = ("year", "quarter", "month", "week", "day")
CLOCK = ("hour", "minute", "second")


def period(micros: Whole, every: str) -> Whole:
    """The number of the period that holds each moment, counted from 1970."""
    if every in LENGTHS:
        return micros // LENGTHS[every]
    days = micros // DAY
    if every == "week":
        return (days + 3) // 7  # 1970-01-01 was a Thursday; weeks start on Mondays
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months // _MONTHS[every]


def start(periods: Whole, every: str) -> Whole:
    """The first microsecond of each period."""
    if every in LENGTHS:
        return periods * LENGTHS[every]
    if every == "week":
        return (periods * 7 - 3) * DAY
    months = (periods * _MONTHS[every]).astype("datetime64[M]")
    return months.astype("datetime64[D]").astype(np.int64) * DAY


@dataclass(frozen=True)
class Moment(FormattedColumn):
    """A column of time: values from `min` to `max`, one code for `every` period."""

    periods: ClassVar[tuple[str, ...]]  # from the longest to the shortest
    default_every: ClassVar[str]
    unread = (
        "Its cells may be written in another form than 2026-12-31T23:59: "
        'say how, such as format = "%d/%m/%Y" for day, month and year.'
    )

    min: Any = None
    max: Any = None
    every: str | None = None

    def _check(self) -> None:
        for field in ("min", "max"):
            if getattr(self, field) is not None:
                self._set(field, self._bound(field, getattr(self, field)))
        try:
            below(self.min, self.max)
        except TypeError:
            raise SchemaError(
                "min and max: one has an offset from UTC, the other none.",
                hint="give both or neither an offset.",
            ) from None
        if self.every is not None and self.every not in self.periods:
            refuse("every", self.every, "is not a period.", f"write one of {', '.join(self.periods)}.")
        if self.form is not None:
            self._check_format(self.form)

    @cached_property
    def form(self) -> MomentFormat | EpochFormat | None:
        return None if self.format is None else self._form()

    def _form(self) -> MomentFormat | EpochFormat:
        spec = text("format", self.format)
        return EpochFormat(spec) if spec in EPOCHS else MomentFormat(spec, self._first_year())

    def _first_year(self) -> int | None:
        """The first of the hundred years that two digits stand for: they end where the bounds do."""
        return None

    def _check_format(self, form: MomentFormat | EpochFormat) -> None:
        """Refuse a format that cannot tell this column's values apart, or cannot write its bounds."""
        if self.every is not None and self.periods.index(self.every) > self.periods.index(
            self._finest_period
        ):
            refuse(
                "every",
                self.every,
                f"is finer than format {form.spec!r} says.",
                f'write "{self._finest_period}", or add the code of what is missing.',
            )
        for field in ("min", "max"):
            end = getattr(self, field)
            if end is not None and not form.years[0] <= getattr(end, "year", 1970) <= form.years[1]:
                first, last = form.years
                refuse(field, end, f"is not within {first} to {last}, which %y can write.", "write %Y.")
        if self.min is not None:
            first_micro = self.first_micro(self.min)
            bound = pa.array([first_micro], pa.int64()).view(pa.timestamp("us"))
            again = form.read(form.write(bound).cast(pa.large_string())).view(pa.int64())[0].as_py()
            same = again == first_micro or (
                form.resolution == "week" and len({*self._periods(again, first_micro, "week")}) == 1
            )
            if not same:
                refuse("min", self.min, f"cannot be written as {form.spec!r}.", "round it down.")

    @property
    def _finest_period(self) -> str:
        """The shortest period that the values can be told apart by."""
        if self.form is None or self.form.resolution not in self.periods:
            return self.periods[-1]
        return self.form.resolution

    @abstractmethod
    def _bound(self, field: str, value: object) -> Any:
        """A bound as the column keeps it, or refused."""

    @abstractmethod
    def first_micro(self, value: Any) -> int:
        """The first microsecond of a value, since 1970 (or since midnight, where there are no days)."""

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last microsecond between the bounds."""
        return self.first_micro(self.min), self.first_micro(self.max)

    @property
    def granularity(self) -> str:
        """The period of one code: `every`, or its default."""
        return self.every or min(self.default_every, self._finest_period, key=self.periods.index)

    @property
    def unformatted(self) -> Self:
        return replace(super().unformatted, every=self.granularity if self.starts is None else None)

    @property
    def count(self) -> int:
        if self.starts is not None:
            return len(self.starts)
        first, last = self._periods(*self.extent, self.granularity)
        return last - first + 1

    @property
    def starts(self) -> Whole | None:
        """The first microsecond of each code, where they are of various lengths; None where each is one period."""
        return None

    @staticmethod
    def _periods(first: int, last: int, every: str) -> tuple[int, int]:
        """The numbers of the periods that hold two microseconds."""
        opening, closing = period(np.array([first, last]), every).tolist()
        return opening, closing

    @property
    def compared_as(self) -> str:
        return "moment"

    def spans(self) -> tuple[Whole, Whole]:
        codec = self._plain_codec()
        opening, closing = codec.extents(np.arange(self.count))
        return opening, np.maximum(closing // codec.grid * codec.grid, opening)

    @abstractmethod
    def _plain_codec(self) -> MomentCodec[Any]:
        """One code a period, in order."""

    def value_labels(self) -> list[str]:
        if self.starts is not None:
            return self._labels(*self._plain_codec().extents(np.arange(self.count)))
        first, last = self._periods(*self.extent, self.granularity)
        starts = start(np.arange(first, last + 1), self.granularity).astype("datetime64[us]")
        return [self._label(moment) for moment in starts.tolist()]

    def _labels(self, first: Whole, last: Whole) -> list[str]:
        """What lies between each two microseconds, as a person writes it: the whole period, where it is one."""
        every = np.full(len(first), "", dtype=object)
        for known in reversed(self.periods):
            number = period(first, known)
            whole = (start(number, known) == first) & (start(number + 1, known) - 1 == last)
            every[whole] = known
        ends = zip(
            every.tolist(), *(end.astype("datetime64[us]").tolist() for end in (first, last)), strict=True
        )
        whole_days = bool((first % DAY == 0).all() and ((last + 1) % DAY == 0).all())
        shown = (lambda end: str(end.date())) if whole_days else (lambda end: end.isoformat(" ", "minutes"))
        return [
            replace(self._plainly(known), every=known)._label(a) if known else f"{shown(a)} to {shown(b)}"
            for known, a, b in ends
        ]

    def _plainly(self, every: str) -> Self:
        """The column with a code for every such period, to write one of them."""
        return replace(self, format=None, every=every)

    @abstractmethod
    def _label(self, moment: datetime) -> str:
        """The period that begins at a moment, as a person writes it."""


MomentT = TypeVar("MomentT", bound=Moment)


class MomentCodec(Codec[MomentT]):
    """One code a period, in order; a value comes back on the grid of days, or of seconds."""

    grid: int  # microseconds between the values that come back

    def __init__(self, column: MomentT) -> None:
        super().__init__(column)
        self.low, self.high = column.extent
        self.every = column.granularity
        self.first = int(period(np.array([self.low]), self.every)[0])
        self.starts = column.starts
        meant = (self.meaning(text) for text in column.missing_texts)
        self.missing = [moment for moment in meant if moment is not None]

    def meaning(self, text: str) -> int | None:
        """The microsecond that a text stands for."""
        return grammar.moment(text)

    def read(self, array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
        """The microsecond of each value, and which could not be read (None: all could)."""
        return arrays.moments(array)

    def encode(self, array: pa.Array) -> Codes:
        column = self.column
        micros, unread = self.read(array)
        inside = np.clip(micros, self.low, self.high)
        if self.starts is None:
            codes = (period(inside, self.every) - self.first).astype(self.dtype)
        else:
            codes = (np.searchsorted(self.starts, inside, side="right") - 1).astype(self.dtype)
        if column.outside_code is not None:
            codes[(micros < self.low) | (micros > self.high)] = column.outside_code
        for moment in self.missing:
            codes[micros == moment] = column.null_code
        if unread is not None:
            codes[unread] = column.null_code
        return codes

    def micros(self, codes: Whole, rng: np.random.Generator, within: Within) -> Whole:
        """A moment inside the period of each code, and inside the bounds."""
        opening, closing = self.extents(codes)
        first = -(-opening // self.grid)
        last = closing // self.grid
        drawn = (first + pick(np.maximum(last - first, 0), rng, within)) * self.grid
        return np.where(first <= last, drawn, opening)  # a period cut so short that no second begins in it

    def extents(self, codes: Whole) -> tuple[Whole, Whole]:
        """The first and the last microsecond of each code's period that lie inside the bounds."""
        if self.starts is not None:
            return self.starts[codes], np.append(self.starts[1:] - 1, self.high)[codes]
        opening = np.maximum(start(codes + self.first, self.every), self.low)
        return opening, np.minimum(start(codes + self.first + 1, self.every) - 1, self.high)

    def reading_type(self) -> pa.DataType:
        # Arrow parses what the grammar does, as long as no other text means missing.
        return pa.string() if len(self.missing) < len(self.column.missing_texts) else self._parsed_as()

    def _parsed_as(self) -> pa.DataType:
        return self.arrow_type
