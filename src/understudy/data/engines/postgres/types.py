"""PostgreSQL's types: which hold one plain value a cell, and how each is asked for.

A value must never make a query fail, since an error that depends on a record tells of it. So what Arrow or
its driver could not hold is brought into range, or asked for as text, by an expression of its type alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

# Beyond every date that a schema can name, so that what lies outside stays outside; PostgreSQL also has infinity.
_EARLIEST, _LATEST = "'0001-12-31 BC'", "'10000-01-01'"
_STRING = pa.string()


@dataclass(frozen=True)
class Kind:
    """How a type travels: the expression that asks for it, and the Arrow type that its values are taken for.

    `few` is whether columns of this type usually have far fewer values than records, so that it pays to
    have them counted by the database.
    """

    expression: str  # {} stands for the column
    meant: pa.DataType
    few: bool
    whose: str | None = None  # the expression for a column of units, where equal ones may travel differently


def _same(cast: str, arrow: pa.DataType, *, few: bool) -> Kind:
    return Kind(f"({{}})::{cast}", arrow, few)


def _moment(cast: str, arrow: pa.DataType, *, few: bool) -> Kind:
    low, high = f"{_EARLIEST}::{cast}", f"{_LATEST}::{cast}"
    clamped = (
        f"CASE WHEN ({{0}})::{cast} < {low} THEN {low} WHEN ({{0}})::{cast} > {high} THEN {high} "
        f"ELSE ({{0}})::{cast} END"
    )
    return Kind(clamped, arrow, few)


def _text(*, few: bool, meant: pa.DataType = _STRING, whose: str | None = None) -> Kind:
    # Compared byte by byte: some collations take different texts for the same.
    return Kind('({})::text COLLATE "C"', meant, few, whose)


KINDS: dict[str, Kind] = {
    "bool": _same("bool", pa.bool_(), few=True),
    "int2": _same("int2", pa.int16(), few=True),
    "int4": _same("int4", pa.int32(), few=True),
    "int8": _same("int8", pa.int64(), few=True),
    "oid": _same("int8", pa.int64(), few=False),
    "float4": _same("float4", pa.float32(), few=False),
    "float8": _same("float8", pa.float64(), few=False),
    # As text, which holds every digit and never fails; a column of numbers all the same.
    "numeric": _text(few=False, meant=pa.float64(), whose="nullif(trim_scale({})::text, 'NaN')"),
    "date": _moment("date", pa.date32(), few=True),
    "timestamp": _moment("timestamp", pa.timestamp("us"), few=False),
    "timestamptz": _moment("timestamptz", pa.timestamp("us", tz="UTC"), few=False),
} | {
    name: _text(few=name not in ("uuid", "interval", "time", "timetz"))
    for name in (
        *("text", "varchar", "bpchar", "name", "char", "uuid", "time", "timetz", "interval"),
        *("money", "inet", "cidr", "macaddr", "macaddr8", "bit", "varbit"),
    )
}
KINDS["citext"] = _text(few=True, whose="lower(({})::text)")


def kind_of(name: str, sort: str) -> Kind | None:
    """How a base type travels, by its name and PostgreSQL's letter for its sort; None for one that is not plain."""
    return _text(few=True) if sort == "e" else KINDS.get(name)


def quoted(name: str) -> str:
    """A name as an identifier, whatever letters it has."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a constant, with quotes doubled: backslashes mean nothing (standard_conforming_strings)."""
    return "'" + text.replace("'", "''") + "'"
