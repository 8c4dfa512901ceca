"""Arrow columns of any type as plain NumPy arrays of whole numbers, numbers or moments.

Each function answers for every Arrow type a table may have, and raises for no value: what cannot be read is
marked, what is too large stops at the end of int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.transforms import grammar

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
# Microseconds in one unit of a type that counts time.
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1, "day": 86_400_000_000}


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """One array without chunks, extension types, views or run-length encoding."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if isinstance(column, pa.ChunkedArray):
        if _is_text(column.type) and column.num_chunks > 1:
            column = column.dictionary_encode()  # many gigabytes of text would not fit in one array
        column = column.combine_chunks()
    if pa.types.is_null(column.type):
        column = pa.nulls(len(column), pa.string())
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if column.type in _VIEWS:
        column = column.cast(_VIEWS[column.type])
    return column


def is_flat(kind: pa.DataType) -> bool:
    """Whether a column of this type holds one value a cell, and not lists or structs of them."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_flat(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_flat(kind.value_type)
    return not pa.types.is_nested(kind)


def by_distinct(array: pa.Array, of: Callable[[Any], Any], null: Any, dtype: Any) -> npt.NDArray[Any]:
    """`of` each value of a column, worked out once for each distinct value; `null` for nulls."""
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    distinct = _listable(encoded.dictionary).to_pylist()
    answers: npt.NDArray[Any] = np.empty(len(distinct) + 1, dtype=dtype)
    answers[-1] = null
    for place, value in enumerate(distinct):
        answers[place] = null if value is None else of(value)
    indices = encoded.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), -1)
    places: npt.NDArray[np.int64] = indices.to_numpy(zero_copy_only=False)
    found: npt.NDArray[Any] = answers[places]
    return found


def _listable(array: pa.Array) -> pa.Array:
    """The same values in a type that Python can hold, whatever the year or the fraction of a second."""
    if pa.types.is_timestamp(array.type):  # without its zone: the moment itself is in UTC
        return array.view(pa.int64()).cast(pa.timestamp(array.type.unit)).cast(pa.string())
    if pa.types.is_date(array.type) or pa.types.is_time(array.type):
        return array.cast(pa.string())
    return array.cast(pa.int64()) if pa.types.is_duration(array.type) else array


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def text_of(value: Any) -> str:
    """The text of one value as a file would show it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas turns whole numbers beside missing ones into floats
    return str(value)


def integers(array: pa.Array) -> tuple[Integers, Mask | None]:
    """Each value rounded down to a whole number, and which could not be read (None: all could)."""
    kind = array.type
    if pa.types.is_integer(kind):
        values, bad = _filled(array, 0)
        if pa.types.is_uint64(kind):
            values = np.minimum(values, np.uint64(grammar.FURTHEST))
        return values.astype(np.int64, copy=False), bad
    if pa.types.is_boolean(kind):
        values, bad = _filled(array, False)
        return values.astype(np.int64), bad
    if pa.types.is_floating(kind):
        return _floored(floats(array))
    unread = -(2**63)  # `grammar` never answers this
    found = by_distinct(array, lambda value: _or(grammar.whole(text_of(value)), unread), unread, np.int64)
    bad = found == unread
    return found, bad if bad.any() else None


def floats(array: pa.Array) -> Floats:
    """Each value as a float, NaN where it is missing or cannot be read."""
    kind = array.type
    if pa.types.is_floating(kind):
        # Nulls become NaN here.
        return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        values, bad = _filled(array, 0 if pa.types.is_integer(kind) else False)
        numbers = values.astype(np.float64)
        if bad is not None:
            numbers[bad] = np.nan
        return numbers
    return by_distinct(array, lambda value: _or(grammar.number(text_of(value)), np.nan), np.nan, np.float64)


def moments(array: pa.Array) -> tuple[Integers, Mask | None]:
    """Each value in microseconds since 1970, and which could not be read (None: all could)."""
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        narrow = pa.types.is_date32(kind)
        values, bad = _filled(array.view(pa.int32() if narrow else pa.int64()), 0)
        unit = "day" if narrow else "ms" if pa.types.is_date64(kind) else kind.unit
        return _in_microseconds(values.astype(np.int64, copy=False), unit), bad
    unread = -(2**63)
    found = by_distinct(array, lambda value: _or(grammar.moment(text_of(value)), unread), unread, np.int64)
    bad = found == unread
    return found, bad if bad.any() else None


def _in_microseconds(values: Integers, unit: str) -> Integers:
    if unit == "ns":
        return values // 1_000
    factor = _MICROSECONDS[unit]
    furthest = grammar.FURTHEST // factor
    return values if factor == 1 else np.clip(values, -furthest, furthest) * factor


def _floored(numbers: Floats) -> tuple[Integers, Mask | None]:
    bad = np.isnan(numbers)
    # 2^63 is a float and int64 ends one short of it: stop at the largest float below.
    furthest = float(2**63 - 1024)
    low = np.clip(np.floor(numbers), -furthest, furthest)
    unread = bad.any()
    if unread:
        low[bad] = 0
    values = low.astype(np.int64)
    values[numbers >= 2.0**63] = grammar.FURTHEST
    return values, bad if unread else None


def _filled(array: pa.Array, filling: Any) -> tuple[npt.NDArray[Any], Mask | None]:
    """The values of a primitive array, with `filling` for nulls, and where those are."""
    if not array.null_count:
        return array.to_numpy(zero_copy_only=False), None
    bad = array.is_null().to_numpy(zero_copy_only=False)
    return pc.fill_null(array, filling).to_numpy(zero_copy_only=False), bad


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
