"""How many records units have: noisy numbers of units, before any bound on what a unit contributes.

A unit falls in one cell, by how many records it has, whatever those hold. So one unit more or less moves one cell by
one, and the histogram has sensitivity one however many records a unit has: docs/privacy.md, "Records of a unit".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import BudgetError, ParameterError
from understudy.marginals import Counter
from understudy.privacy.accounting.budget import Budget
from understudy.privacy.accounting.losses import Approximate, Loss
from understudy.privacy.accounting.spending import Allowance, table_slack
from understudy.privacy.curator.discovery import laplace_scale
from understudy.privacy.curator.exact_counts import ExactCounts, unit_counter
from understudy.privacy.curator.question import Question
from understudy.privacy.ledger.stored_answers import pack, unpack
from understudy.privacy.noise.discrete_noise import discrete_laplace, laplace_error
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

MOST_SIZES = 10_000  # cells
QUESTION = "unit sizes"  # its name in the ledger and the certificate


@dataclass(frozen=True)
class UnitSizes:
    """Noisy numbers of units: those with `starts[i]` records or more, up to the next start; and the noise's scale."""

    starts: tuple[int, ...]
    units: npt.NDArray[np.int64]
    scale: float


@dataclass(frozen=True)
class SizesPrice:
    """What the question costs, and the scale of the noise that it buys."""

    allowance: Allowance
    losses: tuple[Loss, ...]
    scale: float


@dataclass(frozen=True)
class SizesQuestion(Question[SizesPrice, UnitSizes]):
    """How many units have how many records: see `Curator.unit_sizes`."""

    starts: tuple[int, ...]
    budget: Any

    @classmethod
    def of(cls, starts: Sequence[int], budget: Budget) -> Self:
        """The question, once everything handed in was checked and copied."""
        asked = tuple(int(start) for start in starts)
        if not 0 < len(asked) <= MOST_SIZES or asked[0] != 1 or any(np.diff(asked) < 1):
            raise ParameterError("starts of unit sizes go up from 1.", hint="such as (1, 2, 3, 5, 10).")
        return cls(asked, plain_value(budget, Budget))

    def check(self, engine: Counter) -> None:
        unit_counter(engine)

    def price(self, allowance: Allowance) -> SizesPrice:
        if not isinstance(self.budget, Budget):
            raise BudgetError(f"unit_sizes needs a Budget, not {self.budget!r}.")
        if allowance.parts and any(part.rule != "one question" for part in allowance.parts):
            raise BudgetError("unit sizes are asked for before a plan is committed.", hint="ask first.")
        scale = laplace_scale(self.budget.epsilon, replace(allowance.neighbours, records=1))
        slack = table_slack(len(self.starts) * laplace_error(scale), allowance.budget.epsilon)
        if not slack <= self.budget.delta:
            raise BudgetError(f"delta {self.budget.delta!r} is below the precision of the noise tables.")
        cost = Approximate(self.budget.epsilon, self.budget.delta)
        return SizesPrice(allowance.set_aside(self.budget), (cost,), scale)

    def words(self, price: SizesPrice) -> dict[str, Any]:
        return {"question": QUESTION, "starts": list(self.starts), "scales": [price.scale]}

    def draw(self, counts: ExactCounts, source: Randomness, price: SizesPrice) -> bytes:
        exact = counts.unit_sizes(self.starts)
        return pack([exact + discrete_laplace(price.scale, exact.size, source)])

    def unpack(self, answer: bytes, price: SizesPrice) -> UnitSizes:
        (units,) = unpack(answer, [len(self.starts)])
        return UnitSizes(self.starts, units, price.scale)
