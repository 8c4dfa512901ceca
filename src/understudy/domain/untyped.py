"""A column whose type nobody has said: every cell votes for a kind, and what the votes suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from understudy.domain.category import Boolean, Category
from understudy.domain.column import Column, refuse
from understudy.domain.moment import Date, Datetime
from understudy.domain.number import Integer, Number

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
MOSTLY = 0.98  # of the votes must fit a type
FEW_CODES = 0.005  # of the votes, above which leading zeros are kept
SURE = 4.0  # standard deviations above which votes are more than noise, in a table of dozens of columns
LIKELY = 2.0  # and above which the most votes of a column likely are


@dataclass(frozen=True)
class Untyped(Column):
    """A column whose type is learned privately, with everything else about it. `missing` is kept."""

    type = "untyped"
    bounded = False

    def _check(self) -> None:
        if self.outside is not None:
            refuse("outside", self.outside, "needs a type.", "say the column's type, or leave it out.")
        if not self.ordered:
            refuse("ordered", False, "needs a type.", "say the column's type, or leave it out.")

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ("type",)

    @property
    def count(self) -> int:
        return 0

    def decided(self, votes: Sequence[float], noise: float) -> tuple[Column, bool]:
        """The column that its votes suggest, one count for each of `KINDS`, and whether it holds instants.

        `noise` is the standard deviation of each count. The narrowest type that nearly all votes fit is taken;
        where noise drowns them, a category.
        """
        held = _held(votes, noise)
        total = sum(held.values())

        def fits(*kinds: str) -> bool:
            return sum(held.get(kind, 0.0) for kind in kinds) >= MOSTLY * total

        said: dict[str, Any] = {"missing": self.missing, "description": self.description}
        said["comment"] = self.comment
        if not held.get("code", 0.0) <= FEW_CODES * total:
            return Category(discover=True, **said), False
        if fits("boolean"):
            return Boolean(**said), False
        if fits("integer"):
            return Integer(**said), False
        if fits("integer", *DECIMALS, "number"):
            places = (n for n in range(len(DECIMALS)) if fits("integer", *DECIMALS[: n + 1]))
            digits = next(places, None)
            return Number(precision=None if digits is None else 10.0**-digits, **said), False
        if fits("date"):
            return Date(**said), False
        if fits("date", "datetime", "instant"):
            instants = held.get("instant", 0.0) > held.get("datetime", 0.0)
            return Datetime(**said), instants
        return Category(discover=True, **said), False


@dataclass(frozen=True)
class Votes(Column):
    """What the cells of a column vote for, as a column of its own: one code for each of `KINDS`, no slots."""

    type = "votes"
    bounded = False
    missing: Literal[False] = False

    def _check(self) -> None:
        pass

    @property
    def rule(self) -> Literal["clip"]:
        """Every cell has a vote: nothing is outside."""
        return "clip"

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ()

    @property
    def count(self) -> int:
        return len(KINDS)


def _held(votes: Sequence[float], noise: float) -> dict[str, float]:
    """The kinds that surely have votes; where none has, the one with the most if that is likely no noise."""
    cast = {kind: float(count) for kind, count in zip(KINDS, votes, strict=True) if kind != "missing"}
    sure = {kind: count for kind, count in cast.items() if count > SURE * noise}
    if sure:
        return sure
    most = max(cast, key=cast.__getitem__)
    return {most: cast[most]} if cast[most] > LIKELY * noise else {"text": 1.0}
