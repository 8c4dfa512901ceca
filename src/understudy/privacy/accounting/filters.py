"""Spending a budget when later scales depend on earlier answers.

Two rules, one of which must be chosen before the first question: `Filter` adds up rho and takes any losses,
`GaussianFilter` adds up mu^2 and takes Gaussians only, for a little more budget. Proofs: docs/privacy.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from understudy.errors import BudgetError
from understudy.privacy.accounting import gaussian, zcdp
from understudy.privacy.accounting.budget import Budget
from understudy.privacy.accounting.discretisation import TAU2, smooth
from understudy.privacy.accounting.losses import Gaussian, Loss

FILTER_RULE = "zCDP filter"  # as certificates name it
# The share of delta that a zCDP filter sets aside, before its first question, for what losses add outright. Who
# may trade slack for rho after looking at answers can have more of both than either alone would allow. Slack may
# fill half of it: that of noise tables counts in both worlds, whose answers may have led to different questions.
SET_ASIDE = 2.0**-3
# What an all-Gaussian filter sets aside, of epsilon and of delta, for the noise being discrete.
_ASIDE = 1e-6


@dataclass(frozen=True)
class Filter:
    """A budget and what has been charged to it so far, by the zCDP filter.

    Each loss may be chosen after seeing every earlier answer; the promise holds as long as the rhos that were
    admitted, and what they add to delta outright, each stay within a limit that was fixed before the first.
    Proof: docs/privacy.md, "Accounting".
    """

    budget: Budget
    losses: tuple[Loss, ...] = ()

    @property
    def limit(self) -> float:
        """The rho that the budget allows in all: fixed, whatever is asked."""
        return zcdp.rho(self.budget.epsilon, _kept(self.budget.delta))

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
        return after.spent <= self.limit and _fits(after.slack, self.budget.delta)

    def charge(self, *losses: Loss) -> Filter:
        """The filter with these losses charged as well; refused when they do not fit."""
        if not self.admits(losses):
            asked, slack = math.fsum(loss.rho for loss in losses), math.fsum(loss.slack for loss in losses)
            if not _fits(self.slack + slack, self.budget.delta):
                raise BudgetError(
                    f"a charge of delta {slack:.6g} is more than is left of what was set aside for it: "
                    f"{self.budget.delta * SET_ASIDE / 2:.6g} in all.",
                    hint="ask for less, or give a Budget in place of the loss, before any question at a loss.",
                )
            raise BudgetError(
                f"a charge of rho {asked:.6g} is more than the {self.left:.6g} left of {self.limit:.6g}.",
                hint="ask for less.",
            )
        return Filter(self.budget, (*self.losses, *losses))


@dataclass(frozen=True)
class GaussianFilter:
    """A budget and what has been charged to it so far, by the mu^2 filter: for batches of marginals only."""

    budget: Budget
    losses: tuple[Gaussian, ...] = ()

    @property
    def limit(self) -> float:
        """The mu^2 that the budget allows in all."""
        epsilon, delta = self.budget.epsilon * (1 - _ASIDE), self.budget.delta * (1 - 2 * _ASIDE)
        low, high = -100.0, 100.0
        while high - low > 1e-13:
            middle = 0.5 * (low + high)
            if gaussian.delta(math.exp(middle), epsilon) <= delta:
                low = middle
            else:
                high = middle
        return math.exp(2 * low)

    @property
    def spent(self) -> float:
        """The mu^2 charged so far; a batch counts with the mu^2 of the continuous noise that bounds it."""
        return math.fsum(_bound(loss)[0] for loss in self.losses)

    @property
    def left(self) -> float:
        """The mu^2 that may still be charged."""
        return max(0.0, self.limit - self.spent)

    def admits(self, losses: Iterable[Gaussian]) -> bool:
        """Whether these batches, on top of those charged, stay within the budget."""
        bounds = [_bound(loss) for loss in (*self.losses, *losses)]
        spent, shift, factor = (
            (math.fsum(column) for column in zip(*bounds, strict=True)) if bounds else (0, 0, 0)
        )
        return spent <= self.limit and shift <= _ASIDE * self.budget.epsilon and factor <= _ASIDE

    def charge(self, *losses: Gaussian) -> GaussianFilter:
        """The filter with these batches charged as well; refused when they do not fit."""
        if not self.admits(losses):
            raise BudgetError(
                f"a batch is more than the mu^2 of {self.left:.6g} left of {self.limit:.6g}.",
                hint="use a larger sigma.",
            )
        return GaussianFilter(self.budget, (*self.losses, *losses))


def filtered_epsilon(losses: Sequence[Loss], delta: float) -> float:
    """The epsilon, at this delta, of losses that a zCDP filter admitted; infinite where none would have.

    Each may have been chosen by earlier answers, so they are not composed as if they had been fixed beforehand.
    """
    if not _fits(math.fsum(loss.slack for loss in losses), delta):
        return math.inf
    return zcdp.epsilon(math.fsum(loss.rho for loss in losses), _kept(delta))


def _kept(delta: float) -> float:
    """What is left of delta for the losses themselves."""
    return delta * (1 - SET_ASIDE)


def _fits(slack: float, delta: float) -> bool:
    """Whether slack fits in half of what is set aside."""
    return 2 * slack <= delta * SET_ASIDE


def _bound(loss: Gaussian) -> tuple[float, float, float]:
    """mu^2, shift and ln factor of continuous noise that bounds a batch."""
    if not isinstance(loss, Gaussian):
        raise BudgetError(f"{loss!r} is not a Gaussian loss.", hint="use Filter, which takes any loss.")
    bound = smooth([loss], TAU2[0])
    if bound is None:
        raise BudgetError(
            f"sigma {loss.sigma:.6g} is too small to be charged as continuous noise.",
            hint="use a larger sigma, more marginals in the batch, or Filter.",
        )
    return bound.mu2, bound.shift, bound.log_factor
