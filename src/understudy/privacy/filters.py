"""Spending a budget when later scales depend on earlier answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from understudy.errors import BudgetError
from understudy.privacy import zcdp
from understudy.privacy.budget import Budget
from understudy.privacy.losses import Loss


@dataclass(frozen=True)
class Filter:
    """A budget and what has been charged to it so far, by the zCDP filter.

    Each loss may be chosen after seeing every earlier answer; the promise holds as long as the rhos that were
    admitted add up to no more than the budget's. Proof: docs/privacy.md, "Accounting".
    """

    budget: Budget
    losses: tuple[Loss, ...] = ()

    @property
    def limit(self) -> float:
        """The rho that the budget allows in all, after the delta that losses added outright."""
        left = self.budget.delta - self.slack
        return zcdp.rho(self.budget.epsilon, left) if left > 0 else 0.0

    @property
    def slack(self) -> float:
        """The delta that losses added outright."""
        return math.fsum(loss.slack for loss in self.losses)

    @property
    def spent(self) -> float:
        """The rho charged so far."""
        return math.fsum(loss.rho for loss in self.losses)

    @property
    def left(self) -> float:
        """The rho that may still be charged."""
        return max(0.0, self.limit - self.spent)

    def admits(self, losses: Iterable[Loss]) -> bool:
        """Whether these losses, on top of those charged, stay within the budget."""
        after = Filter(self.budget, (*self.losses, *losses))
        return (
            after.spent <= after.limit and math.fsum(loss.slack for loss in after.losses) < after.budget.delta
        )

    def charge(self, *losses: Loss) -> Filter:
        """The filter with these losses charged as well; refused when they do not fit."""
        if not self.admits(losses):
            asked = math.fsum(loss.rho for loss in losses)
            raise BudgetError(
                f"a charge of rho {asked:.6g} is more than the {self.left:.6g} left of {self.limit:.6g}.",
                hint="ask for less.",
            )
        return Filter(self.budget, (*self.losses, *losses))
