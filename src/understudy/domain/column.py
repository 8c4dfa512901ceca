"""What every column has, whatever its type: order, missing values, outsiders, and its layout of codes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from datetime import date
from itertools import pairwise
from typing import Any, ClassVar, Literal, NoReturn, get_args

from understudy.domain.schema_toml import clean_comment, value_text
from understudy.errors import SchemaError, SizeError

# A marginal over one column is an array this long at most: eight megabytes of counts.
MOST_CODES = 1_000_000

Outside = Literal["clip", "other", "missing"]


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """One column as a person describes it.

    `missing`: the texts that mean missing, or True (empty cells do), or False (a promise that none occurs).
    Left out, the column has a slot for missing values all the same: whether any occur must not be looked up.
    `outside`: what becomes of a value the schema does not allow: the nearest bound ("clip"), one slot
    for all of them ("other"), or the slot of missing values ("missing"). Left out: "clip" where
    values have bounds; else "missing", or "other" when missing values are ruled out.

    Codes are laid out as: the values in order, then the other slot, then the missing slot.
    A record that breaks a promise never raises: see `null_code`.
    """

    type: ClassVar[str]
    bounded: ClassVar[bool] = True  # whether "the nearest value" has a meaning

    ordered: bool = True
    missing: bool | tuple[str, ...] | None = None
    outside: Outside | None = None
    description: str = ""
    comment: str = ""

    def __post_init__(self) -> None:
        flag("ordered", self.ordered)
        text("description", self.description)
        self._set("comment", clean_comment(text("comment", self.comment)))
        self._set("missing", _missing(self.missing))
        if self.outside is not None and self.outside not in get_args(Outside):
            refuse("outside", self.outside, "is not a rule.", 'write "clip", "other" or "missing".')
        if self.outside == "clip" and not self.bounded:
            refuse(
                "outside", "clip", f"needs bounds, and a {self.type} has none.", 'write "other" or "missing".'
            )
        if self.outside == "missing" and self.missing is False:
            refuse("outside", "missing", "has no slot when missing = false.", "drop one of the two.")
        self._check()
        if not self.unlearned and self.count > MOST_CODES:
            raise SizeError(
                f"{self.type}: {self.count} codes; a column may have {MOST_CODES} at most.",
                hint="ask for fewer: coarser bins, a coarser `every`, or a shorter list.",
            )

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @abstractmethod
    def _check(self) -> None:
        """Refuse fields that contradict each other; put the rest in their plain form."""

    @property
    @abstractmethod
    def unlearned(self) -> tuple[str, ...]:
        """The fields that were left out and would have to be learned, privately, from the records."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many codes stand for values; only once nothing is `unlearned`."""

    @property
    def rule(self) -> Outside:
        """What becomes of values outside: `outside`, or its default."""
        if self.outside is not None:
            return self.outside
        if self.bounded:
            return "clip"
        return "other" if self.missing is False else "missing"

    @property
    def other_code(self) -> int | None:
        """The slot of values outside, if the column has one."""
        return self.count if self.rule == "other" else None

    @property
    def missing_code(self) -> int | None:
        """The slot of missing values, if the column has one."""
        return None if self.missing is False else self.count + (self.rule == "other")

    @property
    def size(self) -> int:
        """How many codes the column has, slots included."""
        return self.count + (self.rule == "other") + (self.missing is not False)

    @property
    def null_code(self) -> int:
        """Where a missing or unreadable value goes: the missing slot, or the other, or the first value."""
        for code in (self.missing_code, self.other_code):
            if code is not None:
                return code
        return 0

    @property
    def outside_code(self) -> int | None:
        """Where a value outside goes; None when it is clipped instead."""
        return {"clip": None, "other": self.other_code, "missing": self.missing_code}[self.rule]

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts that mean missing."""
        return self.missing if isinstance(self.missing, tuple) else ()

    def fields(self) -> dict[str, Any]:
        """What a schema file says of this column: its type, then whatever is not the default."""
        said: dict[str, Any] = {"type": self.type}
        inherited = [field.name for field in fields(Column)]
        for field in sorted(fields(self), key=lambda field: field.name in inherited):
            value = getattr(self, field.name)
            if (
                field.init
                and field.name != "comment"
                and field.default is not MISSING
                and value != field.default
            ):
                said[field.name] = list(value) if isinstance(value, tuple) else value
        return said


def refuse(field: str, value: object, rule: str, way_out: str) -> NoReturn:
    """Refuse one field of a column, by name, value and rule."""
    shown = value_text(value) if isinstance(value, bool | date) else repr(value)
    raise SchemaError(f"{field} {shown if len(shown) < 80 else shown[:77] + '...'} {rule}", hint=way_out)


def text(field: str, value: object) -> str:
    """`value`, once it is text that can be written to a file."""
    if not isinstance(value, str):
        refuse(field, value, "is not text.", "put it in quotes.")
    if any("\ud800" <= char <= "\udfff" for char in value):
        refuse(field, value, "is not valid Unicode.", "remove the lone surrogates.")
    return value


def flag(field: str, value: object) -> bool:
    """`value`, once it is true or false."""
    if not isinstance(value, bool):
        refuse(field, value, "is neither true nor false.", "write true or false, without quotes.")
    return value


def whole(field: str, value: object, least: int | None = None) -> int:
    """`value`, once it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(field, value, "is not a whole number.", "write it without quotes or a decimal point.")
    if least is not None and value < least:
        refuse(field, value, f"is less than {least}.", f"write {least} or more.")
    return value


def finite(field: str, value: object) -> float:
    """`value` as a float, once it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(field, value, "is not a number.", "write it without quotes.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse(field, value, "is not finite.", "write a finite number.")
    return number + 0.0  # no negative zero: it would not survive a schema file


def listed(field: str, value: object) -> tuple[Any, ...]:
    """`value` as a tuple, once it is a list of something."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        refuse(field, value, "is not a list.", "write it in square brackets.")
    return tuple(value)


def distinct(field: str, values: tuple[Any, ...]) -> None:
    """Refuse a list in which something stands twice."""
    seen = set()
    for value in values:
        if value in seen:
            refuse(field, value, "stands twice in the list.", "keep one of them.")
        seen.add(value)


def ascending(field: str, values: tuple[Any, ...]) -> None:
    """Refuse a list that does not go up at every step."""
    for before, after in pairwise(values):
        if not before < after:
            refuse(
                field, after, f"follows {before!r}, but the list must ascend.", "sort it, without repeats."
            )


def below(low: Any, high: Any) -> None:
    """Refuse bounds of which the lower is not below the upper."""
    if low is not None and high is not None and not low < high:
        raise SchemaError(
            f"min {low} is not below max {high}.",
            hint="swap them, or make a column of one value a category.",
        )


def _missing(value: object) -> bool | tuple[str, ...] | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        refuse("missing", value, "is not a list.", "write the text in square brackets.")
    texts = listed("missing", value)
    for item in texts:
        if not isinstance(item, str):
            refuse("missing", item, "is not text.", "write the texts that mean missing, in quotes.")
        text("missing", item)
    if not texts:
        refuse("missing", [], "is an empty list.", "write true, false, or the texts that mean missing.")
    distinct("missing", texts)
    return texts
