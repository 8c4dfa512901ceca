"""One section of a schema file as a column, its name checked, and what it must be beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from understudy.domain.columns.column import Column
from understudy.domain.columns.differences.difference import KEYS, Difference
from understudy.domain.columns.differences.ends import is_plain
from understudy.domain.columns.parts.fields import finite, listed, text, whole
from understudy.domain.columns.registry import column_types
from understudy.errors import ParameterError, SchemaError, SizeError, UnknownTypeError


def column_of(name: str, said: Mapping[str, Any], comment: str) -> Column:
    """The column that a section of a schema file describes."""
    kinds = column_types()
    kind = kinds.get(said["type"]) if isinstance(said.get("type"), str) else None
    if kind is None:
        what = f"type {said['type']!r} is not known" if "type" in said else "type is left out"
        raise UnknownTypeError(f"column {name!r}: {what}.", hint=f"write one of {', '.join(kinds)}.")
    if KEYS[0] in said:
        return _difference(name, said, comment)
    known = [field.name for field in fields(kind) if field.init and field.name != "comment"]
    for key in said:
        if key != "type" and key not in known:
            raise SchemaError(
                f"column {name!r}: field {key!r} is not known for type {kind.type!r}.",
                hint=did_you_mean(key, known),
            )
    try:
        return kind(**{key: value for key, value in said.items() if key != "type"}, comment=comment)
    except (SchemaError, SizeError) as error:
        raise within(f"column {name!r}", error) from None


def _difference(name: str, said: Mapping[str, Any], comment: str) -> Difference:
    """The column of a section that says how its values are coded by those of another."""
    of = column_of(name, {key: value for key, value in said.items() if key not in KEYS}, comment)
    try:
        for key in KEYS:
            if key not in said:
                raise SchemaError(f"{key} is left out.", hint=f"leave all of {', '.join(KEYS)} out, or none.")
        after, unit, steps, most, alone = (said[key] for key in KEYS)
        unit = unit if isinstance(unit, int) else finite("after_unit", unit)
        starts = tuple(whole("after_steps", step, 0) for step in listed("after_steps", steps))
        most, alone = whole("after_most", most, 0), whole("after_alone", alone, 0)
        return Difference.coded(of, after, unit, starts, most, alone)
    except (SchemaError, SizeError) as error:
        raise within(f"column {name!r}", error) from None


def check_differences(columns: Mapping[str, Column], unit: str | None) -> None:
    """Refuse a column whose codes are said to come from one that is not there, or of another kind, or from itself."""
    for name, column in columns.items():
        path, at = [name], column
        while isinstance(at, Difference):
            base = columns.get(at.after)
            plain = base.of if isinstance(base, Difference) else base
            if (
                base is None
                or plain is None
                or at.after in (*path, unit)
                or base.compared_as != at.compared_as
                or not (is_plain(at.of) and is_plain(plain))
            ):
                raise SchemaError(
                    f"column {path[-1]!r}: it cannot be coded by its difference from {at.after!r}.",
                    hint=f"leave {', '.join(KEYS)} out.",
                )
            path.append(at.after)
            at = base


def within(where: str, error: ParameterError) -> ParameterError:
    """The error, which now says where it was found."""
    return type(error)(f"{where}: {error.message}", hint=error.hint)


def check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"column name {name!r} is not a non-empty text.", hint="name every column.")
    try:
        text("name", name)
    except SchemaError as error:
        raise within("column", error) from None


def did_you_mean(word: str, known: Any) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(list(known)[:20])}."
