"""Dates: one code for every day, week, month, quarter or year."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.calendar import Calendar
from understudy.domain.columns.moment import DAY, DAYS, MomentCodec
from understudy.domain.columns.parts.codec import Within
from understudy.domain.columns.parts.fields import refuse
from understudy.domain.columns.parts.sight import Sight

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Date(Calendar):
    """Days. More parameters: those of every `Column`.

    Parameters:
        min: the first day, a `datetime.date`; left out, it is learned privately.
        max: the last day; left out, it is learned privately.
        every: how long a code is: "day" (the default), "week", "month", "quarter" or "year".
        format: how cells are written, by codes such as "%d/%m/%Y"; by default as ISO 8601 says.
        edges: instead of `every`, the first day of each code; the first of them is `min`.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "date"
    periods = DAYS
    default_every = "day"
    unit = timedelta(days=1)

    def _bound(self, field: str, value: object) -> date:
        if isinstance(value, datetime) or not isinstance(value, date):
            refuse(field, value, "is not a date.", "write it as 2026-12-31, without quotes.")
        return value

    def first_micro(self, value: date) -> int:
        return (value - _EPOCH).days * DAY

    @property
    def extent(self) -> tuple[int, int]:
        low, high = super().extent
        return low, high + DAY - 1  # any moment of the last day is inside

    def _plain_codec(self) -> DateCodec:
        return DateCodec(self)

    def _span(self, first: int, last: int, zone: tzinfo | None) -> tuple[date, date]:
        return date(first, 1, 1), date(last, 12, 31)

    def _value(self, micros: int) -> date:
        return _EPOCH + timedelta(days=micros // DAY)

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Date | None:
        return cls() if pa.types.is_date(kind) else None

    @classmethod
    def drafted(cls, sight: Sight) -> Date | None:
        if pa.types.is_date(sight.kind):
            return cls._of_texts(sight, sight.texts, datetime.date)
        by_format = cls._by_format(sight, datetime.date, days=True)
        if by_format is not None:
            return by_format
        bare = all(len(text.strip()) == 10 for text in sight.moments)
        return cls._of_texts(sight, sight.moments, datetime.date) if sight.moments and bare else None


class DateCodec(MomentCodec[Date]):
    """Dates: back as 32-bit dates."""

    arrow_type = pa.date32()
    grid = DAY

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(
            codes, lambda wide: (self.micros(wide, rng, within) // DAY).astype("datetime64[D]")
        )
