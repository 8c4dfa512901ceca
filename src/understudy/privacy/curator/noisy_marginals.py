"""A batch of noisy marginals (paper, "Measure Marginals"): what it costs, the noise that it buys, and the draw.

Proof: docs/privacy.md, "The curator".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.losses import LOSSES, Gaussian, GaussianPortion, Laplace, Loss, Slack
from understudy.privacy.accounting.spending import Allowance, check_slack, rounded_up, table_slack
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.discovery import laplace_scale
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.question import Question, array_bytes, digest
from understudy.privacy.curator.question_checks import Asked, Queries
from understudy.privacy.ledger.stored_answers import pack, unpack
from understudy.privacy.noise.discrete_noise import (
    discrete_gaussian,
    discrete_laplace,
    laplace_error,
    table_error,
)
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

Integers = npt.NDArray[np.int64]


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


def reach(query: Asked, neighbours: Neighbours) -> float:
    """How far one unit can move the answers of a query, in L2 norm; by default those of the marginal itself.

    Interactions are no table of counts: of several records, or one replaced, what each moves them by may add up.
    """
    return neighbours.l1 * math.sqrt(query.squared_move) if isinstance(query, Interactions) else neighbours.l2


def price_batch(
    allowance: Allowance, budget: Any, weights: tuple[float, ...], sizes: Sequence[int], queries: Queries = ()
) -> BatchPrice:
    """The price of marginals of these sizes, at a loss of a plan or at a Budget set aside for them."""
    if any(isinstance(query, Interactions) for query in queries):
        return _of_interactions(allowance, budget, weights, sizes, queries)
    if isinstance(budget, Laplace):
        return _pure(allowance, budget, weights, sizes)
    neighbours = allowance.neighbours
    if isinstance(budget, Budget):
        allowance, loss = allowance.single(budget, weights)
    elif isinstance(budget, Gaussian):
        loss = Gaussian(budget.sigma, weights, neighbours)
    elif isinstance(budget, GaussianPortion):
        question_checks.within_largest(weights, budget.largest)
        loss = budget.batch(weights, neighbours)
    else:
        raise BudgetError(f"measure needs a Gaussian or Laplace loss or a Budget, not {budget!r}.")
    scales = tuple(rounded_up(loss.scales))
    slack = _slack(scales, sizes, allowance)
    if isinstance(budget, Gaussian | GaussianPortion):
        allowance = allowance.charge(budget, loss, slack)
    else:
        check_slack(slack, budget)
    return BatchPrice(allowance, (loss, Slack(slack)), scales)


def _slack(scales: Sequence[float], sizes: Sequence[int], allowance: Allowance) -> float:
    """The delta of the noise tables that so many numbers of these scales are drawn from."""
    distance = sum((n * table_error(s) for n, s in zip(sizes, scales, strict=True)), Fraction(0))
    return table_slack(distance, allowance.budget.epsilon)


def _of_interactions(
    allowance: Allowance, budget: Any, weights: tuple[float, ...], sizes: Sequence[int], queries: Queries
) -> BatchPrice:
    """A batch with interactions in it, at a loss whose weights were left open.

    Priced as a batch of unknown weights: that bound holds for answers that all move at once (Theorem C2b).
    """
    whole = budget.whole if isinstance(budget, GaussianPortion) else budget
    if not isinstance(whole, Gaussian) or whole.weights is not None:
        raise BudgetError(
            f"interactions need a Gaussian loss whose weights are left open, not {budget!r}.",
            hint="plan a measure group with weights=None.",
        )
    neighbours = allowance.neighbours
    share = budget.share if isinstance(budget, GaussianPortion) else Fraction(1)
    portion = whole.portion(share)
    sigma = portion.batch(weights, neighbours).sigma if share != 1 else whole.sigma
    loss = Gaussian(sigma, None, neighbours, portion.largest)
    question_checks.within_largest(weights, loss.largest)
    reaches = (reach(query, neighbours) for query in queries)
    scales = tuple(rounded_up(sigma * far / w for far, w in zip(reaches, weights, strict=True)))
    slack = _slack(scales, sizes, allowance)
    return BatchPrice(allowance.charge(budget, loss, slack), (loss, Slack(slack)), scales)


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


@dataclass(frozen=True)
class MarginalsQuestion(Question[BatchPrice, list[Measurement]]):
    """The noisy marginals of a batch of cliques: see `Curator.measure`."""

    batch: Sequence[Clique]
    queries: Sequence[Asked]
    sizes: Sequence[int]
    weights: tuple[float, ...]
    budget: Any

    @classmethod
    def of(
        cls,
        domain: Domain,
        cliques: Sequence[Clique | str],
        weights: Sequence[float] | None,
        budget: Loss | GaussianPortion | Budget | None,
        queries: Queries | None,
    ) -> Self:
        """The question, once everything handed in was checked and copied."""
        batch = question_checks.cliques(domain, cliques)
        asked = question_checks.queries(domain, batch, queries)
        sizes = question_checks.sizes(domain, batch, asked)
        budget = plain_value(budget, Budget, GaussianPortion, *LOSSES)
        return cls(batch, asked, sizes, question_checks.weights(batch, weights, budget), budget)

    def price(self, allowance: Allowance) -> BatchPrice:
        return price_batch(allowance, self.budget, self.weights, self.sizes, self.queries)

    def words(self, price: BatchPrice) -> dict[str, Any]:
        words: dict[str, Any] = {
            "question": "measure",
            "cliques": [list(clique) for clique in self.batch],
            "scales": list(price.scales),
        }
        if any(isinstance(query, Binned) for query in self.queries):
            words["bins"] = [
                list(query.shape) if isinstance(query, Binned) else None for query in self.queries
            ]
            words["queries"] = digest(
                *(
                    b"|".join(map(array_bytes, query.bins)) if isinstance(query, Binned) else b""
                    for query in self.queries
                )
            )
        if any(isinstance(query, Interactions) for query in self.queries):
            words["interactions"] = [
                {"shape": list(query.shape), "left out": [list(part) for part in query.left_out]}
                if isinstance(query, Interactions)
                else None
                for query in self.queries
            ]
        return words

    def draw(self, counts: ExactCounts, source: Randomness, price: BatchPrice) -> bytes:
        return pack(self._noisy(counts, source, price))

    def _noisy(self, counts: ExactCounts, source: Randomness, price: BatchPrice) -> list[Integers]:
        """Noisy integer counts of each marginal: the only form in which counts leave."""
        draw = discrete_laplace if price.pure else discrete_gaussian
        noisy = []
        for table, query, scale in zip(counts.tables(self.batch), self.queries, price.scales, strict=True):
            exact = table if query is None else asked_of(query, table)
            noise = draw(scale, exact.size, source)
            # Post-processing: a float64 holds every integer up to 2^53, and no table has more records.
            noisy.append(np.clip(exact + noise, -(2**53), 2**53))
        return noisy

    def unpack(self, answer: bytes, price: BatchPrice) -> list[Measurement]:
        values = unpack(answer, self.sizes)
        return [
            Measurement(clique, noisy, price.spread * scale, query)
            for clique, noisy, scale, query in zip(
                self.batch, values, price.scales, self.queries, strict=True
            )
        ]


def asked_of(query: Binned | Interactions, cells: Integers) -> Integers:
    """What a query says of integers: integers, by whole multiples and sums."""
    found: npt.NDArray[Any] = query.apply(cells)  # type: ignore[arg-type]  # the dtype is kept
    return found.astype(np.int64, casting="safe")
