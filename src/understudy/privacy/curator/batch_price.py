"""What a batch of marginals costs, and the noise that it buys. Nothing here reads records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.errors import BudgetError
from understudy.privacy.accounting.budget import Budget
from understudy.privacy.accounting.losses import Gaussian, Laplace, Loss, Slack
from understudy.privacy.accounting.spending import Allowance, check_slack, rounded_up, table_slack
from understudy.privacy.curator.discovery import laplace_scale
from understudy.privacy.noise.discrete_noise import laplace_error, table_error


@dataclass(frozen=True)
class BatchPrice:
    """The allowance after a batch, its losses, and the noise scale of each of its marginals."""

    allowance: Allowance
    losses: tuple[Loss, ...]
    scales: tuple[float, ...]

    @property
    def pure(self) -> bool:
        """Whether the noise is Laplace's; else it is Gaussian."""
        return isinstance(self.losses[0], Laplace)

    @property
    def spread(self) -> float:
        """The standard deviation of noise of scale one."""
        return math.sqrt(2) if self.pure else 1.0


def price_batch(
    allowance: Allowance, budget: Any, weights: tuple[float, ...], sizes: Sequence[int]
) -> BatchPrice:
    """The price of marginals of these sizes, at a loss of a plan or at a Budget set aside for them."""
    if isinstance(budget, Laplace):
        return _pure(allowance, budget, weights, sizes)
    neighbours = allowance.neighbours
    if isinstance(budget, Budget):
        allowance, loss = allowance.single(budget, weights)
    elif isinstance(budget, Gaussian):
        loss = Gaussian(budget.sigma, weights, neighbours)
    else:
        raise BudgetError(f"measure needs a Gaussian or Laplace loss or a Budget, not {budget!r}.")
    scales = tuple(rounded_up(loss.scales))
    distance = sum((n * table_error(s) for n, s in zip(sizes, scales, strict=True)), Fraction(0))
    slack = table_slack(distance, allowance.budget.epsilon)
    if isinstance(budget, Gaussian):
        allowance = allowance.charge(budget, loss, slack)
    else:
        check_slack(slack, budget)
    return BatchPrice(allowance, (loss, Slack(slack)), scales)


def _pure(
    allowance: Allowance, budget: Laplace, weights: tuple[float, ...], sizes: Sequence[int]
) -> BatchPrice:
    """Marginals at a Laplace loss: each is one of its answers."""
    if len(set(weights)) > 1:
        raise BudgetError("marginals at a Laplace loss all weigh the same.", hint="leave the weights out.")
    one = Laplace(budget.epsilon)
    scale = laplace_scale(one.epsilon, allowance.neighbours)
    slack = table_slack(sum(sizes) * laplace_error(scale), allowance.budget.epsilon)
    for _ in sizes:
        allowance = allowance.charge(one, one, slack / len(sizes))
    return BatchPrice(allowance, (Laplace(one.epsilon, len(sizes)), Slack(slack)), (scale,) * len(sizes))
