"""Columns of time: dates and datetimes, by the year, the quarter, down to the second."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar

from understudy.domain.column import Column, below, refuse
from understudy.errors import SchemaError

DAYS = ("year", "quarter", "month", "week", "day")
SECONDS = {"hour": 3600, "minute": 60, "second": 1}


def period(moment: date, every: str) -> int:
    """The number of the period that holds `moment`; numbers of neighbouring periods differ by one."""
    if every in SECONDS:
        assert isinstance(moment, datetime)
        seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
        return (moment.toordinal() * 86_400 + seconds) // SECONDS[every]
    return {
        "year": moment.year,
        "quarter": moment.year * 4 + (moment.month - 1) // 3,
        "month": moment.year * 12 + moment.month - 1,
        "week": (moment.toordinal() - 1) // 7,  # 0001-01-01 was a Monday
        "day": moment.toordinal(),
    }[every]


@dataclass(frozen=True)
class _Moment(Column):
    """Shared by dates and datetimes: bounds, and one code for every period between them."""

    periods: ClassVar[tuple[str, ...]]
    default_every: ClassVar[str]

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

    def _bound(self, field: str, value: object) -> date:
        raise NotImplementedError

    @property
    def granularity(self) -> str:
        """The period of one code: `every`, or its default."""
        return self.every or self.default_every

    @property
    def unlearned(self) -> tuple[str, ...]:
        return tuple(field for field in ("min", "max") if getattr(self, field) is None)

    @property
    def count(self) -> int:
        return period(self.max, self.granularity) - period(self.min, self.granularity) + 1


@dataclass(frozen=True)
class Date(_Moment):
    """Days from `min` to `max`, one code for `every` day (the default), week, month, quarter or year."""

    type = "date"
    periods = DAYS
    default_every = "day"

    def _bound(self, field: str, value: object) -> date:
        if isinstance(value, datetime) or not isinstance(value, date):
            refuse(field, value, "is not a date.", "write it as 2026-12-31, without quotes.")
        return value


@dataclass(frozen=True)
class Datetime(_Moment):
    """Moments from `min` to `max`, one code for `every` hour (the default), or anything from second to year.

    With an offset in its bounds the column is one of instants, kept in UTC; without, one of wall-clock times.
    """

    type = "datetime"
    periods = (*DAYS, *SECONDS)
    default_every = "hour"

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
