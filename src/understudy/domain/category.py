"""Columns of a few values without arithmetic: categories and booleans."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from understudy.domain.column import MOST_CODES, Column, distinct, flag, listed, refuse, text
from understudy.errors import SizeError

Value = str | int | float | bool
Kind = Literal["text", "integer", "number", "boolean"]

_KINDS: dict[type, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Category(Column):
    """One of a closed list of values, or of a list that is learned privately (`discover`)."""

    type = "category"
    bounded = False

    values: tuple[Value, ...] | None = None
    discover: bool = False
    ordered: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        flag("discover", self.discover)
        if self.values is None:
            return
        if self.discover:
            refuse("discover", True, "contradicts a list of values.", "drop one of the two.")
        values = listed("values", self.values)
        if not values:
            refuse("values", [], "is an empty list.", "list the values, or write discover = true.")
        if len(values) > MOST_CODES:
            raise SizeError(
                f"values: {len(values)} categories; a column may have {MOST_CODES} at most.",
                hint="merge some, or write discover = true to learn the frequent ones privately.",
            )
        for value in values:
            _check_value(value, type(values[0]))
        distinct("values", values)
        for word in self.missing_texts:
            if word in values or _number(word) in values:
                refuse("missing", word, "is one of the values as well.", "keep it in one of the two lists.")
        self._set("values", values)

    def __eq__(self, other: object) -> bool:
        """Equal when every field is, and 1 is neither true nor 1.0."""
        if not isinstance(other, Category):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        kind = self.kind if self.values is not None else None
        rest = (self.discover, self.ordered, self.missing, self.outside, self.description, self.comment)
        return kind, self.values, *rest

    @property
    def kind(self) -> Kind:
        """Which type the values have."""
        return _KINDS[type(self.values[0])] if self.values else "text"

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ("values",) if self.values is None else ()

    @property
    def count(self) -> int:
        return len(self.values or ())


@dataclass(frozen=True)
class Boolean(Column):
    """True or false: code 0 is false, code 1 is true."""

    type = "boolean"
    bounded = False

    def _check(self) -> None:
        pass

    @property
    def rule(self) -> Literal["clip", "other", "missing"]:
        """As of any column; but where missing values are ruled out, no slot is made for what is neither."""
        return "clip" if self.outside is None and self.missing is False else super().rule

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ()

    @property
    def count(self) -> int:
        return 2


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _check_value(value: object, kind: type) -> None:
    if kind not in _KINDS:
        refuse("values", value, "is not text, a number or a boolean.", "use one of these.")
    if type(value) is not kind:
        refuse(
            "values", value, f"is not of the type of the first value, {_KINDS[kind]}.", "use one type only."
        )
    if isinstance(value, str):
        text("values", value)
    elif isinstance(value, float) and not math.isfinite(value):
        refuse("values", value, "is not finite.", "missing values have a slot of their own.")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        refuse("values", value, "does not fit in 64 bits.", "put the values in quotes.")
