"""What the cells of a source may hold: Arrow's types, Python's objects, or texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import odd_cells
import pandas as pd
import pyarrow as pa
from unit_people import Row, people

Rows = list[Row]
Kinds = Mapping[str, pa.DataType]

PLAIN: Kinds = {
    "who": pa.string(),
    "age": pa.int64(),
    "zip": pa.string(),
    "town": pa.string(),
    "grade": pa.int64(),
    "pay": pa.float64(),
    "points": pa.int64(),
    "born": pa.date32(),
    "seen": pa.timestamp("us"),
    "member": pa.bool_(),
}
NARROW: Kinds = {
    "who": pa.dictionary(pa.int32(), pa.string()),
    "age": pa.uint8(),
    "zip": pa.large_string(),
    "town": pa.dictionary(pa.int8(), pa.string()),
    "grade": pa.int8(),
    "pay": pa.float32(),
    "points": pa.int16(),
    "born": pa.date64(),
    "seen": pa.timestamp("s", "UTC"),
    "member": pa.bool_(),
}
WIDE: Kinds = {
    "who": pa.int64(),
    "age": pa.uint64(),
    "zip": pa.string_view(),
    "town": pa.large_string(),
    "grade": pa.float64(),
    "pay": pa.decimal128(20, 2),
    "points": pa.decimal128(38, 0),
    "born": pa.timestamp("ms"),
    "seen": pa.timestamp("ns", "Europe/Paris"),
    "member": pa.int8(),
}
NUMPY: Kinds = {**NARROW, "seen": pa.timestamp("us", "UTC")}
ODD: Kinds = {
    "who": pa.float64(),
    "age": pa.float16(),
    "zip": pa.dictionary(pa.int32(), pa.large_string()),
    "town": pa.null(),
    "grade": pa.dictionary(pa.int16(), pa.int64()),
    "pay": pa.decimal256(60, 9),
    "points": pa.uint64(),
    "born": pa.string(),
    "seen": pa.date32(),
    "member": pa.string(),
}


@dataclass(frozen=True)
class Cells:
    """What the cells of a source may hold: how a base value is written, and the odd ones of each column."""

    write: Callable[[str, Any], Any]
    odd: Callable[[str], Sequence[Any]]
    units: Sequence[Any]  # what one more unit may be called

    def base(self) -> Rows:
        """The records of both worlds."""
        return [{name: self.write(name, cell) for name, cell in row.items()} for row in people()]

    def records(self) -> Rows:
        """Odd records, without their unit: between them every column holds each of its odd cells."""
        names = list(PLAIN)[1:]
        cells = {name: self.odd(name) for name in names}
        rows = []
        for number in range(max(map(len, cells.values()))):
            rows.append(
                {
                    name: cells[name][(number + 5 * place) % len(cells[name])]
                    for place, name in enumerate(names)
                }
            )
        return rows


UNIT_NAMES = ("!", "~~~~", "U05", "u05 ", "", "é", "u", odd_cells.LONG, None)


def text_of(name: str, value: Any) -> str:
    """A base value as a file shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value)


TEXTS = Cells(text_of, lambda name: odd_cells.TEXTS, [name or "" for name in UNIT_NAMES])
OBJECTS = Cells(
    lambda name, value: value,
    lambda name: odd_cells.OBJECTS,
    (*UNIT_NAMES, -7, 1.5, True, (1,), Decimal("sNaN")),
)


def _mixed(name: str, value: Any) -> Any:
    """Base values of several types in one column, as when frames were put together."""
    place = sum(map(ord, str(value))) % 3
    if name in ("age", "grade", "points"):
        return (value, float(value), str(value))[place]
    if name == "town" and value == "true":
        return (True, "true", np.bool_(True))[place]
    if name == "town" and value == "1":
        return (1, "1", 1.0)[place]
    if name in ("born", "seen"):
        return (value, str(value), pd.Timestamp(value))[place]
    return value


MIXED = Cells(_mixed, OBJECTS.odd, OBJECTS.units)


def of_types(kinds: Kinds, *, without: Callable[[str, Any], bool] = lambda name, cell: False) -> Cells:
    """Cells of these Arrow types: of those that count time, the whole number behind each."""

    def write(name: str, value: Any) -> Any:
        kind = kinds[name]
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_null(kind):
            return None
        if name == "who" and not _is_text(kind):
            return kind.to_pandas_dtype()(int(value[1:]))
        if pa.types.is_temporal(kind):
            moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
            return _ticks(moment, kind)
        if pa.types.is_decimal(kind):
            return Decimal(str(value))
        return text_of(name, value) if _is_text(kind) else int(value) if pa.types.is_integer(kind) else value

    def odd(name: str) -> Sequence[Any]:
        return [cell for cell in odd_cells.typed(kinds[name]) if not without(name, cell)]

    units = UNIT_NAMES if _is_text(kinds["who"]) else (-1, 10**15, None, 0.5)
    if pa.types.is_integer(kinds["who"]):
        units = (-1, 10**15, None)
    return Cells(write, odd, [unit for unit in units if not without("who", unit)])


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _ticks(moment: datetime, kind: pa.DataType) -> int:
    seconds = int((moment - datetime(1970, 1, 1)).total_seconds())
    if pa.types.is_date32(kind):
        return seconds // 86_400
    if pa.types.is_date64(kind):
        return seconds // 86_400 * 86_400_000
    return seconds * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]


def table(rows: Rows, kinds: Kinds) -> pa.Table:
    """Records as an Arrow table of exactly these types."""
    return pa.table({name: _array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def _array(cells: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return _array(cells, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_temporal(kind):
        return pa.array(cells, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    if kind == pa.float16():
        return pa.array([None if cell is None else np.float16(cell) for cell in cells], kind)
    return pa.array(cells, kind)


def a_gap(name: str, cell: Any) -> bool:
    """What NumPy's whole numbers and booleans cannot hold."""
    return cell is None and name in ("age", "grade", "points", "member")


def _no_nul(name: str, cell: Any) -> bool:
    return isinstance(cell, str) and "\0" in cell


def out_of_time(name: str, cell: Any) -> bool:
    """What PostgreSQL and Spark have no date or moment for, and NUL."""
    days = isinstance(cell, int) and name == "born" and not -719_162 <= cell <= 2_932_896
    moments = (
        isinstance(cell, int) and name == "seen" and not -62_135_596_800 <= cell / 10**6 < 253_402_300_800
    )
    return days or moments or _no_nul(name, cell)


def unfoldered(name: str, cell: Any) -> bool:
    """All but a few towns: each is a folder, with a file for every piece."""
    return name == "town" and cell not in ("x", None, "true", "é\u2028", "\\", "#", "a\nb")
