"""Between what values a column lies, and on what grid: what differences from another are made of."""

from __future__ import annotations

import math
from typing import Any

from understudy.domain.columns.binned import BinnedColumn
from understudy.domain.columns.column import Column
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.moment import DAY, LENGTHS, Moment
from understudy.domain.columns.number import Number
from understudy.errors import SchemaError

Step = int | float
TOLD_APART = 4_096  # steps between the bounds of numbers that have no precision


def ends_of(column: Column) -> tuple[Any, Any]:
    """The least and the greatest value of a column as they are compared; refused where they are not known."""
    if isinstance(column, Moment) and not column.unlearned:
        low, high = column.extent
        return low, high // grid_of(column) * grid_of(column)
    if isinstance(column, Integer) and column.unlearned in ((), ("bins",)):
        return column.low, column.high
    if isinstance(column, Number) and (column.edges is not None or None not in column.bounds):
        cuts = column.cuts or column.bounds
        return cuts[0], cuts[-1]
    raise SchemaError("bounds are not known, and differences need them.", hint="give min and max.")


def grid_of(column: Column) -> Step:
    """The least that two values of a column differ by; 0 where that is not known."""
    if isinstance(column, Moment):
        step = getattr(column, "step", DAY)
        return max(int(step), LENGTHS.get(getattr(column.form, "resolution", ""), 1))
    if isinstance(column, Integer):
        return column.step
    return column.precision or 0.0 if isinstance(column, Number) else 0.0


def unit_of(column: Column, width: Step) -> Step:
    """The step in which differences of a column are counted, the largest of which is so wide."""
    return grid_of(column) or 10.0 ** math.floor(math.log10(width / TOLD_APART))


def is_plain(column: Column) -> bool:
    """Whether every value that a column allows lies between its bounds, and what does not is clipped or missing."""
    if column.rule == "other" or not isinstance(column, Moment | BinnedColumn):
        return False
    if isinstance(column, Moment) and getattr(column.form, "resolution", "day") in (
        "week",
        "month",
        "quarter",
        "year",
    ):
        return False
    try:
        low, high = ends_of(column)
    except SchemaError:
        return False
    special = column.special if isinstance(column, BinnedColumn) else ()
    return all(low <= value <= high for value in special) and max(abs(low), abs(high)) < 2**60
