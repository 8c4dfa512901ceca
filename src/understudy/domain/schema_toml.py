"""The schema file as text: plain values and comments in and out, without knowing what they mean."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from understudy.errors import SchemaError

Table = dict[str, Any]

WIDTH = 100  # a list longer than this is written over several lines

# For whoever gave a table where a schema belongs.
DRAFTED = "a schema is a file that `understudy schema TABLE` drafts, and no table."


@dataclass(frozen=True)
class Document:
    """A schema file: its opening comment, what it says of the table, of each column, with comments, and its rules."""

    comment: str = ""
    table: Table = field(default_factory=dict)
    columns: Mapping[str, Table] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    constraints: Sequence[Table] = ()


def parse(text: str) -> Document:
    """The document of a file's text; anything that is not TOML, or not of this shape, is refused."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError(
            f"schema is not valid TOML: {error}", hint=f"see https://toml.io; {DRAFTED}"
        ) from None
    except ValueError:  # what Python says of a number with more than 4,300 digits
        raise SchemaError("schema: a number has thousands of digits.", hint="write a shorter one.") from None
    for key in content:
        if key not in ("table", "columns", "constraints"):
            raise SchemaError(
                f"schema: section {key!r} is not known.",
                hint="a schema has [table], one [columns.NAME] for each column, and [[constraints]].",
            )
    table, columns = content.get("table", {}), content.get("columns", {})
    constraints = content.get("constraints", [])
    if not isinstance(constraints, list) or not all(isinstance(rule, dict) for rule in constraints):
        raise SchemaError(
            "schema: 'constraints' is not a list of sections.",
            hint="write [[constraints]], in two pairs of brackets, above each.",
        )
    for name, section in {"table": table, "columns": columns}.items():
        if not isinstance(section, dict):
            raise SchemaError(
                f"schema: {name!r} is not a section.", hint=f"write [{name}] on a line of its own."
            )
    for name, section in columns.items():
        if not isinstance(section, dict):
            raise SchemaError(f"column {name!r} is not a section.", hint=f"write [columns.{key_text(name)}].")
    opening, comments = _comments(text)
    return Document(opening, table, columns, {name: comments.get(name, "") for name in columns}, constraints)


def emit(document: Document) -> str:
    """The text of a document; parsing it gives the same document."""
    parts = []
    if document.comment:
        parts.append(_comment_text(document.comment))
    if document.table:
        parts.append("[table]\n" + _body(document.table))
    for name, said in document.columns.items():
        comment = document.comments.get(name, "")
        above = _comment_text(comment) if comment else ""
        parts.append(f"{above}[columns.{key_text(name)}]\n{_body(said)}")
    parts += [f"[[constraints]]\n{_body(said)}" for said in document.constraints]
    return "\n".join(parts)


def _body(said: Mapping[str, Any]) -> str:
    return "".join(f"{key_text(key)} = {value_text(value)}\n" for key, value in said.items())


def _comment_text(comment: str) -> str:
    return "".join(f"# {line}\n" if line else "#\n" for line in clean_comment(comment).split("\n"))


def clean_comment(comment: str) -> str:
    """A comment as a file keeps it: no control character but the tab, no blanks at the end of a line."""
    lines = comment.replace("\r\n", "\n").split("\n")
    allowed = (
        "".join(char for char in line if char == "\t" or (char >= " " and char != "\x7f")) for line in lines
    )
    return "\n".join(line.rstrip() for line in allowed).strip("\n")


def key_text(key: str) -> str:
    """A key as TOML wants it: bare where it can be, else in quotes."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else string_text(key)


def string_text(text: str) -> str:
    """A string in double quotes."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
    return '"' + "".join(short.get(char) or _character(char) for char in text) + '"'


def _character(char: str) -> str:
    return char if char >= " " and char != "\x7f" else f"\\u{ord(char):04X}"


def value_text(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return _list_text([value_text(item) for item in value])
    if isinstance(value, int | float):
        return repr(value)  # finite floats: columns refuse the others
    raise SchemaError(
        f"TOML has no value of type {type(value).__name__}.",
        hint="a column's `fields` must say it otherwise.",
    )


def _list_text(items: list[str]) -> str:
    line = "[" + ", ".join(items) + "]"
    if len(line) <= WIDTH:
        return line
    lines, current = [], ""
    for item in items:
        if current and len(current) + len(item) + 2 > WIDTH:
            lines.append(current)
            current = ""
        current += f" {item}," if current else f"{item},"
    return "[\n" + "".join(f"    {line}\n" for line in [*lines, current]) + "]"


def _comments(text: str) -> tuple[str, dict[str, str]]:
    """The opening comment, and the comment lines above or inside each column's section."""
    opening: list[str] = []
    comments: dict[str, list[str]] = {}
    pending: list[str] = []
    section: str | None = None  # the column whose section this is
    started = False  # whether the opening comment is over
    for line in _lines_outside_strings(text.split("\n")):
        if line.startswith("#:"):  # for editors: no one's remark, and no part of the schema
            continue
        if line.startswith("#"):
            pending.append(line[1:].removeprefix(" ").rstrip())
            continue
        if not started and pending:
            named = _column_of(line)
            if named is None:  # a blank line or anything but a column's header ends the opening comment
                opening, pending = pending, []
        if line:
            started = True
            if line.startswith("["):
                section = _column_of(line)
            if section is not None:
                comments.setdefault(section, []).extend(pending)
            pending = []
    if not started:
        opening = opening or pending
    elif section is not None:
        comments.setdefault(section, []).extend(pending)
    return "\n".join(opening).strip("\n"), {
        name: "\n".join(lines).strip("\n") for name, lines in comments.items()
    }


def _lines_outside_strings(lines: Iterable[str]) -> Iterable[str]:
    """Every line without indent, those inside a multi-line string left out."""
    closing: str | None = None
    for line in lines:
        if closing is not None:
            if closing in line:
                closing = None
            continue
        stripped = line.strip()
        if not stripped.startswith("#"):
            for mark in ('"""', "'''"):
                if stripped.count(mark) % 2:
                    closing = mark
        yield stripped


def _column_of(line: str) -> str | None:
    """The column whose section a header line opens, if it opens one."""
    if not line.startswith("["):
        return None
    try:
        columns = tomllib.loads(line).get("columns")
    except tomllib.TOMLDecodeError:
        return None
    return next(iter(columns), None) if isinstance(columns, dict) else None
