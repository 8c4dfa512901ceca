"""The bytes that stand for a value, whatever type it came in: how units are told apart, and what they hold.

A whole number is its digits, also where it came as a float or a decimal (12, 12.0 and "12" are one unit), any
other number its shortest text, a moment its text in UTC, a text its own bytes, letter by letter: "a" is not "A",
and "012" is not "12". Missing are null and NaN, and for a unit the empty text as well, which a CSV file cannot
tell from null. The bytes of a value depend on that value and its type alone, and no value raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import Domain
from understudy.domain.codes import Codes, code_type

Bytes = npt.NDArray[np.uint8]

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_EXACT = float(2**63)  # below this a whole float is a whole number of 64 bits


def unit_bytes(units: Any) -> pa.LargeBinaryArray:
    """The bytes of every record's unit; null where it is missing, NaN or the empty text."""
    found = value_bytes(units)
    return pc.if_else(pc.equal(pc.binary_length(found), 0), pa.scalar(None, pa.large_binary()), found)


def value_bytes(values: Any) -> pa.LargeBinaryArray:
    """The bytes of every value; null where it is missing or NaN."""
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        if not array.num_chunks:
            return pa.array([], pa.large_binary())
        return pa.concat_arrays([_bytes(chunk) for chunk in array.chunks])
    return _bytes(array)


def values_of_bytes(contents: Any, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The values that some bytes stand for, once whole numbers, truths or texts (see `open_values.nameable`)."""
    try:
        texts = contents.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:  # bytes that are not UTF-8 become a mark each; other texts stay as they are
        read = [content.decode("utf-8", "replace") for content in contents.to_pylist()]
        texts = pa.array(read, pa.large_string())
    return texts.cast(kind)


def _bytes(array: pa.Array) -> pa.LargeBinaryArray:
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type):
        return _bytes(array.dictionary).take(array.indices)
    return _text(array).cast(pa.large_binary())


def _text(array: pa.Array) -> pa.Array:
    """The texts of an array of a plain type, or their bytes."""
    kind = array.type
    array = array.cast(_VIEWS[kind]) if kind in _VIEWS else array
    if pa.types.is_floating(kind):
        return _numbers(array)
    if pa.types.is_decimal(kind):
        return _trimmed(array.cast(pa.string()))
    if pa.types.is_timestamp(kind):  # without its zone: the moment itself is in UTC
        return _trimmed(array.view(pa.int64()).cast(pa.timestamp(kind.unit)).cast(pa.string()))
    if pa.types.is_time(kind):
        return _trimmed(array.cast(pa.string()))
    if pa.types.is_duration(kind):
        array = array.cast(pa.int64())
    if pa.types.is_interval(
        kind
    ):  # Arrow has no text for these: months, days and nanoseconds as Python has it
        return pa.array(
            [None if value is None else str(tuple(value)) for value in array.to_pylist()], pa.string()
        )
    is_bytes = (
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    )
    return array if is_bytes or kind in _VIEWS else array.cast(pa.large_string())


def _numbers(array: pa.Array) -> pa.Array:
    """Floats: whole ones as whole numbers, which also makes one of 0.0 and -0.0."""
    wide = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
    numbers = np.asarray(wide.to_numpy(zero_copy_only=False), np.float64)
    known = ~np.isnan(numbers)
    whole = known & (np.abs(np.where(known, numbers, 0.0)) < _EXACT) & (np.floor(numbers) == numbers)
    digits = pa.array(np.where(whole, numbers, 0.0).astype(np.int64)).cast(pa.large_string())
    if whole.all():
        return digits
    texts = pc.if_else(pa.array(known), wide, pa.scalar(None, wide.type)).cast(pa.large_string())
    return pc.if_else(pa.array(whole), digits, texts)


def _trimmed(texts: pa.Array) -> pa.Array:
    """Texts without the zeros that end a fraction, however many digits the type shows."""
    short = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
    return pc.if_else(pc.match_substring(texts, "."), short, texts)


def code_bytes(domain: Domain, codes: Mapping[str, Codes], rows: int) -> pa.LargeBinaryArray:
    """The codes of every record as its bytes, column by column in the domain's order."""
    width, place = record_width(domain), 0
    matrix = np.empty((rows, width), np.uint8)
    for name, size in domain.items():
        kind = code_type(size).newbyteorder("<")
        column = np.ascontiguousarray(codes[name], kind)
        matrix[:, place : place + kind.itemsize] = column.view(np.uint8).reshape(rows, kind.itemsize)
        place += kind.itemsize
    ends = np.arange(rows + 1, dtype=np.int64) * width
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), rows, [None, pa.py_buffer(ends), pa.py_buffer(matrix)]
    )


def codes_of_bytes(domain: Domain, contents: Any) -> dict[str, Codes]:
    """The codes of records, from the bytes that `code_bytes` made of them."""
    (_, data), width, place = buffers(contents), record_width(domain), 0
    matrix, found = data.reshape(len(contents), width), {}
    for name, size in domain.items():
        kind = code_type(size).newbyteorder("<")
        part = np.ascontiguousarray(matrix[:, place : place + kind.itemsize])
        found[name] = part.reshape(-1).view(kind).astype(code_type(size), copy=False)
        place += kind.itemsize
    return found


def buffers(contents: Any) -> tuple[npt.NDArray[np.int64], Bytes]:
    """The offsets at which the bytes of each value begin and end, counted from 0, and all bytes in one array."""
    array = contents.combine_chunks() if isinstance(contents, pa.ChunkedArray) else contents
    array = array.cast(pa.large_binary())
    _, ends, data = array.buffers()
    if not len(array) or data is None:
        return np.zeros(len(array) + 1, np.int64), np.empty(0, np.uint8)
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    return offsets - offsets[0], np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]


def record_width(domain: Domain) -> int:
    """The bytes that the codes of one record take."""
    return sum(code_type(size).itemsize for size in domain.values())
