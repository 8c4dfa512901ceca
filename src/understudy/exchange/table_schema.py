"""Frictionless Table Schema, both ways: types, lists, bounds, missing values and formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.domain import Boolean, Category, Column, Date, Datetime, Id, Integer, Number, Schema, Time
from understudy.errors import SchemaError
from understudy.exchange.statements import (
    OWN,
    Statement,
    an_object,
    beyond,
    name_in,
    number_text,
    objects,
    own_table,
    plain,
)

TITLE = "Frictionless Table Schema"
_MOMENTS = ("date", "datetime", "time")
_NESTED = ("object", "array", "geojson", "list", "duration")
_FAKES = {"email": "email"}
_KEYS = (
    'Every record has its own: it is made up, and never read. Say `type = "category"` to learn it instead.'
)
_REQUIRED = "The statement says that it is never missing: a promise, which costs nothing if it is public."
_SEPARATED = "The statement says that numbers are written with other marks: give an example as `format`."


def statement_of(document: Mapping[str, Any], table: str | None) -> Statement:
    """The statement in a Table Schema, a resource or a package of which one resource has a schema."""
    resource = _resource(document, table)
    said = an_object(resource.get("schema", resource), "the schema")
    found = Statement()
    if isinstance(resource.get("name"), str):
        found.table["name"] = resource["name"]
    keys = said.get("primaryKey", [])
    keys = [keys] if isinstance(keys, str) else keys if isinstance(keys, list) else []
    missing = said.get("missingValues", [""])
    for field in objects(said.get("fields", []), "fields"):
        _add(found, field, field.get("missingValues", missing), unique=keys == [field.get("name")])
    own = an_object(said.get(OWN, {}), OWN)
    found.table.update(own)
    return found


def _resource(document: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    if "resources" not in document:
        return dict(document)
    described = [one for one in objects(document["resources"], "resources") if "schema" in one]
    chosen = [one for one in described if table is None or one.get("name") == table]
    if len(chosen) != 1:
        names = ", ".join(str(one.get("name")) for one in described)
        raise SchemaError(
            f"the package describes {len(described)} tables: {names}.", hint="name one of them."
        )
    return chosen[0]


def _add(found: Statement, field: Mapping[str, Any], missing: Any, *, unique: bool) -> None:
    name = name_in(field, "a field")
    limits = an_object(field.get("constraints", {}), f"constraints of {name!r}")
    kind = field.get("type", "string")
    remarks: list[str] = []
    if kind in _NESTED:
        found.left_out.append(name)
        return
    said: dict[str, Any] = {"description": field.get("description") or field.get("title")}
    listed = _listed(field, limits)
    if unique or limits.get("unique") is True:
        said |= {"type": "id"} | (
            {"pattern": limits["pattern"]} if isinstance(limits.get("pattern"), str) else {}
        )
        found.add(name, said | an_object(field.get(OWN, {}), OWN), _KEYS)
        return
    if listed is not None:
        said |= {
            "type": "category",
            "values": listed,
            "ordered": field.get("categoriesOrdered") is True or None,
        }
    elif kind == "string" and field.get("format") in _FAKES:
        said |= {"type": "fake", "kind": _FAKES[field["format"]]}
    elif kind in ("integer", "year", "number"):
        said |= {"type": "number" if kind == "number" else "integer"} | _bounds(name, limits)
        remarks += [_SEPARATED] if {"decimalChar", "groupChar"} & set(field) else []
    elif kind == "boolean":
        said |= {"type": "boolean", "format": _truths(field)}
    elif kind in _MOMENTS or kind == "yearmonth":
        form = "%Y-%m" if kind == "yearmonth" else field.get("format")
        said |= {
            "type": "date" if kind == "yearmonth" else kind,
            "min": limits.get("minimum"),
            "max": limits.get("maximum"),
        }
        said |= {"format": form} if form not in (None, "default", "any") else {}
    else:
        said |= {"type": "category", "discover": True} if kind == "string" else {"type": "untyped"}
    if said["type"] not in ("id", "fake", "untyped"):
        said["missing"], remark = _missing(missing, limits, said)
        remarks.append(remark)
    own = an_object(field.get(OWN, {}), OWN)
    found.add(name, own if "type" in own else said | own, *remarks)


def _listed(field: Mapping[str, Any], limits: Mapping[str, Any]) -> list[Any] | None:
    """The values of a closed list, wherever the statement has it."""
    values = limits.get("enum", field.get("categories"))
    if not isinstance(values, list) or not values or field.get("type") in (*_MOMENTS, "boolean"):
        return None
    plain_values = [item.get("value") if isinstance(item, Mapping) else item for item in values]
    if field.get("type") == "number":
        return [
            float(item) if isinstance(item, int) and not isinstance(item, bool) else item
            for item in plain_values
        ]
    return plain_values


def _bounds(name: str, limits: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: number_text(limits.get(word), f"column {name!r}: {word}")
        for key, word in (("min", "minimum"), ("max", "maximum"))
    }


def _truths(field: Mapping[str, Any]) -> list[str] | None:
    yes, no = field.get("trueValues"), field.get("falseValues")
    if not (isinstance(yes, list) and isinstance(no, list) and yes and no):
        return None
    return [str(yes[0]), str(no[0])]


def _missing(texts: Any, limits: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[Any, str]:
    """The rule for missing cells, and what to say of it."""
    if limits.get("required") is True:
        return False, _REQUIRED
    listed = [text for text in texts if isinstance(text, str) and text] if isinstance(texts, list) else []
    return [text for text in listed if text not in (said.get("values") or [])] or None, ""


def document_of(schema: Schema) -> dict[str, Any]:
    """The schema as a Table Schema; what that has no word for stands under our own key."""
    table = own_table(schema)
    keys = [name for name, column in schema.columns.items() if isinstance(column, Id)]
    return {
        "fields": [_field(name, column) for name, column in schema.columns.items()],
        "missingValues": [""],
        **({"primaryKey": keys} if len(keys) == 1 else {}),
        **({OWN: table} if table else {}),
    }


def _field(name: str, column: Column) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    said: dict[str, Any] = {"name": name, "type": "string"}
    spoken = ["type", "description", "missing"]
    if isinstance(column, Category) and column.values is not None:
        said["type"] = {"text": "string"}.get(column.kind, column.kind)
        limits["enum"] = list(column.values)
        spoken += ["values", "ordered"] if column.kind != "boolean" else []
        said |= {"categoriesOrdered": True} if column.ordered else {}
    elif isinstance(column, Integer | Number | Date | Datetime | Time):
        said["type"] = column.type
        limits |= {
            word: plain(value)
            for word, value in (("minimum", column.min), ("maximum", column.max))
            if value is not None
        }
        spoken += ["min", "max"]
        if column.type in _MOMENTS and column.format is not None and str(column.format).startswith("%"):
            said["format"] = column.format
            spoken.append("format")
    elif isinstance(column, Boolean):
        said["type"] = "boolean"
        if column.format is not None and all(column.format):
            said |= {"trueValues": [column.format[0]], "falseValues": [column.format[1]]}
            spoken.append("format")
    elif isinstance(column, Id):
        limits |= {"unique": True} | ({"pattern": column.pattern} if column.pattern else {})
        said["type"] = "integer" if column.pattern is None and column.kind == "integer" else "string"
        spoken.append("pattern")
    elif column.type != "fake" and not isinstance(column, Category):
        said["type"] = "any"
    if isinstance(column.missing, tuple):
        said["missingValues"] = ["", *column.missing]
    elif column.missing is False and column.modelled:
        limits["required"] = True
    elif column.missing is True:
        spoken.remove("missing")
    exact = isinstance(column, Integer | Number | Date | Datetime | Time | Boolean | Id) or bool(
        limits.get("enum")
    )
    if not exact or (isinstance(column, Category) and column.kind == "boolean"):
        spoken = []  # its type has no word of theirs
    return {
        **said,
        **({"description": column.description} if column.description else {}),
        **({"constraints": limits} if limits else {}),
        **beyond(column, *spoken),
    }
