"""What a cell is written as, when its column has no type: a function of the cell alone."""

from __future__ import annotations

import re

from understudy.domain import grammar

# What a cell may vote for; the code of a vote is its place. A code is digits that begin with a zero, as in a postal
# code: a number would lose it. Numbers vote by how many decimals they need.
DECIMALS = ("0 decimals", "1 decimal", "2 decimals")
KINDS = (
    "missing",
    "code",
    "integer",
    *DECIMALS,
    "number",
    "boolean",
    "date",
    "datetime",
    "instant",
    "text",
)
FEW_CODES = 0.005  # of the cells, above which leading zeros are kept
# Texts that mean missing wherever they stand in a column of something else, whatever their case.
MARKS = frozenset(
    {"n", "na", "n/a", "n.a.", "nan", "nat", "<na>", "null", "(null)", "none", "nil", "-", "--", "?", "."}
    | {"unknown", "missing", "#n/a", "#null!", "#value!", "#ref!", "#div/0!", r"\n"}
)
MOST_DIGITS = 18  # of a whole number; all of these are within int64
_PLAIN = re.compile(r"[+-]?(\d*)(?:(\.)(\d*))?", re.ASCII)
_OFFSET = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)$")


def kind_of(text: str) -> str:
    """The narrowest of `KINDS` that a text is written as."""
    bare = text.strip(" \t")
    if not bare or bare.lower() in MARKS or grammar.no_number(bare):
        return "missing"
    plain = _PLAIN.fullmatch(bare)
    if plain is not None and (plain[1] or plain[3]):
        return _number_kind(plain[1], plain[2], plain[3] or "")
    if grammar.number(bare) is not None:
        return "number"
    if bare.lower() in ("true", "false"):
        return "boolean"
    if grammar.moment(bare) is not None:
        return "date" if len(bare) == 10 else "instant" if _OFFSET.search(bare, 10) else "datetime"
    return "text"


def _number_kind(whole: str, point: str | None, fraction: str) -> str:
    if len(whole) > 1 and whole[0] == "0":
        return "code"
    if point is None:
        return "integer" if len(whole) <= MOST_DIGITS else "text"  # longer ones are names of things
    needed = len(fraction.rstrip("0"))
    return DECIMALS[needed] if needed < len(DECIMALS) else "number"
