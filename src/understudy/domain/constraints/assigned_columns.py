"""Constraints that say a column's value: worked out from others by a formula, or looked up by another's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.fields import text
from understudy.domain.condition_truth import check, meaning
from understudy.domain.conditions import Compares, Condition, Membership, Not, Or, Value, column_text
from understudy.domain.constraints.constraint import Constraint, check_known, refuse_rule
from understudy.domain.constraints.formulas import Formula, parse_equation


@dataclass(frozen=True)
class Derived(Constraint):
    """A column that is worked out from others, and never learned.

    Parameters:
        derive: an equation: "total = net + 0.5 * tax", "age = years(born, 2026-01-01)", "stay = days(came, left)".
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("derive",)
    derive: str

    def __post_init__(self) -> None:
        super().__post_init__()
        name, formula = self.equation
        object.__setattr__(self, "derive", f"{column_text(name)} = {formula}")

    @property
    def equation(self) -> tuple[str, Formula]:
        """The column, and what it is worked out by."""
        return parse_equation(self.derive)

    @property
    def computed(self) -> str:
        return self.equation[0]

    @property
    def columns(self) -> tuple[str, ...]:
        name, formula = self.equation
        return (name, *formula.columns)

    def conditions(self) -> tuple[Condition, ...]:
        return ()

    def fields(self) -> dict[str, Any]:
        return {"derive": self.derive}

    def check(self, columns: Mapping[str, Column]) -> None:
        name, formula = self.equation
        check_known(self.columns, columns)
        if self.count:
            refuse_rule(
                f"column {name!r} is worked out and not learned: none are counted.", "leave count out."
            )
        if name in formula.columns:
            refuse_rule(f"column {name!r} is worked out from itself.", "name another column on the left.")
        formula.check(columns)
        target = columns[name]
        if target.type not in ("integer", "number"):
            refuse_rule(
                f"column {name!r} is {target.type}, and is worked out as a number.",
                "call it an integer or a number.",
            )
        if target.type == "integer" and formula.decimals(columns) != 0:
            refuse_rule(
                f"column {name!r} is of whole numbers, and its parts may not be.", "call it a number."
            )
        loose = next((part for part in formula.columns if columns[part].missing is not False), None)
        if target.missing is False and loose is not None:
            refuse_rule(
                f"column {name!r} is never missing, but {loose!r}, from which it is worked out, may be.",
                f"write missing = false for {loose!r} too, or leave it out for {name!r}.",
            )

    def __str__(self) -> str:
        return self.derive


@dataclass(frozen=True)
class Determines(Constraint):
    """A column whose value decides another's: a city its state.

    Parameters:
        column: the one that decides.
        determines: the one that is decided.
        values: which value goes with which, where that is public. By default each goes with the one that the model
            finds it with most often.
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("column", "determines", "values")
    column: str
    determines: str
    values: Mapping[Any, Value] | Sequence[tuple[Value, Value]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        text("column", self.column)
        text("determines", self.determines)
        if self.values is not None:
            pairs = self.values.items() if isinstance(self.values, Mapping) else self.values
            object.__setattr__(self, "values", tuple(_pair(pair) for pair in pairs))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column, self.determines)

    @property
    def pairs(self) -> tuple[tuple[Value, Value], ...]:
        """Which value goes with which; none where that is not known."""
        assert not isinstance(self.values, Mapping)
        return tuple(self.values or ())

    @property
    def assigned(self) -> str:
        return self.determines

    def conditions(self) -> tuple[Condition, ...]:
        """For each value of the second column, that only its own of the first go with it."""
        groups: dict[Value, list[Value]] = {}
        for value, goes_with in self.pairs:
            groups.setdefault(goes_with, []).append(value)
        return tuple(
            Or((Not(Membership(self.column, tuple(group))), Compares(self.determines, "=", goes_with)))
            for goes_with, group in groups.items()
        )

    def fields(self) -> dict[str, Any]:
        listed = {} if self.values is None else {"values": [list(pair) for pair in self.pairs]}
        return {"column": self.column, "determines": self.determines} | listed

    def check(self, columns: Mapping[str, Column]) -> None:
        check_known(self.columns, columns)
        if self.count and self.values is None:
            refuse_rule(
                "count has nothing to go by.", "list the values that go together, or leave count out."
            )
        if self.column == self.determines:
            refuse_rule(f"column {self.column!r} determines itself.", "name two columns.")
        for condition in self.conditions():
            check(condition, columns)
        keys = [
            meaning(columns[self.column], value, {}) if columns[self.column].compared_as != "text" else value
            for value, _ in self.pairs
        ]
        twice = (
            next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
        )
        if twice is not None:
            refuse_rule(
                f"value {twice!r} of column {self.column!r} is listed twice.", "list each value once."
            )
        for name in self.columns:
            if not _one_by_one(columns[name]):
                refuse_rule(
                    f"column {name!r} has codes that stand for more than one value.",
                    "make it a category, or whole numbers one by one between known bounds.",
                )

    def __str__(self) -> str:
        return f"{column_text(self.column)} determines {column_text(self.determines)}"


def _one_by_one(column: Column) -> bool:
    """Whether each code of a column will stand for one value, whatever is learned."""
    if column.compared_as in ("moment", "time"):
        return False
    spans = None if column.unlearned else column.spans()
    return column.compared_as == "text" if spans is None else bool((spans[0] == spans[1]).all())


def _pair(pair: Any) -> tuple[Value, Value]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        refuse_rule(f"values: {pair!r} is not a pair.", 'write values = [["Boston", "MA"], ["Salem", "MA"]].')
    for value in pair:
        if not isinstance(value, str | int | float):
            refuse_rule(f"values: {value!r} is not text, a number or a boolean.", "use one of these.")
    return pair[0], pair[1]
