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

from understudy.domain import grammar
from understudy.domain.arrow_values import is_text, values_of
from understudy.domain.cell_text import text_of

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

UNREAD = -(2**63)  # stands for what could not be read; `grammar` never answers it
# Microseconds in one unit of a type that counts time.
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1, "day": 86_400_000_000}


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
    distinct = values_of(encoded.dictionary)
    answers = np.array([null if value is None else of(value) for value in distinct], dtype=dtype)
    return gathered(encoded.indices, answers, null)


def gathered(indices: pa.Array, answers: npt.NDArray[Any], null: Any) -> npt.NDArray[Any]:
    """The answer at each index, `null` where there is none."""
    answers = np.append(answers, np.array([null], dtype=answers.dtype))
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), -1)
    places: npt.NDArray[np.int64] = indices.to_numpy(zero_copy_only=False)
    found: npt.NDArray[Any] = answers[places]
    return found


def distinct_texts(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The distinct texts of a column without blanks around them, and the place of each cell's among them."""
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = encoded.dictionary
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        texts = pa.array(
            [None if value is None else text_of(value) for value in values_of(texts)], pa.string()
        )
    return pc.utf8_trim(texts.cast(pa.large_string()), " \t"), encoded.indices


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
    if not is_text(kind):
        return _marked(by_distinct(array, _whole, UNREAD, np.int64))
    encoded = array.dictionary_encode()
    numbers = _numbers(encoded.dictionary)
    whole, bad = _floored(numbers)
    for place in np.flatnonzero(np.abs(numbers) >= 2**53).tolist():  # past what floats tell apart
        whole[place] = _whole(encoded.dictionary[place].as_py())
    if bad is not None:
        whole[bad] = UNREAD
    return _marked(gathered(encoded.indices, whole, UNREAD))


def _whole(value: Any) -> int:
    return int(_or(grammar.whole(text_of(value)), UNREAD))


def _marked(found: Integers) -> tuple[Integers, Mask | None]:
    bad = found == UNREAD
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
    if not is_text(kind):
        return by_distinct(array, _number, np.nan, np.float64)
    encoded = array.dictionary_encode()
    return gathered(encoded.indices, _numbers(encoded.dictionary), np.nan)


def _number(value: Any) -> float:
    return float(_or(grammar.number(text_of(value)), np.nan))


def _numbers(texts: pa.Array) -> Floats:
    """The number of each distinct text: plain ones all at once, by a parser that rounds as ours does."""
    if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
        plain = pc.match_substring_regex(texts, r"^-?[0-9]{1,15}(\.[0-9]{0,9})?$")
        numbers = np.array(pc.if_else(plain, texts, None).cast(pa.float64()).to_numpy(zero_copy_only=False))
        rest = np.flatnonzero(~plain.to_numpy(zero_copy_only=False))
    else:
        numbers, rest = np.full(len(texts), np.nan), np.arange(len(texts))
    for place in rest.tolist():
        numbers[place] = _number(texts[place].as_py())
    return numbers


def moments(array: pa.Array) -> tuple[Integers, Mask | None]:
    """Each value in microseconds since 1970, and which could not be read (None: all could)."""
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        narrow = pa.types.is_date32(kind)
        values, bad = _filled(array.view(pa.int32() if narrow else pa.int64()), 0)
        unit = "day" if narrow else "ms" if pa.types.is_date64(kind) else kind.unit
        return _in_microseconds(values.astype(np.int64, copy=False), unit), bad
    return by_text(array, grammar.moment)


def by_text(array: pa.Array, meaning: Callable[[str], int | None]) -> tuple[Integers, Mask | None]:
    """What the text of each value means, and which have no meaning (None: all have)."""
    return _marked(by_distinct(array, lambda value: _or(meaning(text_of(value)), UNREAD), UNREAD, np.int64))


def readable(values: npt.NDArray[Any], unread: Mask | None, apart: list[Any]) -> npt.NDArray[Any]:
    """The values that are neither unread nor any of those `apart`."""
    left_out = np.isin(values, apart)
    return values[~left_out if unread is None else ~(left_out | unread)]


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
