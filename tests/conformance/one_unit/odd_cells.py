"""Cells that try to be noticed: every one is a value that somebody's record may hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

LONG = (
    random.Random(0).randbytes(20_000).hex()
)  # no reader can pack it: it makes a file the largest of its folder
FAR_DAYS = (2**31 - 1, -(2**31), 2_932_896, -719_162, -719_163, 10**6, 0, -1)  # years 9999, 1, 0 and beyond

# In a file of text.
TEXTS: tuple[str, ...] = (
    *("x", "", " ", "0", "-1", "007", "1.0", "+1", " 1", "1_000", "1,000", "0x1", "1e1", "1e-320", "1e400"),
    *("9007199254740993", "9223372036854775808", "9" * 400, "NaN", "-inf", "NULL", "NA", "?", "-"),
    *(
        "true",
        "True",
        "f",
        "2020-02-30",
        "9999-12-31",
        "0001-01-01",
        "99999-01-01",
        "-0044-03-15",
        "12:30:00",
    ),
    *("2020-01-01T00:00:00Z", "2020-01-01 00:00:00.123456789+14:00", "2020-01-01T24:00:00", "01/02/2020"),
    *('"', 'a "b", c', "a\nb", "a\r\nb", "\t", ";;;;", "|", "é\u2028", "\ufeff", "１２", "=1+1", "\\", "#"),
    LONG,
)


class Unspeakable:
    """An object that cannot be shown, compared or counted."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    __hash__ = None  # type: ignore[assignment]


# In a column of Python's own objects.
OBJECTS: tuple[Any, ...] = (
    *(
        "x",
        "",
        "1",
        "1.0",
        "True",
        "nan",
        "a\0b",
        "\ud800",
        LONG,
        "2020-02-30",
        None,
        float("nan"),
        pd.NA,
        pd.NaT,
    ),
    *(
        True,
        False,
        0,
        1,
        -1,
        1.0,
        0.5,
        -0.0,
        5e-324,
        1e308,
        float("inf"),
        2**53 + 1,
        2**63,
        -(2**63) - 1,
        10**400,
    ),
    *(np.int8(1), np.uint64(2**64 - 1), np.float32(0.1), np.float16(1), np.bool_(True), np.str_("1"), 1j),
    *(
        Decimal("1.10"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("1e999999"),
        Decimal("Infinity"),
        Fraction(1, 3),
    ),
    *(date(9999, 12, 31), date(1, 1, 1), datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)),
    *(datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
    *(
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-01", tz="UTC"),
        pd.Timedelta(1),
        time(1),
        timedelta(1),
    ),
    *(np.datetime64("2020-01-01"), np.datetime64("NaT", "ns"), pd.Period("2020-01"), pd.Interval(0, 1)),
    *(
        b"x",
        b"\xff",
        bytearray(b"1"),
        [1],
        [],
        (1, 2),
        {"a": 1},
        {1},
        np.array([1, 2]),
        object,
        Unspeakable(),
    ),
)


def typed(kind: pa.DataType) -> Sequence[Any]:
    """The furthest values of an Arrow type; of one that counts time, the whole numbers behind it."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return typed(kind.value_type)
    if pa.types.is_integer(kind):
        low, high = (0, 2**kind.bit_width - 1)
        if pa.types.is_signed_integer(kind):
            low, high = -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
        inside = [n for n in (2**53 + 1, 2**63, -(2**53) - 1, -1, 0, 1, 4) if low <= n <= high]
        return (high, low, None, *inside)
    if pa.types.is_floating(kind):
        return (
            float("nan"),
            float("inf"),
            -float("inf"),
            None,
            -0.0,
            5e-324,
            6e4,
            1.0,
            0.5,
            1e-7,
            *_wide(kind),
        )
    if pa.types.is_boolean(kind):
        return (True, None, False)
    if pa.types.is_decimal(kind):
        top = Decimal((0, (9,) * kind.precision, -kind.scale))  # exact, whatever the context's precision
        return (top, None, top.copy_negate(), Decimal(0), Decimal((0, (1,), -kind.scale)))
    if pa.types.is_date32(kind):
        return (*FAR_DAYS, None)
    if pa.types.is_date64(kind):
        return (*(86_400_000 * days for days in FAR_DAYS), 2**63 - 1 - (2**63 - 1) % 86_400_000, None)
    if pa.types.is_timestamp(kind):
        return (
            2**63 - 1,
            -(2**63),
            -(2**63) + 1,
            None,
            0,
            -1,
            1,
            253402300800,
            -62135596801,
            10**15,
            -(10**17),
        )
    if pa.types.is_null(kind):
        return (None,)
    return ("x", None, *(text for text in TEXTS[1:]), "a\0b", "\0")


def _wide(kind: pa.DataType) -> Sequence[float]:
    return () if kind == pa.float16() else (1e30, 2.0**53 + 2) if kind == pa.float32() else (1.7e308, 2.0**63)
