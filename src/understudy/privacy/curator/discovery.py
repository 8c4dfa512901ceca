"""Which values of an open column occur often enough to be named: noise, then a threshold.

The price is decided by the budget alone. Proof: docs/privacy.md, "The curator".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import BudgetError
from understudy.marginals import Counter
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.losses import LOSSES, Approximate, Gaussian, Loss, Slack
from understudy.privacy.accounting.spending import DISCOVERY_SHARE, Allowance, rounded_up, table_slack
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.exact_counts import ExactCounts, open_column
from understudy.privacy.curator.question import Question
from understudy.privacy.ledger.stored_answers import pack_text, unpack_text
from understudy.privacy.noise.discrete_noise import (
    discrete_gaussian,
    discrete_laplace,
    laplace_error,
    table_error,
)
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

Value = str | int | bool
Draw = Callable[[float, int, Randomness], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Discovery:
    """The values of a column that were released, in an order that says nothing of their counts.

    `delta` bounds the probability that a value is named that would not exist without one unit's records.
    """

    column: str
    values: tuple[Value, ...]
    delta: float
    scale: float
    threshold: int

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class DiscoveryPrice:
    """What a discovery costs, and the noise and threshold that it buys."""

    allowance: Allowance
    losses: tuple[Loss, ...]
    draw: Draw
    scale: float
    delta: float
    threshold: int


def price_discovery(allowance: Allowance, budget: Any) -> DiscoveryPrice:
    """The price of one discovery at a budget or loss, and the allowance after it."""
    neighbours, epsilon = allowance.neighbours, allowance.budget.epsilon
    if isinstance(budget, Gaussian):
        allowance, loss = allowance.piece(budget)
        share = DISCOVERY_SHARE * min(1.0, budget.sigma / loss.sigma) ** 2  # the square of the piece's weight
        delta = allowance.parts[-1].budget.delta * share
        (scale,) = rounded_up(loss.scales)
        slack = delta + table_slack(neighbours.l1 * table_error(scale), epsilon)
        least = gaussian_threshold(scale, delta, neighbours)
        after = allowance.charge(loss, loss, slack)
        return DiscoveryPrice(after, (loss, Slack(slack)), discrete_gaussian, scale, delta, least)
    if isinstance(budget, Budget | Approximate) and budget.epsilon > 0:
        cost = Approximate(budget.epsilon, budget.delta)
        scale = laplace_scale(budget.epsilon, neighbours)
        delta = budget.delta - table_slack(neighbours.l1 * laplace_error(scale), epsilon)
        if delta <= 0:
            raise BudgetError(f"delta {budget.delta!r} is below the precision of the noise tables.")
        least = laplace_threshold(scale, delta, neighbours)
        after = (
            allowance.set_aside(budget) if isinstance(budget, Budget) else allowance.charge(cost, cost, 0.0)
        )
        return DiscoveryPrice(after, (cost,), discrete_laplace, scale, delta, least)
    raise BudgetError(f"discover needs a Budget or a loss, not {budget!r}.")


def laplace_scale(epsilon: float, neighbours: Neighbours) -> float:
    """The scale of discrete Laplace noise at which counts a unit moves by l1 in all are epsilon-private."""
    return neighbours.l1 / epsilon * (1 + 2.0**-50)  # rounded up


def laplace_threshold(scale: float, delta: float, neighbours: Neighbours) -> int:
    """The least noisy count to release: l1 P(noise >= m) <= delta, P = q^m / (1 + q) at q = e^(-1/scale)."""
    q = math.exp(-1 / scale)
    return _threshold(scale * (math.log(neighbours.l1 / delta) - math.log1p(q)), neighbours)


def gaussian_threshold(scale: float, delta: float, neighbours: Neighbours) -> int:
    """The least noisy count to release: l1 P(noise >= m) <= delta, P <= exp(-m^2 / (2 scale^2))."""
    return _threshold(scale * math.sqrt(2 * max(0.0, math.log(neighbours.l1 / delta))), neighbours)


def _threshold(beyond: float, neighbours: Neighbours) -> int:
    # A value that only one unit holds has at most `records` of them; the noise must bring the rest. The
    # margin is far above the rounding of the few operations behind `beyond`.
    return neighbours.records + max(1, math.ceil(beyond * (1 + 1e-9) + 1e-9))


def countable(counts: Mapping[Any, int]) -> list[tuple[Value, int]]:
    """The values that a release can hold, with their counts; others are passed over, never an error.

    In an order of their own, so that the same noise meets the same value whichever engine counted them.
    """
    return sorted(((value, int(count)) for value, count in counts.items() if _holds(value)), key=_order)


def _holds(value: Any) -> bool:
    """Whether a release can hold this value: a boolean, an integer of 64 bits, a text that UTF-8 can write."""
    if type(value) is str:
        return not any("\ud800" <= char <= "\udfff" for char in value)
    return type(value) is bool or (type(value) is int and -(2**63) <= value < 2**63)


def released(counts: Iterable[tuple[Value, int]], noise: npt.NDArray[np.int64], least: int) -> list[Value]:
    """The values whose noisy count reaches the threshold, sorted by type and value."""
    noisy = zip(counts, noise.tolist(), strict=True)
    kept = [value for (value, count), extra in noisy if count + extra >= least]
    return sorted(kept, key=lambda value: _order((value, 0)))


def _order(counted: tuple[Value, int]) -> tuple[str, Value]:
    """The key that sorts counted values by their type, then by value."""
    return type(counted[0]).__name__, counted[0]


@dataclass(frozen=True)
class DiscoveryQuestion(Question[DiscoveryPrice, Discovery]):
    """The values of an open column that occur often enough: see `Curator.discover`."""

    column: str
    budget: Any

    @classmethod
    def of(cls, column: str, budget: Loss | Budget) -> Self:
        """The question, once everything handed in was checked and copied."""
        return cls(question_checks.column(column), plain_value(budget, Budget, *LOSSES))

    def check(self, engine: Counter) -> None:
        open_column(engine, self.column)

    def price(self, allowance: Allowance) -> DiscoveryPrice:
        return price_discovery(allowance, self.budget)

    def words(self, price: DiscoveryPrice) -> dict[str, Any]:
        return {
            "question": "discover",
            "column": self.column,
            "scales": [price.scale],
            "threshold": price.threshold,
            "delta": price.delta,
        }

    def draw(self, counts: ExactCounts, source: Randomness, price: DiscoveryPrice) -> bytes:
        return pack_text(self._named(counts, source, price))

    def _named(self, counts: ExactCounts, source: Randomness, price: DiscoveryPrice) -> list[Value]:
        """The values whose noisy count reaches the threshold: the only form in which values leave."""
        exact = countable(counts.values(self.column))
        return released(exact, price.draw(price.scale, len(exact), source), price.threshold)

    def unpack(self, answer: bytes, price: DiscoveryPrice) -> Discovery:
        values = tuple(unpack_text(answer))
        return Discovery(self.column, values, price.delta, price.scale, price.threshold)
