"""The values of an Arrow column of any type as Python can hold them, by rules that no value can break.

Python has no year 10000 and no time of day before midnight; Arrow has. What one of the two cannot write is null.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_ZEROS = (
    r"(\.\d*[1-9])0+$|\.0+$"  # at the end of a fraction of a second, where they say the unit, not the moment
)
_UNWRITABLE = "<"  # what Arrow's text for a moment that it cannot write begins with


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """One array without chunks, extension types, views or run-length encoding; of dictionaries, those of text."""
    while isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if isinstance(column, pa.ChunkedArray):
        if is_text(column.type) and column.num_chunks > 1:
            column = column.dictionary_encode()  # many gigabytes of text would not fit in one array
        column = _whole(column)
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        if is_text(kind.value_type):
            return column
        values = plain(column.dictionary)
        return plain(values.take(column.indices.cast(pa.int64())))
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(38, kind.scale))
    return column.cast(_VIEWS[kind]) if kind in _VIEWS else column


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """One array; where there is one chunk that is no slice of another, the chunk itself, which is not copied."""
    one = column.num_chunks == 1 and column.chunk(0).offset == 0
    return column.chunk(0) if one else column.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are texts, or bytes that should be."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def values_of(array: pa.Array) -> list[Any]:
    """The values of a plain array: moments and times of day as text, spans of time as numbers of their unit."""
    kind = array.type
    if pa.types.is_timestamp(kind):  # without its zone: the moment itself is in UTC
        return _texts(array.view(pa.int64()).cast(pa.timestamp(kind.unit)))
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return _texts(array)
    if pa.types.is_duration(kind):
        array = array.cast(pa.int64())
    found: list[Any] = array.to_pylist()
    return found


def _texts(array: pa.Array) -> list[Any]:
    texts = pc.replace_substring_regex(array.cast(pa.string()), _ZEROS, r"\1")
    found: list[Any] = pc.if_else(pc.starts_with(texts, _UNWRITABLE), None, texts).to_pylist()
    return found
