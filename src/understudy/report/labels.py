"""What each code of a column stands for, as a short text."""

from __future__ import annotations

from itertools import pairwise

from understudy.domain.category import Boolean, Category
from understudy.domain.column import Column
from understudy.domain.moment import Date, Datetime
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
        ranges = [f"{a:g} to {b:g}" for a, b in pairwise(cuts)]
        return ranges + [f"{value:g}" for value in column.special]
    assert isinstance(column, Date | Datetime)
    first = column.min
    if column.granularity == "year":
        return [str(first.year + i) for i in range(column.count)]
    if column.granularity == "month":
        months = range(first.month - 1, first.month - 1 + column.count)
        return [f"{first.year + m // 12}-{m % 12 + 1:02d}" for m in months]
    return [f"{first.isoformat()} + {i} {column.granularity}s" for i in range(column.count)]
