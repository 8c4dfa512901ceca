"""What several losses cost together, in (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from understudy.errors import BudgetError
from understudy.privacy import zcdp
from understudy.privacy.budget import probability, real
from understudy.privacy.losses import Loss


@dataclass(frozen=True)
class Composition:
    """Several losses taken together, in any order, each free to depend on the answers before it."""

    losses: tuple[Loss, ...]

    @property
    def rho(self) -> float:
        """The summed rho of zero-concentrated privacy, `slack` aside."""
        return math.fsum(loss.rho for loss in self.losses)

    @property
    def slack(self) -> float:
        """The summed delta that is added outright."""
        return math.fsum(loss.slack for loss in self.losses)

    def delta(self, epsilon: float) -> float:
        """The smallest delta proved at this epsilon."""
        return self.slack + zcdp.delta(self.rho, real("epsilon", epsilon))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon proved at this delta."""
        return self.zcdp_epsilon(delta)

    def zcdp_epsilon(self, delta: float) -> float:
        """The epsilon of the tight conversion from rho: what common practice would report."""
        left = probability("delta", delta) - self.slack
        return zcdp.epsilon(self.rho, left) if left > 0 else math.inf

    def paper_epsilon(self, delta: float) -> float:
        """The epsilon of the paper's conversion, rho + 2 sqrt(rho ln(1/delta))."""
        left = probability("delta", delta) - self.slack
        return zcdp.paper_epsilon(self.rho, left) if left > 0 else math.inf


def compose(losses: Iterable[Loss]) -> Composition:
    """The composition of these losses."""
    checked = tuple(losses)
    for loss in checked:
        if not isinstance(loss, Loss):
            raise BudgetError(f"{loss!r} is not a loss.")
    return Composition(checked)
