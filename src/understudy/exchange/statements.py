"""What another tool says of a table, as a schema: read as plain JSON, and reviewed by a person like a draft."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from understudy.domain import Column, Schema
from understudy.domain.column_section import column_of
from understudy.errors import FileError, SchemaError
from understudy.pipeline.draft import DRAFTED

OWN = "understudy"  # the key under which a statement of ours keeps what its form has no word for

OPENING = f"""\
This schema was made from a statement in the form {{form}}: it is {DRAFTED}.
Whoever wrote the statement may have looked at the records. Check every line: values, bounds and texts that are not
public knowledge must go. What is left out is learned privately, out of the budget."""
LEFT_OUT = """
Left out, as they hold no one plain value, or nothing that can be learned: {}."""
NO_FORMAT = "the statement's format {!r} is not one that can be read here: say how its cells are written."

_READERS: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


@dataclass
class Statement:
    """What a statement says in the words of a schema file: of the table, of each column, and remarks to review."""

    table: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add(self, name: str, said: Mapping[str, Any], *remarks: str) -> None:
        """Add a column; one that stands twice is refused."""
        if name in self.columns:
            raise SchemaError(f"column {name!r} stands twice in the statement.", hint="keep one of the two.")
        self.columns[name] = {key: value for key, value in said.items() if value not in (None, "", [], ())}
        self.remarks[name] = [remark for remark in remarks if remark]

    def schema(self, form: str, name: str | None) -> Schema:
        """The schema, with a comment that asks a person to review it."""
        if not self.columns:
            raise SchemaError(
                f"the statement ({form}) describes no column.", hint="check that it is the right file."
            )
        table = {**self.table, **({"name": name} if name else {})}
        comment = OPENING.format(form=form)
        comment += LEFT_OUT.format(", ".join(self.left_out)) if self.left_out else ""
        columns = {column: self._column(column) for column in self.columns}
        return Schema(columns, comment=comment, **table)

    def _column(self, name: str) -> Column:
        said, remarks = with_moments(name, self.columns[name]), self.remarks[name]
        try:
            return column_of(name, said, "\n".join(remarks))
        except SchemaError:
            if "format" not in said:
                raise
            bare = {key: value for key, value in said.items() if key != "format"}
            return column_of(name, bare, "\n".join([*remarks, NO_FORMAT.format(said["format"])]))


def with_moments(name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a column, with bounds of dates and times that JSON has as texts."""
    read = _READERS.get(said.get("type", ""))
    found = dict(said)
    for key in ("min", "max"):
        text = found.get(key)
        if read is not None and isinstance(text, str):
            try:
                found[key] = read(text.replace("Z", "+00:00"))
            except ValueError:
                found[key] = _by_format(name, key, text, said)
    return found


def _by_format(name: str, key: str, text: str, said: Mapping[str, Any]) -> object:
    """A bound that is written as the column's cells are."""
    try:
        moment = datetime.strptime(text, str(said.get("format", "%Y-%m-%d")).replace("%-", "%"))
    except (ValueError, TypeError):
        raise SchemaError(
            f"column {name!r}: {key} {text!r} is no {said['type']}.", hint="write it in ISO form."
        ) from None
    return {"date": moment.date(), "time": moment.time()}.get(said["type"], moment)


def plain(value: Any) -> Any:
    """A value of a schema file as JSON has it: dates and times as ISO texts."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def beyond(column: Column, *said: str) -> dict[str, Any]:
    """What a schema file says of a column beside these fields, under our own key; empty where nothing is left."""
    rest = {key: plain(value) for key, value in column.fields().items() if key not in said}
    return {OWN: rest} if rest else {}


def own_table(schema: Schema) -> dict[str, Any]:
    """What a schema file says of the table and its constraints, for our own key."""
    rules = [{key: plain(value) for key, value in rule.said().items()} for rule in schema.rules]
    said = {key: plain(value) for key, value in schema.table_fields().items()}
    return {**said, **({"constraints": rules} if rules else {})}


def number_text(value: Any, what: str) -> Any:
    """A bound as a number, also where a statement has it as a text."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SchemaError(f"{what} {value!r} is not a number.", hint="write it without quotes.") from None
    return int(number) if math.isfinite(number) and number == int(number) else number


def read_json(source: Any) -> dict[str, Any]:
    """The JSON object in a file, or the mapping that was given."""
    if isinstance(source, Mapping):
        return dict(source)
    path = Path(source)
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FileError(f"statement {str(path)!r}: {error.strerror}.", hint="check the path.") from None
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise FileError(f"statement {str(path)!r} is not JSON.", hint="save it as JSON in UTF-8.") from None
    return an_object(found, "the statement")


def an_object(value: Any, what: str) -> dict[str, Any]:
    """`value`, once it is a JSON object."""
    if not isinstance(value, Mapping):
        raise SchemaError(f"{what} is not an object.", hint="check the statement's form.")
    return dict(value)


def objects(value: Any, what: str) -> list[dict[str, Any]]:
    """`value`, once it is a list of JSON objects."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise SchemaError(f"{what} is not a list.", hint="check the statement's form.")
    return [an_object(item, f"an item of {what}") for item in value]


def name_in(said: Mapping[str, Any], what: str) -> str:
    """The name of a column or table, which must be a text."""
    name = said.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError(f"{what} has no name.", hint="name every column.")
    return name
