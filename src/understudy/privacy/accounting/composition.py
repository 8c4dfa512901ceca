"""What several losses cost together, in (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from understudy.errors import BudgetError
from understudy.privacy.accounting import curves, gaussian, zcdp
from understudy.privacy.accounting.budget import Neighbours, probability, real
from understudy.privacy.accounting.losses import Filtered, Loss


@dataclass(frozen=True)
class Composition:
    """Several losses in the order of time, each question free to depend on the answers before it.

    Their scales are fixed beforehand, but for what is `Filtered`: then all add up by zCDP. Choices keep their order,
    and none may follow what comes after the last; measurements before it may be asked anywhere among the choices.
    With a `refund`, choices that are left out at the end may be measured instead, at a Gaussian loss of the same rho
    and such neighbours. Every number is an upper bound. Proof: docs/privacy.md, "Accounting".
    """

    losses: tuple[Loss, ...]
    refund: Neighbours | None = None

    @cached_property
    def rho(self) -> float:
        """The summed rho of zero-concentrated privacy, `slack` aside."""
        return math.fsum(loss.rho for loss in self.losses)

    @cached_property
    def slack(self) -> float:
        """The summed delta that is added outright."""
        return math.fsum(loss.slack for loss in self.losses) * (1 + 1e-15)

    def delta(self, epsilon: float) -> float:
        """The smallest delta proved at this epsilon (0 or more)."""
        number = real("epsilon", epsilon)
        if number < 0:
            raise BudgetError(f"epsilon {number!r} is below 0.", hint="epsilon must be 0 or more.")
        return self.delta_at(number)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon proved at this delta; infinite where the slack alone exceeds it."""
        left = self._left(delta)
        if left <= 0:
            return math.inf
        if not self.rho:
            return 0.0
        guess = zcdp.epsilon(self.rho, left)
        if guess <= 0:
            return 0.0
        return min(guess, gaussian.crossing(lambda e: self._tight(e, guess, curves.RESOLUTION), left, guess))

    def zcdp_epsilon(self, delta: float) -> float:
        """The epsilon of the tight conversion from rho: what common practice would report."""
        left = self._left(delta)
        return zcdp.epsilon(self.rho, left) if left > 0 else math.inf

    def delta_at(self, epsilon: float, resolution: float = curves.RESOLUTION) -> float:
        """`delta`, on a grid of this resolution: a coarse one is quick, and still an upper bound."""
        slack = min(1.0, self.slack)
        return slack + (1 - slack) * self._tight(epsilon, epsilon, resolution)

    def rough_delta(self, epsilon: float) -> float:
        """About what `delta` is, at once and without proof: where a search for it may begin."""
        slack = min(1.0, self.slack)
        rough = min(curves.roughly(self._plan, epsilon), zcdp.delta(self.rho, epsilon)) if self.rho else 0.0
        return slack + (1 - slack) * rough

    def _left(self, delta: float) -> float:
        """What a delta leaves for losses once an event of probability `slack` is given away."""
        slack = min(1.0, self.slack)
        left = (probability("delta", delta) - slack) * (1 - 1e-15)
        return left / (1 - slack) if left > 0 else 0.0

    def _tight(self, epsilon: float, near: float, resolution: float) -> float:
        """The better of the exact curve and zCDP, which it may not exceed."""
        if not self.rho:
            return 0.0
        if any(isinstance(loss, Filtered) for loss in self.losses):
            return zcdp.delta(self.rho, epsilon)  # of losses that answers choose there is no other curve
        plan = self._plan
        if plan.choices:
            exact = curves.with_choices(plan, epsilon, near, resolution)
        else:
            exact = curves.without_choices(plan, epsilon, near)
        return min(exact, zcdp.delta(self.rho, epsilon))

    @cached_property
    def _plan(self) -> curves.OrderedLosses:
        return curves.OrderedLosses.of(self.losses, self.refund)


def compose(losses: Iterable[Loss], refund: Neighbours | None = None) -> Composition:
    """The composition of these losses, given in the order of time; with a `refund` for choices left out, if any."""
    checked = tuple(losses)
    for loss in checked:
        if not isinstance(loss, Loss):
            raise BudgetError(f"{loss!r} is not a loss.", hint="give Gaussian, Choice, Laplace and so on.")
    return Composition(checked, refund)
