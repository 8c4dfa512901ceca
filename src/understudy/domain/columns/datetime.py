"""Datetimes: one code for every period from a second to a year, as wall-clock times or as instants."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays
from understudy.domain.codes import Codes
from understudy.domain.columns.calendar import Calendar
from understudy.domain.columns.clock import PRECISIONS, ClockColumn, steps
from understudy.domain.columns.moment import CLOCK, DAYS, SECOND, MomentCodec
from understudy.domain.columns.parts.codec import Whole, Within
from understudy.domain.columns.parts.fields import refuse
from understudy.domain.columns.parts.noisy_counts import SURE, NoisyCounts
from understudy.domain.columns.parts.sight import Sight

_EPOCH = datetime(1970, 1, 1)
MOSTLY = 0.98  # of the values must stand on a step for it to be the precision
_OFFSET = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$")


@dataclass(frozen=True)
class Datetime(ClockColumn, Calendar):
    """Moments. With an offset in its bounds the column is one of instants, kept in UTC; without, of wall-clock times.

    More parameters: those of every `Column`.

    Parameters:
        min: the first moment, a `datetime.datetime`; left out, it is learned privately.
        max: the last moment; left out, it is learned privately.
        every: how long a code is: "hour" (the default), or anything from "second" to "year".
        precision: the step between synthetic values: "second", "minute", "hour" or "day"; learned where bounds are.
        format: how cells are written, by codes such as "%d/%m/%Y %H:%M"; by default as ISO 8601 says.
        edges: instead of `every`, the first moment of each code; the first of them is `min`.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "datetime"
    periods = (*DAYS, *CLOCK)
    default_every = "hour"
    unit = timedelta(seconds=1)

    def _bound(self, field: str, value: object) -> date:
        if isinstance(value, datetime):
            return value if value.tzinfo is None else value.astimezone(UTC)
        if not isinstance(value, date):
            refuse(field, value, "is not a datetime.", "write it as 2026-12-31T23:59:59, without quotes.")
        return datetime.combine(value, time())

    @property
    def aware(self) -> bool:
        """Whether the bounds are instants (with an offset) and not wall-clock times."""
        return self.min is not None and self.min.tzinfo is not None

    def first_micro(self, value: datetime) -> int:
        return (value.replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1)

    def _plain_codec(self) -> DatetimeCodec:
        return DatetimeCodec(self)

    def _span(self, first: int, last: int, zone: tzinfo | None) -> tuple[datetime, datetime]:
        return datetime(first, 1, 1, tzinfo=zone), datetime(last, 12, 31, 23, 59, 59, tzinfo=zone)

    def grid(self, *, instants: bool = False) -> Datetime:
        """Years, and in each how finely its values are kept: see `DatetimeGrid`."""
        years = super().grid(instants=instants)
        known = self.precision is not None or self.format is not None
        return (
            years
            if known
            else DatetimeGrid(**{field.name: getattr(years, field.name) for field in fields(years)})
        )

    def with_bounds(self, grid: Datetime, counts: NoisyCounts) -> Datetime:
        if not isinstance(grid, DatetimeGrid):
            return super().with_bounds(grid, counts)
        found = grid.precision_of(counts)
        kept = found if self.every is None or found is None or not self._is_finer(self.every, found) else None
        return super(Datetime, replace(self, precision=kept)).with_bounds(grid.years, grid.years_of(counts))

    def _value(self, micros: int) -> datetime:
        return _EPOCH + timedelta(seconds=micros // SECOND)

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Datetime | None:
        return cls() if pa.types.is_timestamp(kind) else None

    def _micros(self, array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
        return arrays.moments(array)

    @classmethod
    def drafted(cls, sight: Sight) -> Datetime | None:
        by_format = cls._by_format(sight, lambda end: end, days=False)
        if by_format is not None:
            return by_format.with_step_of(sight.texts)
        if pa.types.is_timestamp(sight.kind):
            texts, aware = sight.texts, sight.kind.tz is not None
        else:
            texts = sight.moments
            if all(len(text.strip()) == 10 for text in texts):
                return None  # dates, or none
            aware = all(_OFFSET.search(text.strip()) for text in texts)
        drafted = cls._of_texts(sight, texts, lambda end: end.replace(tzinfo=UTC) if aware else end)
        return drafted.with_step_of(texts)


@dataclass(frozen=True)
class DatetimeGrid(Datetime):
    """The grid on which bounds are looked for: a code for each year and each of `PRECISIONS`, those of days first.

    One question tells both: a record falls in one cell, so its noise is that of years alone.
    """

    @property
    def years(self) -> Datetime:
        """The column of years alone."""
        return Datetime(**{field.name: getattr(self, field.name) for field in fields(self)})

    @property
    def count(self) -> int:
        return len(PRECISIONS) * super().count

    def _plain_codec(self) -> DatetimeGridCodec:
        return DatetimeGridCodec(self)

    def value_labels(self) -> list[str]:
        return [f"{year}, {step}" for step in PRECISIONS for year in self.years.value_labels()]

    def years_of(self, counts: NoisyCounts) -> NoisyCounts:
        """The counts of years, whatever the step."""
        return counts.first(self.count).folded(len(PRECISIONS))

    def precision_of(self, counts: NoisyCounts) -> str | None:
        """The coarsest step that nearly all values stand on, where more than noise says so."""
        first, last = self.years_of(counts).extent()
        held = counts.first(self.count).layers(len(PRECISIONS))[:, first : last + 1].sum(axis=1)
        held[held <= SURE * counts.stddev * np.sqrt(last + 1 - first)] = 0
        for place, step in enumerate(PRECISIONS[:-1]):
            if held[: place + 1].sum() >= MOSTLY * held.sum() > 0:
                return step
        return None


class DatetimeCodec(MomentCodec[Datetime]):
    """Datetimes: back as timestamps in microseconds, in UTC when the bounds are instants."""

    def __init__(self, column: Datetime) -> None:
        super().__init__(column)
        self.grid = column.step
        self.arrow_type = pa.timestamp("us", tz="UTC" if column.aware else None)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: self.micros(wide, rng, within))

    def _parsed_as(self) -> pa.DataType:
        return pa.string() if self.column.aware else pa.timestamp("us")


class DatetimeGridCodec(DatetimeCodec):
    """The year of each value, and on which step it stands; slots after all of these."""

    def encode(self, array: pa.Array) -> Codes:
        years = self.column.years if isinstance(self.column, DatetimeGrid) else self.column
        found = years.codec().encode(array).astype(np.int64)
        step = steps(self.read(array)[0])
        slots = found >= years.count
        return np.where(slots, found + self.column.count - years.count, found + step * years.count).astype(
            self.dtype
        )
