"""Arrow columns of every plain type, at the ends of what each can hold: for laws that no value may break."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

YEARS = [1_577_836_800 * 10**6, 253_402_300_800 * 10**6]  # 2020 and 10000
FAR = [0, 1, -1, 86_399, 10**6, *YEARS, 2**62, 2**63 - 1, -(2**63) + 1, -(2**63)]
NEAR = [0, 1, -1, 18_262, 86_399, 2**31 - 1, -(2**31)]
INFINITE = [float("inf"), -float("inf"), float("nan")]
FLOATS = [0.0, -0.0, 1.0, 1.5, -3.25, 99.0, 2.0**53, 2.0**53 + 2, 1e300, 5e-324, *INFINITE]
TEXTS = [
    "", " ", "1", "1.0", " 1 ", "x", "true", "nan", "inf", "1e400", "9007199254740993", "99999999999999999999",
    "2020-01-01", "2020-01-01 05:06:07.5", "0000-01-01", "é\n\"", "\x00",
]  # fmt: skip
DECIMALS = [Decimal("0.00"), Decimal("1.00"), Decimal("1.50"), Decimal("-999.99"), Decimal("99.00")]


def raw(kind: pa.DataType, whole: list[int | None]) -> pa.Array:
    """An array of any type that is stored as whole numbers, by those numbers."""
    width = kind.bit_width
    filled = np.array([0 if number is None else number for number in whole], f"int{width}")
    known = np.packbits([number is not None for number in whole], bitorder="little")
    return pa.Array.from_buffers(
        kind, len(whole), [pa.py_buffer(known.tobytes()), pa.py_buffer(filled.tobytes())]
    )


def _ends(bits: int, signed: bool) -> list[int]:
    top = 2 ** (bits - signed) - 1
    return [0, 1, 99, top, *([-1, -top - 1] if signed else [])]


_TIMES = {
    **{f"timestamp {unit} {zone}": (pa.timestamp(unit, zone), FAR)
       for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "America/New_York", "+05:30")},
    **{f"duration {unit}": (pa.duration(unit), FAR) for unit in ("s", "ms", "us", "ns")},
    "date32": (pa.date32(), NEAR), "date64": (pa.date64(), FAR),
    "time32 s": (pa.time32("s"), NEAR), "time32 ms": (pa.time32("ms"), NEAR),
    "time64 us": (pa.time64("us"), FAR), "time64 ns": (pa.time64("ns"), FAR),
}  # fmt: skip
_VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False]),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), _ends(bits, True)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), _ends(bits, False)) for bits in (8, 16, 32, 64)},
    "float64": (pa.float64(), FLOATS),
    "float32": (pa.float32(), FLOATS),
    "float16": (pa.float16(), [np.float16(number) for number in (0, -0.0, 1.5, 99, 65_504, 6e-8, *INFINITE)]),
    "string": (pa.string(), TEXTS),
    "large_string": (pa.large_string(), TEXTS),
    "string_view": (pa.string_view(), TEXTS),
    "decimal32": (pa.decimal32(5, 2), DECIMALS),
    "decimal64": (pa.decimal64(9, 2), DECIMALS),
    "decimal128": (pa.decimal128(38, 2), [*DECIMALS, Decimal("9" * 36)]),
    "decimal256": (pa.decimal256(76, 2), [*DECIMALS, Decimal("9" * 74), Decimal("-" + "9" * 74)]),
    "interval": (pa.month_day_nano_interval(), [(0, 0, 0), (2**31 - 1, -(2**31), 2**63 - 1)]),
    "null": (pa.null(), [None]),
}
STORED = [*_VALUES, *_TIMES]
_NO_DICTIONARIES = ("decimal32", "decimal64", "null")  # Arrow makes none of these, nor runs
_NO_RUNS = (*_NO_DICTIONARIES, "string_view", "interval")


def column(name: str) -> pa.Array:
    """All the values of a type, and a null."""
    kind, values = (_VALUES | _TIMES)[name]
    return raw(kind, [*values, None]) if name in _TIMES else pa.array([*values, None], kind)


def layouts(name: str) -> list[pa.Array | pa.ChunkedArray]:
    """The same cells in every layout that Arrow has for them."""
    array = column(name)
    found = [array, pa.chunked_array([array[:1], array[1:], array[:0]])]
    if name not in _NO_DICTIONARIES:
        places = pa.array(range(len(array)), pa.uint8())
        found.append(pa.DictionaryArray.from_arrays(places, array))
    if name not in _NO_RUNS:
        found.append(pc.run_end_encode(array))
    return found
