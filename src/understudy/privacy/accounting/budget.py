"""What a run may cost: a budget of epsilon and delta, and who is protected by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import BudgetError
from understudy.privacy.accounting import zcdp

LARGE_EPSILON = 20.0
_RELATIONS = ("add-remove", "replace")


def real(name: str, value: Any) -> float:
    """`value` as a finite float, or an error that names the parameter `name`."""
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        raise BudgetError(f"{name} {value!r} is not a number.", hint="give a plain finite number.")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BudgetError(f"{name} {value!r} is not a number.", hint="give a plain finite number.") from None
    if not math.isfinite(number):
        raise BudgetError(f"{name} {number!r} is not finite.", hint="give a plain finite number.")
    return number


def positive(name: str, value: Any) -> float:
    """`value` as a float above zero, or an error that names the parameter."""
    number = real(name, value)
    if number <= 0:
        raise BudgetError(f"{name} {number!r} is not above 0.", hint=f"{name} must be a positive number.")
    return number


def probability(name: str, value: Any) -> float:
    """`value` as a float strictly between zero and one, or an error that names the parameter."""
    number = real(name, value)
    if not 0 < number < 1:
        raise BudgetError(
            f"{name} {number!r} is not between 0 and 1.", hint=f"{name} must lie strictly between 0 and 1."
        )
    return number


def whole(name: str, value: Any) -> int:
    """`value` as an integer of at least one, or an error that names the parameter."""
    number = real(name, value)
    if number != int(number) or number < 1:
        raise BudgetError(f"{name} {value!r} is not a whole number of at least 1.")
    return int(number)  # the number that was checked, whatever `value` would say when asked again


@dataclass(frozen=True)
class Budget:
    """The most that may be revealed about anyone: (epsilon, delta)-differential privacy.

    Parameters:
        epsilon: above 0. Above 20 it protects nobody in any useful sense, and is refused.
        delta: above 0 and below 1; far below one in as many as there are records.
        allow_large_epsilon: whether an epsilon above 20 is meant; no by default.

    Raises:
        BudgetError: a number is out of its range.
    """

    epsilon: float
    delta: float
    allow_large_epsilon: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        epsilon = positive("epsilon", self.epsilon)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "allow_large_epsilon", self.allow_large_epsilon is True)
        if epsilon > LARGE_EPSILON and not self.allow_large_epsilon:
            raise BudgetError(
                f"epsilon {epsilon!r} is above {LARGE_EPSILON:g}, where the promise is next to empty.",
                hint="use a smaller epsilon, or pass allow_large_epsilon=True to say that it is meant.",
            )

    @property
    def rho(self) -> float:
        """The largest rho for which rho-zCDP implies this budget."""
        return zcdp.rho(self.epsilon, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """The budget as plain JSON values."""
        plain: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        return {**plain, "allow_large_epsilon": True} if self.allow_large_epsilon else plain


@dataclass(frozen=True)
class Neighbours:
    """Which two tables must look alike: they differ by one unit. Proofs of both sensitivities: docs/privacy.md.

    Parameters:
        relation: "add-remove" (the default): the unit is in one table and not in the other. "replace": both hold a
            unit, and all of its records may differ.
        records: the most records that the unit owns; 1 by default.

    Raises:
        BudgetError: the relation is not known, or the number not whole and above 0.
    """

    relation: str = "add-remove"
    records: int = 1

    def __post_init__(self) -> None:
        if self.relation not in _RELATIONS:
            raise BudgetError(
                f"neighbour relation {self.relation!r} is not known.",
                hint='use "add-remove" or "replace".',
            )
        object.__setattr__(self, "relation", _RELATIONS[_RELATIONS.index(self.relation)])
        object.__setattr__(self, "records", whole("records", self.records))

    @property
    def l2(self) -> float:
        """How far, in Euclidean norm, neighbours can be apart in the counts of one marginal."""
        return self.records * (math.sqrt(2) if self.relation == "replace" else 1.0)

    @property
    def l1(self) -> int:
        """How far, in summed absolute counts, neighbours can be apart in one marginal."""
        return self.records * (2 if self.relation == "replace" else 1)

    def to_dict(self) -> dict[str, Any]:
        """The relation as plain JSON values."""
        return {"relation": self.relation, "records": self.records}


# One record, added or removed: what is protected unless something else is said.
ONE_RECORD = Neighbours()
