"""The contest's 98 columns: names, largest codes and documented values, read from `columns.json`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

WAGE_NOT_APPLICABLE = 999_998


@cache
def _columns() -> dict[str, dict[str, object]]:
    text = files("understudy_contest.census1940").joinpath("columns.json").read_text(encoding="utf-8")
    columns: dict[str, dict[str, object]] = json.loads(text)["columns"]
    return columns


def names() -> tuple[str, ...]:
    """The 98 columns, in the order of the contest's specification."""
    return tuple(_columns())


@cache
def values(name: str) -> tuple[int, ...] | range:
    """The codes that a column may hold: the documented list where it is shorter than 0..largest."""
    column = _columns()[name]
    listed = column.get("values")
    if listed is None:
        return range(int(str(column["largest"])) + 1)
    return tuple(code for part in str(listed).split(",") for code in _run(part))


def _run(part: str) -> range:
    # "7" is one code, "0-3" a run of them, "10-250/20" a run in steps of 20.
    first, _, rest = part.partition("-")
    last, _, step = rest.partition("/")
    return range(int(first), int(last or first) + 1, int(step or 1))


def sizes() -> dict[str, int]:
    """How many codes each column has: the second figure in the paper's table of domains."""
    return {name: len(values(name)) for name in names()}


def largest() -> dict[str, int]:
    """The largest code of each column, in any state."""
    return {name: max(values(name)[-1], int(str(_columns()[name]["largest"]))) for name in names()}
