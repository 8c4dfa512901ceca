"""CSV on the Web, both ways, with the terms for differential privacy: whose records, how many of one, and bounds.

The terms are those of CSVW-EO (formerly CSVW-SAFE): `privacyUnit`, `privacyId`, `maxContributions`, `publicLength`,
`keyValues` and `exhaustiveKeys`. They are read with a prefix and without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Schema, Time
from understudy.errors import SchemaError
from understudy.exchange.statements import (
    OWN,
    Statement,
    an_object,
    beyond,
    number_text,
    objects,
    own_table,
    plain,
)

TITLE = "CSV on the Web"
_CONTEXT = "http://www.w3.org/ns/csvw"
_WHOLE = (
    *("integer", "int", "long", "short", "byte", "gYear", "nonNegativeInteger", "positiveInteger"),
    *(
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedInt",
        "unsignedLong",
        "unsignedShort",
        "unsignedByte",
    ),
)
_REAL = ("number", "decimal", "double", "float", "any")
_MOMENTS = {
    "date": "date",
    "datetime": "datetime",
    "dateTime": "datetime",
    "dateTimeStamp": "datetime",
    "time": "time",
}
_TEXTS = (
    "string",
    "normalizedString",
    "token",
    "anyURI",
    "language",
    "Name",
    "NMTOKEN",
    "gYearMonth",
    "gMonth",
    "gDay",
)
_NESTED = (
    "json",
    "xml",
    "html",
    "binary",
    "base64Binary",
    "hexBinary",
    "anyAtomicType",
    "duration",
    "dayTimeDuration",
)
_BASES = {"integer": "integer", "number": "number", "date": "date", "datetime": "datetime", "time": "time"}
# What a letter of a date's pattern stands for, the longest first.
_CODES = (("yyyy", "%Y"), ("yy", "%y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))
_SHORT = (("M", "%-m"), ("d", "%-d"), ("H", "%-H"))
_UNIT = "It says whose record it is: an identifier, never synthesised."
_NOT_ALL = "The statement does not say that these are all values: others go to one slot."
_REQUIRED = "The statement says that it is never missing: a promise, which costs nothing if it is public."


def term(said: Mapping[str, Any], name: str) -> Any:
    """What is said under a term of CSVW-EO, with its prefix or without."""
    for key in (name, f"csvw-eo:{name}", f"csvw-safe:{name}"):
        if key in said:
            return said[key]
    return None


def statement_of(document: Mapping[str, Any], table: str | None) -> Statement:
    """The statement about one table, alone or in a group."""
    said = _table(document, table)
    found = Statement()
    schema = an_object(said.get("tableSchema", {}), "tableSchema")
    own = an_object(said.get(OWN, {}), OWN)
    name = said.get("name") or re.sub(r"\.\w+$", "", str(said.get("url", "")).rpartition("/")[2])
    found.table |= {"name": str(name)} if name else {}
    found.table |= _dialect(an_object(said.get("dialect", {}), "dialect"))
    rows, most = term(said, "publicLength"), term(said, "maxContributions")
    found.table |= {"rows": rows} if isinstance(rows, int) else {}
    unit = term(said, "privacyUnit")
    for column in objects(schema.get("columns", []), "columns"):
        if column.get("virtual") is True:
            continue
        called = _name(column)
        if term(column, "privacyId") is True or called == unit:
            unit = called
        _add(found, called, column, unit=unit == called)
    if isinstance(unit, str) and unit in found.columns:
        found.table |= {"unit": unit} | ({"max_records_per_unit": most} if isinstance(most, int) else {})
    found.table |= own
    return found


def _table(document: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    if "tables" not in document:
        return dict(document)
    tables = objects(document["tables"], "tables")
    chosen = [one for one in tables if table is None or table in (one.get("name"), one.get("url"))]
    if len(chosen) != 1:
        names = ", ".join(str(one.get("url")) for one in tables)
        raise SchemaError(f"the group describes {len(tables)} tables: {names}.", hint="name one of them.")
    return chosen[0]


def _name(column: Mapping[str, Any]) -> str:
    """A column's name: its title, which is what stands in the file's header, else its `name`."""
    title = column.get("titles", column.get("title"))
    while isinstance(title, Mapping | list) and title:
        title = next(iter(title.values())) if isinstance(title, Mapping) else title[0]
    found = title if isinstance(title, str) and title else column.get("name")
    if not isinstance(found, str) or not found:
        raise SchemaError("a column has neither a title nor a name.", hint="name every column.")
    return found


def _dialect(said: Mapping[str, Any]) -> dict[str, Any]:
    table = {
        "delimiter": said.get("delimiter"),
        "quote": said.get("quoteChar"),
        "encoding": said.get("encoding"),
    }
    usual = {"delimiter": ",", "quote": '"', "encoding": "utf-8"}
    return {
        key: value for key, value in table.items() if isinstance(value, str) and value.lower() != usual[key]
    }


def _add(found: Statement, name: str, column: Mapping[str, Any], *, unit: bool) -> None:
    datatype = column.get("datatype", "string")
    given = datatype if isinstance(datatype, Mapping) else {"base": datatype}
    base = str(given.get("base", "string"))
    own = an_object(column.get(OWN, {}), OWN)
    said: dict[str, Any] = {"description": column.get("dc:description") or column.get("description")}
    values, remarks = term(column, "keyValues"), [""]
    if unit:
        found.add(name, own or {"type": "category", "discover": True, **said}, _UNIT)
        return
    if base in _NESTED and not own:
        found.left_out.append(name)
        return
    if isinstance(values, list) and values and base not in _MOMENTS:
        said |= {"type": "category", "values": values}
        if term(column, "exhaustiveKeys") is not True:
            said["outside"], remarks = "other", [_NOT_ALL]
    elif base in _WHOLE or base in _REAL:
        said["type"] = "integer" if base in _WHOLE else "number"
        said |= {
            key: number_text(_bound(column, given, word), f"column {name!r}: {word}") for key, word in _BOUNDS
        }
    elif base in _MOMENTS:
        said["type"] = _MOMENTS[base]
        said |= {key: _bound(column, given, word) for key, word in _BOUNDS}
        said["format"] = strftime_of(given.get("format"))
    elif base == "boolean":
        words = str(given.get("format", "")).split("|")
        said |= {"type": "boolean"} | ({"format": words} if len(words) == 2 else {})
    else:
        said |= {"type": "category", "discover": True} if base in _TEXTS else {"type": "untyped"}
    if column.get("required") is True and said["type"] != "untyped":
        said["missing"] = False
        remarks.append(_REQUIRED)
    elif said["type"] != "untyped":
        empty = column.get("null", "")
        texts = [
            text for text in (empty if isinstance(empty, list) else [empty]) if isinstance(text, str) and text
        ]
        said["missing"] = [text for text in texts if text not in (said.get("values") or [])]
    if own.get("type"):
        said = {}
    found.add(name, said | own, *remarks)


_BOUNDS = (("min", "minimum"), ("max", "maximum"))


def _bound(column: Mapping[str, Any], datatype: Mapping[str, Any], word: str) -> Any:
    """A bound, which stands in the datatype, or beside it."""
    inclusive = {"minimum": "minInclusive", "maximum": "maxInclusive"}[word]
    return datatype.get(word, datatype.get(inclusive, term(column, word)))


def strftime_of(pattern: Any) -> str | None:
    """A pattern such as dd/MM/yyyy in codes; None for the usual forms. One that has other letters stays as it is."""
    if not isinstance(pattern, str) or pattern in ("yyyy-MM-dd", "HH:mm:ss", "yyyy-MM-ddTHH:mm:ss"):
        return None
    found = pattern
    for letters, code in _CODES:
        found = found.replace(letters, code)
    for letter, code in _SHORT:
        found = re.sub(rf"(?<![%\-\w]){letter}(?!\w)", code, found)
    return found


def pattern_of(form: Any) -> str | None:
    """Codes as a pattern of letters, where each code has one; else None."""
    if not isinstance(form, str) or not form.startswith("%"):
        return None
    found = form
    for letters, code in (*_CODES, *_SHORT):
        found = found.replace(code, letters)
    return None if "%" in found else found


def document_of(schema: Schema) -> dict[str, Any]:
    """The schema as metadata of CSV on the Web; what that has no word for stands under our own key."""
    own = {
        key: value
        for key, value in own_table(schema).items()
        if key not in ("name", "unit", "max_records_per_unit", "rows")
    }
    dialect = {"delimiter": schema.delimiter, "quoteChar": schema.quote, "encoding": schema.encoding}
    most = schema.max_records_per_unit
    own |= {"max_records_per_unit": most} if isinstance(most, str) else {}
    dialect = {key: value for key, value in dialect.items() if value is not None}
    return {
        "@context": _CONTEXT,
        "@type": "Table",
        "url": f"{schema.name or 'table'}.csv",
        **({"dialect": dialect} if dialect else {}),
        **({"publicLength": schema.rows} if schema.rows is not None else {}),
        **({"privacyUnit": schema.unit} if schema.unit else {}),
        **(
            {"maxContributions": most}
            if isinstance(most, int)
            else {}
            if schema.unit
            else {"maxContributions": 1}
        ),
        "tableSchema": {
            "columns": [
                _column(name, column, place, unit=name == schema.unit)
                for place, (name, column) in enumerate(schema.columns.items(), 1)
            ]
        },
        **({OWN: own} if own else {}),
    }


def _written(bound: Any, column: Column, datatype: Mapping[str, Any]) -> Any:
    """A bound as the form wants it: written as the column's cells are."""
    return bound.strftime(getattr(column, "format", None)) if "format" in datatype else plain(bound)


def _column(name: str, column: Column, place: int, *, unit: bool) -> dict[str, Any]:
    plain_name = re.fullmatch(r"[A-Za-z0-9][\w.]*", name, re.ASCII)
    said: dict[str, Any] = {"name": name if plain_name else f"column_{place}", "titles": name}
    datatype: dict[str, Any] = {"base": "string"}
    spoken = ["type", "description", "missing"]
    if unit:
        spoken = []
    elif isinstance(column, Category) and column.values is not None and column.kind != "boolean":
        datatype["base"] = {"text": "string"}.get(column.kind, column.kind)
        said |= {"keyValues": list(column.values), "exhaustiveKeys": column.outside != "other"}
        spoken += ["values", "outside"] if column.outside == "other" else ["values"]
    elif isinstance(column, Integer | Number | Date | Datetime | Time):
        datatype["base"] = _BASES[column.type]
        spoken += ["min", "max"]
        pattern = pattern_of(column.format) if column.type in ("date", "datetime", "time") else None
        if pattern is not None and strftime_of(pattern) == column.format:
            datatype["format"] = pattern
            spoken.append("format")
        bounds = {"minimum": column.min, "maximum": column.max}
        datatype |= {
            word: _written(value, column, datatype) for word, value in bounds.items() if value is not None
        }
    elif isinstance(column, Boolean):
        datatype["base"] = "boolean"
        if column.format is not None and all(column.format) and "|" not in "".join(column.format):
            datatype["format"] = "|".join(column.format)
            spoken.append("format")
    else:
        spoken = []
    if isinstance(column.missing, tuple):
        said["null"] = ["", *column.missing]
    elif column.missing is False and column.modelled:
        said["required"] = True
    elif column.missing is True and spoken:
        spoken.remove("missing")
    return {
        **said,
        "datatype": datatype if len(datatype) > 1 else datatype["base"],
        **({"privacyId": True} if unit else {}),
        **({"dc:description": column.description} if column.description else {}),
        **beyond(column, *spoken),
    }
