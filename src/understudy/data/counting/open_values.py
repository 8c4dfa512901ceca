"""Counting the values of an open column, in the form in which a release can name them.

Whole numbers stay whole numbers and truths truths, by the column's type; values of any other type are counted
by their text, which is how a category of texts tells them later. What cannot be named is passed over by a rule
that looks at that value alone: nothing here raises for a value, since a charge may have been made already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain.arrow_values import is_text, plain, values_of
from understudy.domain.cell_text import text_of


def count_values(values: Any) -> dict[Any, int]:
    """How many records have each value of an open category; missing values and NaN are left out.

    Exact and private: only a mechanism that adds noise and a threshold may see it.
    """
    return merge_counts([values])


def merge_counts(parts: Iterable[Any]) -> dict[Any, int]:
    """`count_values` of a column that comes in parts."""
    return merge_tallies((part, None) for part in parts)


def merge_tallies(parts: Iterable[tuple[Any, Any]]) -> dict[Any, int]:
    """`count_values` of a column that comes as values and how many records each of them stands for (None: one)."""
    merged: dict[Any, int] = {}
    for values, records in parts:
        encoded = nameable(values).dictionary_encode()
        known = np.asarray(encoded.indices.is_valid())
        places = np.asarray(encoded.indices.drop_null())
        counts = np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(counts, places, 1 if records is None else np.asarray(records)[known])
        for value, count in zip(encoded.dictionary.to_pylist(), counts.tolist(), strict=True):
            merged[value] = merged.get(value, 0) + count
    return merged


def nameable(values: Any) -> pa.Array:
    """The values as 64-bit whole numbers, truths or texts, by their type; null for those that cannot be named."""
    given = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    array = plain(given)
    kind = array.type
    if pa.types.is_uint64(kind):  # no schema holds a whole number that is larger
        array = pc.if_else(pc.greater(array, pa.scalar(2**63 - 1, kind)), pa.scalar(None, kind), array)
    if pa.types.is_integer(kind):
        return array.cast(pa.int64())
    if pa.types.is_boolean(kind):
        return array
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array.cast(pa.large_string())
    encoded = array if pa.types.is_dictionary(kind) else array.dictionary_encode()
    texts = [_name(value) for value in values_of(encoded.dictionary)]
    return pa.array(texts, pa.large_string()).take(encoded.indices.cast(pa.int64()))


def text_column(values: pa.Array) -> pa.Array:
    """Any column as text, cell by cell, as `nameable` writes what is neither whole number nor truth."""
    array = plain(values)
    if is_text(array.type) or (pa.types.is_dictionary(array.type) and is_text(array.type.value_type)):
        return array
    encoded = array.dictionary_encode()
    texts = [_name(value) for value in values_of(encoded.dictionary)]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.large_string()))


def _name(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    return text_of(value)
