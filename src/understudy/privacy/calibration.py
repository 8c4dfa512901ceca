"""How a mechanism's plan shares one budget: exact shares of one rho, and the largest rho that fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from understudy.errors import BudgetError
from understudy.privacy.budget import Budget, Neighbours, whole
from understudy.privacy.composition import Composition, compose
from understudy.privacy.losses import Choice, Gaussian, Laplace, Loss, normalised

_KINDS = ("measure", "choose", "laplace")


@dataclass(frozen=True)
class Group:
    """One step of a plan and its share of the budget.

    "measure": one batch of marginals (`weights` None: not known yet, the worst is assumed).
    "choose": `count` private choices. "laplace": `count` pure differentially private answers.
    """

    name: str
    kind: str
    share: Fraction
    count: int = 1
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BudgetError(f"group name {self.name!r} is not a non-empty string.")
        if self.kind not in _KINDS:
            raise BudgetError(f"group {self.name!r}: kind {self.kind!r} is not one of {', '.join(_KINDS)}.")
        if isinstance(self.share, bool) or not isinstance(self.share, Fraction | int):
            raise BudgetError(
                f"group {self.name!r}: share {self.share!r} is not an exact fraction.",
                hint="use fractions.Fraction(1, 3), not 0.333.",
            )
        if not 0 < self.share <= 1:
            raise BudgetError(f"group {self.name!r}: share {self.share} is not above 0 and at most 1.")
        object.__setattr__(self, "share", Fraction(self.share))
        object.__setattr__(self, "count", whole("count", self.count))
        if self.kind == "measure" and self.count != 1:
            raise BudgetError(
                f"group {self.name!r}: a measure group is one batch, not {self.count}.",
                hint="give one weight for each marginal, or one group for each batch.",
            )
        if self.weights is not None:
            if self.kind != "measure":
                raise BudgetError(f"group {self.name!r}: only a measure group has weights.")
            object.__setattr__(self, "weights", normalised(self.weights))

    def loss(self, rho: float, neighbours: Neighbours = Neighbours()) -> Loss:
        """The loss of this group when the whole plan may cost `rho`."""
        part = self.share.numerator * rho / self.share.denominator
        if self.kind == "measure":
            return Gaussian(math.sqrt(0.5 / part), self.weights, neighbours)
        if self.kind == "choose":
            return Choice(math.sqrt(8 * part / self.count), self.count)
        return Laplace(math.sqrt(2 * part / self.count), self.count)


@dataclass(frozen=True)
class Calibration:
    """A plan whose losses fill a budget and do not exceed it."""

    budget: Budget
    groups: tuple[Group, ...]
    rho: float
    losses: dict[str, Loss]
    composition: Composition


def checked_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups of a plan, their names distinct and their shares adding up to exactly one."""
    plan = tuple(groups)
    names = [group.name for group in plan]
    if len(set(names)) != len(names):
        raise BudgetError(f"a plan's group names {names} are not distinct.")
    total = sum((group.share for group in plan), Fraction(0))
    if total != 1:
        raise BudgetError(f"a plan's shares add up to {total}, not to 1.", hint="use exact fractions.")
    return plan


def calibrate(budget: Budget, groups: Iterable[Group], neighbours: Neighbours = Neighbours()) -> Calibration:
    """The plan with the largest rho whose composition stays within the budget."""
    plan = checked_groups(groups)
    rho = budget.rho
    losses = {group.name: group.loss(rho, neighbours) for group in plan}
    return Calibration(budget, plan, rho, losses, compose(losses.values()))
