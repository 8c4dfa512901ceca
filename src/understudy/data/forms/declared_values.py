"""Synthetic values in the types in which the columns of the real table were declared.

No value raises: what lies beyond a type stops at its end, and values that a type cannot hold at all keep their own.
"""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.counting.open_values import text_column
from understudy.data.forms.pandas_notes import with_notes
from understudy.data.forms.table_form import CATEGORIES, ColumnForm, TableForm
from understudy.domain import Category, Column, Schema, arrays, grammar
from understudy.domain.arrow_values import is_text, plain
from understudy.domain.columns.time import time_of_day

_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000
_TEXTS = (pa.string(), pa.large_string(), pa.string_view())
_NS = -(2**63) // 1_000 + 1, (2**63 - 1) // 1_000  # the microseconds that nanoseconds reach


def as_declared(table: pa.Table, schema: Schema, form: TableForm) -> pa.Table:
    """The columns in the order of the form and of its types; those that it does not know come last, as they are."""
    names = [name for name in form.columns if name in table.column_names]
    names += [name for name in table.column_names if name not in form.columns]
    columns = {}
    for name in names:
        values = plain(table.column(name))
        columns[name] = _declared(values, form.columns.get(name, ColumnForm()), schema.columns.get(name))
    return with_notes(pa.table(columns), form.words)


def _declared(values: pa.Array, form: ColumnForm, column: Column | None) -> pa.Array:
    kind = form.type
    if kind is None and form.own in CATEGORIES:
        kind = pa.dictionary(pa.int32(), _value_type(values), form.own in ("ordered category", "Enum"))
    if kind is None:
        return values
    target = kind.value_type if pa.types.is_dictionary(kind) else kind
    counted = _is_text(values.type) and column is not None and column.compared_as not in ("moment", "time")
    if column is not None and not _is_text(target) and (counted or _is_moment(target)):
        values = column.plain_values(
            values
        )  # the type has no texts for a format to stand in; 20210203 is a number
    if pa.types.is_dictionary(kind):
        return _encoded(values, kind, column if isinstance(column, Category) else None)
    return as_type(values, kind)


def settled(table: pa.Table, form: TableForm) -> pa.Table:
    """The table in its own types, with no number or moment that its declared type could not hold."""
    for place, name in enumerate(table.column_names):
        kind, values = form.columns.get(name, ColumnForm()).type, plain(table.column(name))
        exact = kind is not None and (
            pa.types.is_integer(kind) or pa.types.is_decimal(kind) or _is_moment(kind)
        )
        if kind is not None and exact and not _is_text(values.type) and values.type != kind:
            table = table.set_column(place, name, as_type(as_type(values, kind), values.type))
    return table


def _value_type(values: pa.Array) -> pa.DataType:
    return values.type.value_type if pa.types.is_dictionary(values.type) else values.type


def _encoded(array: pa.Array, kind: pa.DataType, listed: Category | None) -> pa.Array:
    """Values by their place in a list: that of the schema, or all that were drawn; never the real table's."""
    viewed = kind.value_type == pa.string_view()  # among which Arrow finds no places
    values = as_type(array, pa.large_string() if viewed else kind.value_type)
    known = values.unique().drop_null()
    known = known.take(pc.sort_indices(known))
    if listed is not None:  # what it does not list, such as the text for all others, comes after it
        first = as_type(pa.array(listed.shown), values.type)
        known = pa.concat_arrays([first, known]).unique().drop_null()
    ordered = kind.ordered and (listed is None or listed.ordered)
    places = pc.index_in(values, known)
    index = kind.index_type
    if (
        index.bit_width == 8
    ):  # narrow: as wide as the list needs, or wide where each part of a sample has its own
        sizes = (index, *_WIDER[index]) if listed else _WIDER[index][-1:]
        index = next(size for size in sizes if len(known) < 2 ** (size.bit_width - 1))
    if viewed:
        known = known.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(places.cast(index), known, ordered=ordered)


_LONG = re.compile("[0-9]{1,20}", re.ASCII)  # digits of a number without a sign
_WIDER = {pa.int8(): (pa.int16(), pa.int32()), pa.uint8(): (pa.uint16(), pa.uint32())}


def as_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values of a plain array in another type, where they have a meaning in it; else the array as it is."""
    if array.type == kind:
        return array
    if kind in _TEXTS:
        return _decoded(text_column(array)).cast(kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(array))
    if pa.types.is_boolean(kind) and not _is_moment(array.type):
        return _truth(array)
    if pa.types.is_integer(kind) and not _is_moment(array.type):
        return _whole(array, kind)
    if pa.types.is_duration(kind) and not _is_moment(array.type):
        return _whole(array, pa.int64()).cast(kind)
    if pa.types.is_floating(kind) and not _is_moment(array.type):
        return _floating(array, kind)
    if pa.types.is_decimal(kind) and not _is_moment(array.type):
        return _decimal(array, kind)
    if _is_date(kind) and (_is_date(array.type) or _is_text(array.type)):
        return _moment(array, kind)
    if pa.types.is_time(kind) and (pa.types.is_time(array.type) or _is_text(array.type)):
        return _time(array, kind)
    return array


def _truth(array: pa.Array) -> pa.Array:
    if _is_text(array.type):
        found, bad = arrays.by_text(array, grammar.truth)
        return pa.array(found == 1, mask=bad)
    numbers = arrays.floats(array)
    return pa.array(numbers != 0, mask=np.isnan(numbers))


def _whole(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if kind == pa.uint64() and _is_text(array.type):
        return _wide(array)
    if pa.types.is_integer(array.type):
        with suppress(pa.ArrowInvalid):  # some value lies beyond the type
            return array.cast(kind)
    values, bad = arrays.integers(array)
    ends = np.iinfo(kind.to_pandas_dtype())
    low, high = max(int(ends.min), -(2**63)), min(int(ends.max), 2**63 - 1)
    return pa.array(np.clip(values, low, high).astype(ends.dtype), kind, mask=bad)


def _wide(array: pa.Array) -> pa.Array:
    """Texts as whole numbers from zero on, of which the largest do not fit where there is a sign."""
    places = _decoded(array).dictionary_encode()
    known = [
        int(text) if _LONG.fullmatch(text) else grammar.whole(text) for text in places.dictionary.to_pylist()
    ]
    held = [number if number is None or 0 <= number < 2**64 else None for number in known]
    return pa.array(held, pa.uint64()).take(places.indices)


def _floating(array: pa.Array, kind: pa.DataType) -> pa.Array:
    numbers, dtype = arrays.floats(array), np.dtype(kind.to_pandas_dtype())
    furthest = float(np.finfo(dtype).max)
    return pa.array(np.clip(numbers, -furthest, furthest).astype(dtype), kind, mask=np.isnan(numbers))


def _decimal(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Rounded to the type's decimals; whole numbers exactly, others as well as floats have them."""
    top = 10 ** (kind.precision - kind.scale) if kind.precision > kind.scale else 1
    if pa.types.is_integer(array.type) and kind.scale >= 0:
        values, bad = arrays.integers(array)
        last = min(top - 1, 2**63 - 1)
        whole = pa.array(np.clip(values, -last, last), mask=bad)
        return whole.cast(pa.decimal256(76, 0)).cast(kind)
    numbers = arrays.floats(array)
    last = float(np.nextafter(np.round(float(top) - 10.0**-kind.scale, kind.scale), 0))
    clipped = np.round(np.clip(numbers, -last, last), kind.scale)
    return pa.array(clipped, mask=np.isnan(numbers)).cast(kind)


def _moment(array: pa.Array, kind: pa.DataType) -> pa.Array:
    micros, bad = arrays.moments(array)
    if pa.types.is_date(kind):
        days = micros // _DAY
        dates = pa.array(np.clip(days, -(2**31), 2**31 - 1).astype(np.int32), mask=bad).cast(pa.date32())
        return dates.cast(kind)
    fine = kind.unit == "ns"
    counted = np.clip(micros, *_NS) * 1_000 if fine else micros // _MICROSECONDS[kind.unit]
    return pa.array(counted, pa.int64(), mask=bad).view(kind)


def _time(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if not pa.types.is_time(array.type):
        micros, bad = arrays.by_text(array, time_of_day)
        array = pa.array(np.where(micros < 0, 0, micros), pa.int64(), mask=bad).view(pa.time64("us"))
    return array.cast(kind, safe=False)


def _decoded(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _is_date(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return _is_date(kind) or bool(pa.types.is_time(kind))


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return is_text(kind) or kind == pa.string_view()
