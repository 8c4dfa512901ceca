"""Checks of one field of a column's description: each refuses by name, value and rule, and says the way out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, time
from itertools import pairwise
from typing import Any, NoReturn

from understudy.domain.schema_toml import value_text
from understudy.errors import SchemaError


def refuse(field: str, value: object, rule: str, way_out: str) -> NoReturn:
    """Refuse one field of a column, by name, value and rule."""
    shown = value_text(value) if isinstance(value, bool | date | time) else repr(value)
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


def missing_rule(value: object) -> bool | tuple[str, ...] | None:
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
