"""Arrow types as text and back: a type in a release file is a word that is looked up, never bytes that are decoded.

Where a dictionary's index type may have been chosen by counting its values, as pandas does, it is not kept: narrow
indices of whatever width are written as the narrowest, and come back as wide as the values at hand need.
"""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

import pyarrow as pa

_UNITS = ("s", "ms", "us", "ns")
_PLAIN = (
    *(pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit) for unit in _UNITS),
    *(pa.duration(unit) for unit in _UNITS),
)
_NAMED = {str(kind): kind for kind in _PLAIN}
_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), tz=([A-Za-z0-9_+:/-]{1,64})\]", re.ASCII)
_DECIMAL = re.compile(r"(decimal(?:32|64|128|256))\((\d{1,2}), (-?\d{1,2})\)", re.ASCII)
_DICTIONARY = re.compile(r"dictionary<values=(.{1,90}), indices=(u?int\d{1,2}), ordered=([01])>", re.ASCII)
_OFFSET = re.compile(r"[+-]\d\d:\d\d", re.ASCII)
_NARROW = {pa.int8(): pa.int8(), pa.int16(): pa.int8(), pa.uint8(): pa.uint8(), pa.uint16(): pa.uint8()}


def kept_type(kind: pa.DataType) -> pa.DataType | None:
    """What is kept of a column's declared type: None where values cannot be given back in it."""
    if isinstance(kind, pa.BaseExtensionType):
        return kept_type(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return kept_type(kind.value_type)
    if pa.types.is_dictionary(kind):
        values = kept_type(kind.value_type)
        if values is None or values == pa.float16():  # which Arrow cannot look up
            return values
        return pa.dictionary(_NARROW.get(kind.index_type, kind.index_type), values, kind.ordered)
    known = str(kind) in _NAMED or any(rule.fullmatch(str(kind)) for rule in (_ZONED, _DECIMAL))
    return kind if known else None


def type_text(kind: pa.DataType) -> str:
    """A kept type as text."""
    return str(kind)


def type_of_text(text: str) -> pa.DataType:
    """The type that a text names; a ValueError for any other text. A zone that is not known here is taken for UTC."""
    if text in _NAMED:
        return _NAMED[text]
    if found := _ZONED.fullmatch(text):
        return pa.timestamp(found[1], found[2] if _is_zone(found[2]) else "UTC")
    if found := _DECIMAL.fullmatch(text):
        return getattr(pa, found[1])(int(found[2]), int(found[3]))
    if (found := _DICTIONARY.fullmatch(text)) and not found[1].startswith("dictionary"):
        return pa.dictionary(_NAMED[found[2]], type_of_text(found[1]), found[3] == "1")
    raise ValueError("no type of a column")


def _is_zone(name: str) -> bool:
    try:
        return _OFFSET.fullmatch(name) is not None or ZoneInfo(name) is not None
    except (KeyError, ValueError, OSError):
        return False
