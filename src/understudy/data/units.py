"""Whose record is whose: bounding what one unit (a person, say) contributes.

Neighbouring tables differ in all records of one unit. Keeping at most the first k records of every unit
looks at one unit at a time, so a unit's presence never changes which records of another are kept, and
any count over the kept records moves by at most k.

A record whose unit is missing is dropped. Its owner is unknown, so it could be the (k + 1)-th of anybody,
and treating all such records as one unit would let one person's record push out another's. Dropped
records contribute nothing, whoever owned them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import ParameterError


def bound(units: Any, most: int) -> npt.NDArray[np.bool_]:
    """Which records to keep: the first `most` of every unit, in the table's order; none without a unit."""
    check_most(most)
    numbers = unit_numbers(units)
    known = np.flatnonzero(numbers >= 0)
    order = known[np.argsort(numbers[known], kind="stable")]
    grouped = numbers[order]
    place = np.arange(len(order))
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]]) if len(order) else place
    rank = place - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    keep = np.zeros(len(numbers), np.bool_)
    keep[order[rank < most]] = True
    return keep


def check_most(most: int) -> int:
    """The most records of one unit, once it is a whole number of at least 1."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ParameterError(
            f"max_records_per_unit: {most!r} is not a whole number of at least 1.",
            hint="give the most records that one unit may have.",
        )
    return int(most)


def unit_numbers(units: Any) -> npt.NDArray[np.int64]:
    """A number for every record, equal for equal units, and -1 where the unit is missing (or NaN)."""
    values = _as_arrow(units)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    if pa.types.is_null(values.type):
        return np.full(len(values), -1, np.int64)
    indices = values.dictionary_encode().indices
    return np.asarray(indices.cast(pa.int64()).fill_null(-1))


def _as_arrow(values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    return pa.array(values, from_pandas=True)
