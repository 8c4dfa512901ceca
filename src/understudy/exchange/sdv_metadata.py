"""Metadata of SDV, read: which columns are numbers, categories, dates, keys, and what must not be learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.domain.columns.made.fake import KINDS
from understudy.errors import SchemaError
from understudy.exchange.statements import Statement, an_object

TITLE = "SDV metadata"
# What SDV calls a kind of text -> what it is called here.
_FAKES = {
    "phone_number": "phone",
    "street_address": "street",
    "country_code": "country",
    "postcode": "postcode",
    "administrative_unit": "city",
    "state": "city",
    "building_number": "street",
    **{kind: kind for kind in KINDS},
}
_TIMES = ("%H", "%I", "%M", "%S", "%p", "%f", "%X", "%c", "%T")
_KEYS = "Every record has its own: it is made up, and never read."
_SENSITIVE = "SDV calls it sensitive: it is made up, and never read."
_UNKNOWN = "SDV calls it {!r}, which is not known here: say what it is, or leave it out."


def statement_of(document: Mapping[str, Any], table: str | None) -> Statement:
    """The statement about one table, alone or among several."""
    name, said = _table(document, table)
    found = Statement(table={"name": name} if name else {})
    keys = [said.get("primary_key"), *(said.get("alternate_keys") or [])]
    unit = said.get("sequence_key")
    for column, given in an_object(said.get("columns", {}), "columns").items():
        fields, remark = _column(
            an_object(given, f"column {column!r}"), key=column in keys and column != unit
        )
        found.add(column, fields, remark)
    if isinstance(unit, str) and unit in found.columns:
        found.table["unit"] = unit
    return found


def _table(document: Mapping[str, Any], table: str | None) -> tuple[str, dict[str, Any]]:
    if "tables" not in document:
        return "", dict(document)
    tables = an_object(document["tables"], "tables")
    chosen = [name for name in tables if table is None or name == table]
    if len(chosen) != 1:
        raise SchemaError(
            f"the metadata describe {len(tables)} tables: {', '.join(tables)}.", hint="name one of them."
        )
    return chosen[0], an_object(tables[chosen[0]], f"table {chosen[0]!r}")


def _column(given: Mapping[str, Any], *, key: bool) -> tuple[dict[str, Any], str]:
    kind, form = given.get("sdtype"), given.get("datetime_format")
    if kind == "id" or key:
        pattern = given.get("regex_format")
        return {"type": "id", "pattern": pattern if isinstance(pattern, str) else None}, _KEYS
    if kind == "numerical":
        whole = str(given.get("computer_representation", "Float")).startswith(("Int", "UInt"))
        return {"type": "integer" if whole else "number"}, ""
    if kind == "datetime":
        clock = not isinstance(form, str) or any(code in form for code in _TIMES)
        usual = form in (None, "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")
        return {"type": "datetime" if clock else "date", "format": None if usual else form}, ""
    if kind == "boolean":
        return {"type": "boolean"}, ""
    if kind == "categorical":
        return {"type": "category", "discover": True}, ""
    if isinstance(kind, str) and kind in _FAKES:
        return {"type": "fake", "kind": _FAKES[kind]}, _SENSITIVE
    if given.get("pii") is True:
        return {"type": "id", "kind": "uuid"}, f"{_SENSITIVE} {_UNKNOWN.format(kind)}"
    return {"type": "untyped"}, _UNKNOWN.format(kind)
