"""What a text means as a number, a whole number, a truth or a moment: one fixed grammar, no locale.

A file's column may be parsed by Arrow, or, when one cell is odd, read as text and parsed here. Both must
agree on every cell that Arrow accepts, or one record would change how others are read. So: blanks around
a number do not count, "1e400" is infinite, hexadecimal and underscores are not numbers.
A text outside the grammar is None; nothing here raises.
"""

from __future__ import annotations

import math
import re

import numpy as np

FURTHEST = 2**63 - 1  # a whole number or moment past the end of int64 stops here

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_NOT_A_NUMBER = re.compile(r"[+-]?nan(?:\(\w*\))?", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), False),
}
_SECOND = 1_000_000


def number(text: str) -> float | None:
    """The number a text stands for, infinities included; None for anything else, and for "nan"."""
    stripped = text.strip(" \t")
    return float(stripped) if _NUMBER.fullmatch(stripped) else None


def no_number(text: str) -> bool:
    """Whether a text is empty, or says that it stands for no number."""
    stripped = text.strip(" \t")
    return not stripped or _NOT_A_NUMBER.fullmatch(stripped) is not None


def whole(text: str) -> int | None:
    """The whole number at or below the number a text stands for, as far as int64 goes."""
    exact = digits(text)
    if exact is not None:
        return saturate(exact)
    value = number(text)
    if value is None:
        return None
    if math.isinf(value):
        return FURTHEST if value > 0 else -FURTHEST
    return saturate(math.floor(value))


def digits(text: str) -> int | None:
    """The whole number that a text writes out in digits, exactly; one of twenty digits or more as 2^64."""
    stripped = text.strip(" \t")
    if not _DIGITS.fullmatch(stripped):
        return None
    significant = stripped.lstrip("+-0")
    size = int(significant or "0") if len(significant) < 20 else 2**64
    return -size if stripped.startswith("-") else size


def saturate(value: int) -> int:
    """`value`, or the end of int64 on its side."""
    return max(-FURTHEST, min(FURTHEST, value))


def truth(text: str) -> bool | None:
    """True or false, in any of the usual spellings."""
    return _TRUTHS.get(text.strip(" \t").lower())


def moment(text: str) -> int | None:
    """Microseconds since 1970 of an ISO date or datetime; an offset from UTC is taken off."""
    found = _MOMENT.fullmatch(text.strip(" \t"))
    if found is None:
        return None
    day, hour, minute, second, fraction, offset = found.groups()
    try:
        days = int(np.datetime64(day, "D").astype(np.int64))
    except ValueError:  # the 30th of February
        return None
    hours, minutes, seconds = (int(part or 0) for part in (hour, minute, second))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds - _offset_seconds(offset)
    return total * _SECOND + micros


def _offset_seconds(offset: str | None) -> int:
    if offset is None or offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    seconds = (int(digits[:2]) * 60 + int(digits[2:])) * 60
    return -seconds if offset[0] == "-" else seconds
