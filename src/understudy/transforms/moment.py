"""Dates and datetimes: the number of the period that holds them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Date, Datetime
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Whole, Within, pick

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_FIXED = {"second": _SECOND, "minute": 60 * _SECOND, "hour": 3_600 * _SECOND, "day": _DAY}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}

MomentT = TypeVar("MomentT", bound=Date | Datetime)


def period(micros: Whole, every: str) -> Whole:
    """The number of the period that holds each moment, counted from 1970."""
    if every in _FIXED:
        return micros // _FIXED[every]
    days = micros // _DAY
    if every == "week":
        return (days + 3) // 7  # 1970-01-01 was a Thursday; weeks start on Mondays
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months // _MONTHS[every]


def start(periods: Whole, every: str) -> Whole:
    """The first microsecond of each period."""
    if every in _FIXED:
        return periods * _FIXED[every]
    if every == "week":
        return (periods * 7 - 3) * _DAY
    months = (periods * _MONTHS[every]).astype("datetime64[M]")
    return months.astype("datetime64[D]").astype(np.int64) * _DAY


class MomentCodec(Codec[MomentT]):
    """One code a period, in order; a value comes back on the grid of days, or of seconds."""

    grid: int  # microseconds between the values that come back

    def __init__(self, column: MomentT) -> None:
        super().__init__(column)
        self.low, self.high = self._bounds()
        self.every = column.granularity
        self.first = int(period(np.array([self.low]), self.every)[0])
        meant = (grammar.moment(text) for text in column.missing_texts)
        self.missing = [moment for moment in meant if moment is not None]

    def _bounds(self) -> tuple[int, int]:
        raise NotImplementedError

    def encode(self, array: pa.Array) -> CodeArray:
        column = self.column
        micros, unread = arrays.moments(array)
        codes = (period(np.clip(micros, self.low, self.high), self.every) - self.first).astype(self.dtype)
        if column.outside_code is not None:
            codes[(micros < self.low) | (micros > self.high)] = column.outside_code
        for moment in self.missing:
            codes[micros == moment] = column.null_code
        if unread is not None:
            codes[unread] = column.null_code
        return codes

    def micros(self, codes: Whole, rng: np.random.Generator, within: Within) -> Whole:
        """A moment inside the period of each code, and inside the bounds."""
        opening = np.maximum(start(codes + self.first, self.every), self.low)
        closing = np.minimum(start(codes + self.first + 1, self.every) - 1, self.high)
        first = -(-opening // self.grid)
        last = closing // self.grid
        drawn = (first + pick(np.maximum(last - first, 0), rng, within)) * self.grid
        return np.where(first <= last, drawn, opening)  # a period cut so short that no second begins in it

    def reading_type(self) -> pa.DataType:
        # Arrow parses what the grammar does, as long as no other text means missing.
        return pa.string() if len(self.missing) < len(self.column.missing_texts) else self._parsed_as()

    def _parsed_as(self) -> pa.DataType:
        return self.arrow_type


class DateCodec(MomentCodec[Date]):
    """Dates: back as 32-bit dates."""

    arrow_type = pa.date32()
    grid = _DAY

    def _bounds(self) -> tuple[int, int]:
        low, high = (_days(bound) * _DAY for bound in (self.column.min, self.column.max))
        return low, high + _DAY - 1  # any moment of the last day is inside

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(
            codes, lambda wide: (self.micros(wide, rng, within) // _DAY).astype("datetime64[D]")
        )


class DatetimeCodec(MomentCodec[Datetime]):
    """Datetimes: back as timestamps in microseconds, in UTC when the bounds are instants."""

    grid = _SECOND

    def __init__(self, column: Datetime) -> None:
        super().__init__(column)
        self.arrow_type = pa.timestamp("us", tz="UTC" if column.aware else None)

    def _bounds(self) -> tuple[int, int]:
        low, high = (_micros(bound) for bound in (self.column.min, self.column.max))
        return low, high

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: self.micros(wide, rng, within))

    def _parsed_as(self) -> pa.DataType:
        return pa.string() if self.column.aware else pa.timestamp("us")


def _days(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()


def _micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
