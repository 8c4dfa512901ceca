"""One column of a schema as a form: its fields as texts, texts back to fields, and words for whoever reviews it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import understudy as us
from understudy.errors import SchemaError

# What a column may be, in words for someone who knows the table and not this program.
TYPES = {
    "untyped": "not said: learned privately",
    "category": "one of a list of values",
    "integer": "a whole number",
    "number": "a number",
    "date": "a date",
    "datetime": "a date with a time",
    "time": "a time of day",
    "boolean": "yes or no",
}

# The same value in the forms in which cells are commonly written, side by side; the first is the plain one.
FORMS: dict[str, tuple[tuple[str, str], ...]] = {
    "date": (
        ("", "2026-01-31"),
        ("%d/%m/%Y", "31/01/2026"),
        ("%m/%d/%Y", "01/31/2026"),
        ("%d.%m.%Y", "31.01.2026"),
        ("%Y%m%d", "20260131"),
    ),
    "datetime": (
        ("", "2026-01-31 08:30:00"),
        ("%d/%m/%Y %H:%M", "31/01/2026 08:30"),
        ("%m/%d/%Y %H:%M", "01/31/2026 08:30"),
        ("%d.%m.%Y %H:%M", "31.01.2026 08:30"),
    ),
    "time": (("", "08:30:00"), ("%H:%M", "08:30"), ("%I:%M %p", "08:30 AM")),
    "number": (
        ("", "1234.5"),
        ("1,234.50", "1,234.50"),
        ("1.234,50", "1.234,50"),
        ("$1,234.50", "$1,234.50"),
    ),
}

# Why a field must not be read off the records.
WHY = {
    "category": "A value that only one person has would name that person.",
    "integer": "The largest and the smallest number in a table are often one person's own.",
    "number": "The largest and the smallest number in a table are often one person's own.",
    "date": "The first and the last date in a table are often one person's own.",
    "datetime": "The first and the last moment in a table are often one person's own.",
    "time": "The first and the last time in a table are often one person's own.",
    "boolean": "Nothing is read: yes and no are all that there can be.",
    "untyped": "One odd cell, one person's own, could change what a look at all cells suggests.",
    "id": "Nothing is read: fresh keys are made up.",
    "fake": "Nothing is read: values are made up.",
}
LEARNED = {
    "type": "what kind of values it has",
    "values": "which values occur often enough to be named",
    "min": "the smallest value",
    "max": "the largest value",
    "bins": "where its ranges begin and end",
}

_WHOLE = ("min", "max", "step", "bins", "special")
SHOWN: dict[str, tuple[str, ...]] = {
    "untyped": (),
    "category": ("values", "discover", "ordered"),
    "integer": ("min", "max", "step", "bins", "special"),
    "number": ("min", "max", "bins", "precision", "special", "format"),
    "date": ("min", "max", "every", "format"),
    "datetime": ("min", "max", "every", "format"),
    "time": ("min", "max", "every", "format"),
    "boolean": (),
}
LABELS = {
    "min": "Smallest value",
    "max": "Largest value",
    "step": "In steps of",
    "bins": "Ranges",
    "special": "Values that stand out",
    "precision": "Rounded to",
}
HINTS = {
    "min": "left empty: learned privately",
    "max": "left empty: learned privately",
    "step": "1 unless values come in larger steps",
    "bins": "left empty: one by one where they are few, else learned",
    "special": "such as 0 or 9999, with commas between",
    "precision": "1 for whole amounts, 0.01 for cents",
}


@dataclass(frozen=True)
class ColumnEditor:
    """A column at its place in a schema."""

    place: int
    name: str
    schema: us.Schema

    @property
    def column(self) -> us.Column:
        return self.schema[self.name]

    @property
    def type(self) -> str:
        return self.column.type

    @property
    def said(self) -> dict[str, Any]:
        """The column's fields, as a schema file has them."""
        return self.column.fields()

    @property
    def editable(self) -> bool:
        """Whether a form can say all that this column says; the text of the schema always can."""
        values = self.said.get("values", [])
        return self.type in TYPES and not any("\n" in str(value) or "\r" in str(value) for value in values)

    @property
    def is_unit(self) -> bool:
        return self.name == self.schema.unit

    @property
    def words(self) -> str:
        """The kind of values, in words."""
        if self.is_unit:
            return "says whose record it is; never synthesised"
        return TYPES.get(self.type, self.type)

    @property
    def range(self) -> str:
        """Bounds, values and steps, in a line."""
        said = self.said
        parts = []
        if "values" in said:
            values = [str(value) for value in said["values"]]
            parts.append(f"{len(values):,} values: {', '.join(values[:8])}{', …' if len(values) > 8 else ''}")
        if "min" in said or "max" in said:
            parts.append(f"{said.get('min', '?')} to {said.get('max', '?')}")
        if "every" in said:
            parts.append(f"by {said['every']}")
        if "bins" in said:
            parts.append(f"in {said['bins']:,} ranges")
        if "edges" in said:
            parts.append(f"in {max(len(said['edges']) - 1, 1):,} ranges of unequal width")
        if "format" in said:
            parts.append(f"written as {said['format']}")
        return "; ".join(parts)

    @property
    def missing(self) -> str:
        """What is said of missing values, in words."""
        rule = self.said.get("missing")
        if rule is None:
            return "may be missing"
        if rule is True:
            return "empty cells mean missing"
        return "never missing, you say" if rule is False else f"missing: {', '.join(map(repr, rule))}"

    @property
    def learned(self) -> list[str]:
        """What would be learned privately, in words."""
        return [LEARNED.get(field, field) for field in self.schema.unlearned.get(self.name, ())]

    @property
    def why(self) -> str:
        """Why that must not be read off the records."""
        return WHY.get(self.type, "What one person's record says must not be told.")

    @property
    def remark(self) -> str:
        """What the draft said of the column, which it found in the records."""
        return self.column.comment

    def inputs(self, kind: str | None = None) -> list[tuple[str, str, str, str]]:
        """The plain fields of a type: name, label, what stands in it, and a hint."""
        said = self.said if kind in (None, self.type) else {}
        return [
            (field, LABELS[field], _shown(said.get(field)), HINTS[field])
            for field in SHOWN.get(kind or self.type, ())
            if field in LABELS
        ]

    def has(self, field: str) -> bool:
        return field in SHOWN.get(self.type, ())

    @property
    def values(self) -> str:
        """The list of values, one a line."""
        return "\n".join(str(value) for value in self.said.get("values", []))

    @property
    def missing_texts(self) -> str:
        rule = self.said.get("missing")
        return ", ".join(rule) if isinstance(rule, list | tuple) else ""

    @property
    def missing_choice(self) -> str:
        rule = self.said.get("missing")
        return "" if rule is None else "empty" if rule is True else "never" if rule is False else "texts"

    def fields_of(self, form: Mapping[str, str]) -> dict[str, Any]:
        """The fields that a form describes, as a schema file has them."""
        kind = form.get("type", self.type)
        kept: dict[str, Any] = dict(self.said) if kind == self.type else {"type": kind}
        for field in ("missing", "description", *SHOWN.get(kind, ())):
            if field not in form and not (field in ("discover", "ordered") and kind == self.type):
                continue
            kept.pop(field, None)
            value = self._read(kind, field, form)
            if value is not None:
                kept[field] = value
        if kind == "category" and "values" not in kept:
            kept["discover"] = True
        elif kind == "category" and kept.get("discover"):
            kept.pop("values")
        if "bins" in kept:
            kept.pop("edges", None)
        if {"min", "max", "bins", "step"} & {*form} and kind == self.type and kept != self.said:
            kept.pop("density", None)
        return kept

    def _read(self, kind: str, field: str, form: Mapping[str, str]) -> Any:
        text = form.get(field, "").strip()
        if field == "missing":
            texts = [part.strip() for part in form.get("missing_texts", "").split(",") if part.strip()]
            return {"empty": True, "never": False, "texts": texts or True}.get(text)
        if field in ("discover", "ordered"):
            return True if text == "yes" else None
        if field == "values":
            return self._values(form.get(field, "")) or None
        if not text:
            return None
        if field in ("every", "format", "description"):
            return text
        reads = _READERS.get((kind, field)) or _READERS.get((kind, "")) or int
        try:
            if field == "special":
                return [reads(part.strip()) for part in text.split(",") if part.strip()]
            return (float if field == "precision" else int if field in ("step", "bins") else reads)(text)
        except ValueError:
            raise SchemaError(
                f"column {self.name!r}: {LABELS[field].lower()} {text!r} cannot be read.",
                hint=f"write it as {_EXAMPLES.get(kind, '12')}.",
            ) from None

    def _values(self, text: str) -> list[Any]:
        """The values of a list, one a line; whole numbers stay such where the list was of them."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        before = self.said.get("values", [])
        if before and all(isinstance(value, int) and not isinstance(value, bool) for value in before):
            try:
                return [int(line) for line in lines]
            except ValueError:
                return lines
        return lines


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() and "." not in text and "e" not in text.lower() else value


_READERS: dict[tuple[str, str], Callable[[str], Any]] = {
    ("integer", ""): int,
    ("number", ""): _number,
    ("date", ""): datetime.date.fromisoformat,
    ("datetime", ""): datetime.datetime.fromisoformat,
    ("time", ""): datetime.time.fromisoformat,
}
_EXAMPLES = {
    "integer": "120",
    "number": "12.5",
    "date": "2026-01-31",
    "datetime": "2026-01-31 08:30",
    "time": "08:30",
}
