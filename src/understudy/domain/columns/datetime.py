"""Datetimes: one code for every period from a second to a year, as wall-clock times or as instants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.moment import CLOCK, DAYS, SECOND, Calendar, MomentCodec
from understudy.domain.columns.parts.codec import Within
from understudy.domain.columns.parts.fields import refuse
from understudy.domain.columns.parts.sight import Sight

_EPOCH = datetime(1970, 1, 1)
_OFFSET = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$")


@dataclass(frozen=True)
class Datetime(Calendar):
    """Moments from `min` to `max`, one code for `every` hour (the default), or anything from second to year.

    With an offset in its bounds the column is one of instants, kept in UTC; without, one of wall-clock times.
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

    def _value(self, micros: int) -> datetime:
        return _EPOCH + timedelta(seconds=micros // SECOND)

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Datetime | None:
        return cls() if pa.types.is_timestamp(kind) else None

    @classmethod
    def drafted(cls, sight: Sight) -> Datetime | None:
        by_format = cls._by_format(sight, lambda end: end, days=False)
        if by_format is not None:
            return by_format
        if pa.types.is_timestamp(sight.kind):
            texts, aware = sight.texts, sight.kind.tz is not None
        else:
            texts = sight.moments
            if all(len(text.strip()) == 10 for text in texts):
                return None  # dates, or none
            aware = all(_OFFSET.search(text.strip()) for text in texts)
        return cls._of_texts(sight, texts, lambda end: end.replace(tzinfo=UTC) if aware else end)


class DatetimeCodec(MomentCodec[Datetime]):
    """Datetimes: back as timestamps in microseconds, in UTC when the bounds are instants."""

    grid = SECOND

    def __init__(self, column: Datetime) -> None:
        super().__init__(column)
        self.arrow_type = pa.timestamp("us", tz="UTC" if column.aware else None)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: self.micros(wide, rng, within))

    def _parsed_as(self) -> pa.DataType:
        return pa.string() if self.column.aware else pa.timestamp("us")
