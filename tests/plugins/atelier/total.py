"""How many records there are, with noise: as simple as a question gets. One record moves it by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from understudy.domain import Domain
from understudy.privacy.accounting.budget import Budget
from understudy.privacy.accounting.losses import LOSSES
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.noisy_marginals import BatchPrice, price_batch
from understudy.privacy.curator.question import Question
from understudy.privacy.ledger.stored_answers import pack, unpack
from understudy.privacy.noise.discrete_noise import discrete_gaussian
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value


@dataclass(frozen=True)
class TotalQuestion(Question[BatchPrice, int]):
    """The number of records, by Gaussian noise on the sum of one column's counts."""

    column: str
    budget: Any

    @classmethod
    def of(cls, domain: Domain, budget: Budget) -> Self:
        """The question, once everything handed in was checked and copied."""
        return cls(domain.names[0], plain_value(budget, Budget, *LOSSES))

    def price(self, allowance: Allowance) -> BatchPrice:
        return price_batch(allowance, self.budget, (1.0,), [1])

    def words(self, price: BatchPrice) -> dict[str, Any]:
        return {"question": "total", "scales": list(price.scales)}

    def draw(self, counts: ExactCounts, source: Randomness, price: BatchPrice) -> bytes:
        (exact,) = counts.tables([(self.column,)])
        return pack([exact.sum() + discrete_gaussian(price.scales[0], 1, source)])

    def unpack(self, answer: bytes, price: BatchPrice) -> int:
        return int(unpack(answer, [1])[0][0])
