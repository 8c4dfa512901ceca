"""What each code of a column stands for, as a short text."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from itertools import pairwise

from understudy.domain.category import Boolean, Category
from understudy.domain.column import Column
from understudy.domain.moment import SECONDS, Date, Datetime, period
from understudy.domain.number import Integer, Number


def labels_of(column: Column) -> list[str]:
    """One text a code, in order: values, then special values, then the slots for other and missing."""
    texts = _values(column)
    if column.other_code is not None:
        texts.append("(other)")
    if column.missing_code is not None:
        texts.append("(missing)")
    return texts


def _values(column: Column) -> list[str]:
    if isinstance(column, Category):
        return [str(value) for value in column.values or ()]
    if isinstance(column, Boolean):
        return ["false", "true"]
    if isinstance(column, Integer):
        starts = column.starts
        last = [after - column.step for after in starts[1:]]
        ranges = [str(a) if a == b else f"{a} to {b}" for a, b in zip(starts, last, strict=False)]
        return ranges + [str(value) for value in column.special]
    if isinstance(column, Number):
        cuts = column.cuts
        ranges = [f"{_short(a)} to {_short(b)}" for a, b in pairwise(cuts)]
        return ranges + [_short(value) for value in column.special]
    assert isinstance(column, Date | Datetime)
    first = period(column.min, column.granularity)
    return [_period(first + i, column.granularity) for i in range(column.count)]


def _short(number: float) -> str:
    """A number with as many digits as it needs, and no more than fit."""
    return f"{number:,.10g}" if abs(number) < 1e9 else f"{number:.4g}"


def _period(number: int, every: str) -> str:
    """A period of time by its number, as a person writes it."""
    if every == "year":
        return str(number)
    if every == "quarter":
        return f"{number // 4} Q{number % 4 + 1}"
    if every == "month":
        return f"{number // 12}-{number % 12 + 1:02d}"
    if every == "week":
        return f"week of {date.fromordinal(number * 7 + 1)}"
    if every == "day":
        return str(date.fromordinal(number))
    days, seconds = divmod(number * SECONDS[every], 86_400)
    moment = datetime.combine(date.fromordinal(days), time()) + timedelta(seconds=seconds)
    return moment.isoformat(" ", "seconds" if every == "second" else "minutes")
