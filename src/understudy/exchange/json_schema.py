"""The JSON Schema of schema files, by which editors check and complete them.

The package holds it as a file too, `understudy-schema.json` beside this module, which `make references` writes. A
schema file names it in its first line; the address is relative, so that it works without a network and says nothing
of the machine.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from understudy.domain.columns.registry import BUILT_IN

NAME = "understudy-schema.json"
SHIPPED = Path(__file__).with_name(NAME)
DIRECTIVE = f"#:schema ./{NAME}\n"  # as Taplo and Even Better TOML read it, and Tombi
_TITLE = "A schema file of Understudy: what is publicly known of a table"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_NUMBER = {"type": "number"}
_FLAG = {"type": "boolean"}
_NUMBERS = {"type": "array", "items": _NUMBER}
_COUNT = {"type": "integer", "minimum": 1}


def _told(text: str, kind: dict[str, Any]) -> dict[str, Any]:
    return {**kind, "description": text}


def _one_of(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


# Fields that mean the same wherever they occur.
_EVERY = {
    "missing": _told(
        "true: empty cells mean missing. A list: so do these texts. false: a promise that none occurs.",
        {"anyOf": [_FLAG, {"type": "array", "items": _TEXT, "minItems": 1}]},
    ),
    "outside": _told(
        "What becomes of a value that the schema does not allow.", _one_of("clip", "other", "missing")
    ),
    "ordered": _told("Whether codes have an order.", _FLAG),
    "description": _told("A text for readers.", _TEXT),
}
_MOMENT = {"anyOf": [_TEXT, {"type": "object"}]}  # TOML has dates and times, which JSON has as texts
_AFTER = {
    "after": _TEXT,
    "after_unit": _NUMBER,
    "after_steps": {"type": "array", "items": _WHOLE},
    "after_most": _WHOLE,
    "after_alone": _WHOLE,
}
_FIELDS: dict[str, dict[str, Any]] = {
    "values": _told(
        "The closed list of values.",
        {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
    ),
    "discover": _told("Whether frequent values are learned privately.", _FLAG),
    "min": _told("The least value; left out, it is learned privately.", {"anyOf": [_NUMBER, _MOMENT]}),
    "max": _told("The greatest value; left out, it is learned privately.", {"anyOf": [_NUMBER, _MOMENT]}),
    "bins": _told("So many codes.", _COUNT),
    "edges": _told(
        "Where bins begin, in order, instead of their number.",
        {"anyOf": [_NUMBERS, {"type": "array", "items": _MOMENT}]},
    ),
    "step": _told("Values come in steps of this.", _COUNT),
    "special": _told("Values with a mass of their own.", _NUMBERS),
    "density": _told(
        "How values lie within bins: from each number on, a weight.", {"type": "array", "items": _NUMBERS}
    ),
    "every": _told(
        "How long a code is.", _one_of("second", "minute", "hour", "day", "week", "month", "quarter", "year")
    ),
    "precision": _told(
        "The step between synthetic values.",
        {"anyOf": [_NUMBER, _one_of("second", "minute", "hour", "day")]},
    ),
    "format": _told(
        "How cells are written: codes such as %d/%m/%Y, an example of a number, or two words for truths.",
        {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}]},
    ),
    "kind": _told("Which keys, or which texts, are made up.", _TEXT),
    "start": _told("The first key.", _WHOLE),
    "pattern": _told("The form of the keys, such as PT-\\d{6}.", _TEXT),
    "locale": _told("The language of made-up texts, such as de_DE.", _TEXT),
    **_EVERY,
}
_TABLE = {
    "name": _told("The ledger's key: what is spent is added up under this name.", _TEXT),
    "rows": _told("About how many records there are, a public figure.", {"type": "integer", "minimum": 0}),
    "unit": _told("The column that says whose record it is.", _TEXT),
    "max_records_per_unit": _told(
        "The most records of one unit that are used.", {"anyOf": [_COUNT, _one_of("learn")]}
    ),
    "delimiter": _told("What separates the fields of a text file.", _TEXT),
    "encoding": _told("How its characters are written.", _TEXT),
    "quoting": _told("Which cells are in quotes.", _one_of("needed", "texts", "all", "none")),
    "line_end": _told("What ends its lines.", _TEXT),
    "quote": _told("What stands around a cell in quotes.", _TEXT),
    "escape": _told("What stands before a quote that is part of a cell.", _TEXT),
    "skip": _told("How many lines stand before the header line.", _COUNT),
}
_RULES = {
    "order": _TEXT,
    "most": {"type": ["string", "number"]},
    "by": _one_of("differences", "values"),
    "derive": _TEXT,
    "column": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
    "columns": {"type": "array", "items": _TEXT},
    "determines": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
    "values": {"type": "array", "items": {"type": "array"}},
    "if": _TEXT,
    "then": _TEXT,
    "never": _TEXT,
    "together": {"type": "array", "items": _TEXT},
    "count": _FLAG,
    "description": _TEXT,
}


def document() -> dict[str, Any]:
    """The JSON Schema, with what each type of column may say."""
    types = [kind.type for kind in BUILT_IN]
    cases = []
    for kind in BUILT_IN:
        known = [field.name for field in fields(kind) if field.init and field.name != "comment"]
        said = {name: _FIELDS[name] for name in known} | {"type": {"const": kind.type}} | _AFTER
        cases.append(
            {
                "if": {"properties": {"type": {"const": kind.type}}, "required": ["type"]},
                "then": {"properties": said, "additionalProperties": False},
            }
        )
    return {
        "$schema": _DRAFT,
        "title": _TITLE,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "table": {"type": "object", "properties": _TABLE, "additionalProperties": False},
            "columns": {"type": "object", "additionalProperties": {"$ref": "#/$defs/column"}},
            "constraints": {
                "type": "array",
                "items": {"type": "object", "properties": _RULES, "additionalProperties": False},
            },
        },
        "$defs": {
            "column": {
                "type": "object",
                "required": ["type"],
                # Also here, for editors that complete without weighing conditions: all that some type may say.
                "properties": {"type": {"anyOf": [_one_of(*types), _TEXT]}, **_FIELDS},
                "allOf": cases,
            }
        },
    }


def is_ours(path: Path) -> bool:
    """Whether a file is this JSON Schema, of whatever version, so that it may be written anew."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and said.get("title") == _TITLE


def text() -> str:
    """The JSON Schema as the file has it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
