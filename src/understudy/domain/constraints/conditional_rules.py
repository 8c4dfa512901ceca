"""Constraints that are conditions: an order, what follows from what, what never is, what is missing together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from understudy.domain.columns.column import Column
from understudy.domain.columns.moment import LENGTHS
from understudy.domain.columns.parts.fields import text
from understudy.domain.conditions import (
    And,
    Compares,
    Condition,
    IsMissing,
    Not,
    Or,
    Reference,
    column_text,
    columns_of,
    conjuncts,
    parse,
)
from understudy.domain.constraints.constraint import Constraint, refuse_rule


@dataclass(frozen=True)
class Order(Constraint):
    """Columns in order, each below the next.

    Parameters:
        order: columns with < or <= between them: "admitted <= discharged", or a longer chain.
        by: "differences" to model how far a column lies after the one before it, "values" to model each by itself.
            By default differences, wherever two columns allow it.
        most: the largest difference between two neighbours that there is publicly known to be: a number, of dates so
            many days, or a text such as "36 hours". Larger ones count as this. By default as far as bounds allow.
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("order", "by", "most")
    order: str
    by: str | None = None
    most: float | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by not in (None, "differences", "values"):
            refuse_rule(f"by {self.by!r} is not known.", 'write "differences" or "values".')
        if self.most is not None:
            self.length(number=True)
        pairs = _chain(self.order)
        steps = "".join(f" {pair.operator} {pair.value}" for pair in pairs)
        object.__setattr__(self, "order", column_text(pairs[0].column) + steps)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for pair in self.conditions() for name in columns_of(pair)))

    def conditions(self) -> tuple[Condition, ...]:
        return _chain(self.order)

    def length(self, *, number: bool) -> float | None:
        """The largest difference there is, as a number; of times, where they are not a `number`, in microseconds."""
        most = self.most
        if most is None:
            return None
        said = (
            re.fullmatch(r"(\d{1,9}) *(day|hour|minute|second)s?", most.strip())
            if isinstance(most, str)
            else None
        )
        if said is not None and int(said[1]) > 0:
            return int(said[1]) * LENGTHS[said[2]]
        if isinstance(most, str | bool) or not isinstance(most, int | float) or not 0 < most < 1e15:
            refuse_rule(
                f"most {most!r} is no length.", 'write a number above 0, or a text such as "36 hours".'
            )
        return most if number else round(most * LENGTHS["day"])

    def fields(self) -> dict[str, Any]:
        more = {"by": self.by, "most": self.most}
        return {"order": self.order} | {key: value for key, value in more.items() if value is not None}

    def check(self, columns: Mapping[str, Column]) -> None:
        super().check(columns)
        kinds = {columns[name].compared_as for name in self.columns}
        if isinstance(self.most, str) and not kinds <= {"moment", "time"}:
            refuse_rule(
                f"most {self.most!r} is a length of time, and {self.order} is not.", "write a number."
            )

    def __str__(self) -> str:
        return self.order


@dataclass(frozen=True)
class Implies(Constraint):
    """Where one condition is true, another is not false.

    Parameters:
        condition: what comes first, such as "age < 15"; `if` in a schema file.
        then: what follows from it, such as "marital = 'single'".
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("if", "then")
    condition: str
    then: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in ("condition", "then"):
            object.__setattr__(self, part, str(parse(getattr(self, part))))

    @property
    def columns(self) -> tuple[str, ...]:
        return columns_of(self.conditions()[0])

    def conditions(self) -> tuple[Condition, ...]:
        return (Or((Not(parse(self.condition)), parse(self.then))),)

    def fields(self) -> dict[str, Any]:
        return {"if": self.condition, "then": self.then}

    def __str__(self) -> str:
        return f"if {self.condition} then {self.then}"


@dataclass(frozen=True)
class Never(Constraint):
    """What no record may be.

    Parameters:
        never: a condition, such as "age < 15 and income > 0".
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("never",)
    never: str

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "never", str(parse(self.never)))

    @property
    def columns(self) -> tuple[str, ...]:
        return columns_of(parse(self.never))

    def conditions(self) -> tuple[Condition, ...]:
        return (Not(parse(self.never)),)

    def fields(self) -> dict[str, Any]:
        return {"never": self.never}

    def __str__(self) -> str:
        return f"never {self.never}"


@dataclass(frozen=True)
class MissingTogether(Constraint):
    """Columns of which a record has all, or none.

    Parameters:
        together: two columns or more.
        count: whether a hundredth of the budget, shared by all such rules, goes to a noisy count of the records that
            break it; by default it is counted only where that is free.
        description: a text for readers.

    Raises:
        SchemaError: it cannot be read; the message says what of it.
    """

    keys = ("together",)
    together: Sequence[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.together, str) or not isinstance(self.together, Iterable):
            refuse_rule(
                f"together {self.together!r} is not a list of columns.", 'write together = ["a", "b"].'
            )
        object.__setattr__(self, "together", tuple(text("together", name) for name in self.together))
        if len(set(self.together)) != len(self.together) or len(self.together) < 2:
            refuse_rule(
                f"together {list(self.together)!r} does not name two columns or more, each once.", "name two."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.together)

    def conditions(self) -> tuple[Condition, ...]:
        return tuple(
            Or((And((IsMissing(a), IsMissing(b))), And((Not(IsMissing(a)), Not(IsMissing(b))))))
            for a, b in pairwise(self.together)
        )

    def fields(self) -> dict[str, Any]:
        return {"together": list(self.together)}

    def __str__(self) -> str:
        return f"{', '.join(map(column_text, self.together))} are missing together"


def _chain(said: str) -> tuple[Compares, ...]:
    """The comparisons of a chain of columns, each with the next, upwards."""
    found = conjuncts(parse(said))
    turned = {"<": "<", "<=": "<=", ">": "<", ">=": "<="}
    pairs = [
        (part, part.value.column)
        for part in found
        if isinstance(part, Compares) and isinstance(part.value, Reference) and part.operator in turned
    ]
    if len(pairs) < len(found):
        refuse_rule(
            f"order {said!r} is not columns with < or <= between them.", 'write "admitted <= discharged".'
        )
    if len({part.operator[0] for part, _ in pairs}) > 1:
        refuse_rule(f"order {said!r} goes up and down.", "write it in one direction, or as two rules.")
    if pairs[0][0].operator[0] == ">":
        chain = [
            Compares(b, "<" if a.operator == ">" else "<=", Reference(a.column)) for a, b in reversed(pairs)
        ]
    else:
        chain = [part for part, _ in pairs]
    names = [
        chain[0].column,
        *(str(part.value.column) for part in chain if isinstance(part.value, Reference)),
    ]
    linked = all(part.column == name for part, name in zip(chain, names, strict=False))
    if not linked or len(set(names)) < len(names):
        refuse_rule(f"order {said!r} is not one chain of columns.", "name each once, or write several rules.")
    return tuple(chain)
