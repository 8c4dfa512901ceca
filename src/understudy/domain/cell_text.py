"""The text of one value, by a rule that looks at that value alone and never raises.

A column without a type of its own is read cell by cell with it, and a category is told by it; so a value reads
the same whatever stands beside it, and from whichever kind of table it comes.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any
from uuid import UUID

import numpy as np

_MOST_BITS = 8192  # of a whole number that is written out; Python refuses to beyond 4,300 digits
# Values of other types that have one plain text. Anything else may show an address, or run code of its own.
_PLAIN = (Fraction, complex, timedelta, UUID, PurePath, IPv4Address, IPv6Address)


def text_of(value: Any) -> str:
    """The text of one plain value as a file would show it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _digits(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas turns whole numbers beside missing ones into floats
    return str(value)


def cell_text(value: Any) -> str | None:
    """The text of any Python object; None for a missing one, and for one that has no plain text (a list, say)."""
    kind = type(value)
    if kind is str:
        return _encodable(value)
    if value is None:
        return None
    if kind is int or kind is bool:
        return text_of(value)
    if kind is float:
        return None if math.isnan(value) else text_of(value)
    try:
        return _text_of_object(value)
    except Exception:  # whatever a foreign object does when it is looked at
        return None


def _text_of_object(value: Any) -> str | None:
    if isinstance(value, str):
        return _encodable(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Enum):
        return _encodable(value.name)
    if isinstance(value, np.generic):
        return _text_of_numpy(value)
    if isinstance(value, int):
        return _digits(int.__index__(value))
    if isinstance(value, float):
        return cell_text(float.__float__(value))
    if isinstance(value, Decimal):
        return None if value.is_nan() else Decimal.__str__(value)
    if type(value).__module__.partition(".")[0] == "pandas":
        return _text_of_pandas(value)
    if isinstance(value, datetime):
        return datetime.isoformat(value, " ")
    if isinstance(value, date | time):
        return value.isoformat()
    return _encodable(str(value)) if isinstance(value, _PLAIN) else None


def _text_of_numpy(value: Any) -> str | None:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.bool_):
        return text_of(bool(value))
    if isinstance(value, np.integer):
        return text_of(int(value))
    if isinstance(value, np.floating):
        return cell_text(float(value))
    return str(complex(value)) if isinstance(value, np.complexfloating) else None


def _text_of_pandas(value: Any) -> str | None:
    """The text of one of pandas' own values: its moments, spans and ranges, and the marks of a missing one."""
    name = type(value).__name__
    return str(value) if name in ("Timestamp", "Timedelta", "Period", "Interval") else None


def _digits(value: int) -> str:
    if value.bit_length() > _MOST_BITS:
        return "-inf" if value < 0 else "inf"
    return int.__repr__(value)


def _encodable(text: str) -> str:
    """The text, with a mark for half a character, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
