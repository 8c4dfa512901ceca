"""How far estimates are off: L1 distances from exact counts, of cliques or summed over several, with Gaussian noise.

A distance is counted in parts of a record, so that estimates are rounded finely, and in whole numbers throughout.
Proof: docs/privacy.md, "The curator".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError
from understudy.privacy.accounting.losses import LOSSES, Gaussian, GaussianPortion, Loss, Slack, normalised
from understudy.privacy.accounting.spending import Allowance, rounded_up, table_slack
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.misfit import Estimates, Rounded, misfit, spread_parts
from understudy.privacy.curator.question import Question, digest
from understudy.privacy.ledger.stored_answers import pack, unpack
from understudy.privacy.noise.discrete_noise import discrete_gaussian, table_error
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

QUESTION = "distance"  # its name in the ledger and the certificate
PARTS = 256  # of a record: what distances are counted in
# Beyond this a distance counts as this: more records than there are, and no sum overflows.
_MOST_DISTANCE = 2**50

Integers = npt.NDArray[np.int64]
CliqueSets = Sequence[Sequence[Clique]]


@dataclass(frozen=True, eq=False)
class Distances:
    """Noisy distances of sets of cliques, in records: each the sum over its set, and the noise's standard deviation.

    They are whole numbers of `PARTS` of a record; noise may take one below 0.
    """

    sets: tuple[tuple[Clique, ...], ...]
    values: npt.NDArray[np.float64]
    stddev: npt.NDArray[np.float64]


@dataclass(frozen=True)
class DistancePrice:
    """What the question costs, and the noise scale of each answer, in parts of a record."""

    allowance: Allowance
    losses: tuple[Loss, ...]
    scales: tuple[float, ...]


def sets_digest(sets: CliqueSets) -> str:
    """A digest of which cliques each answer is the sum over."""
    return digest(repr([list(map(tuple, cliques)) for cliques in sets]).encode())


def distance_reach(cliques: int, l1: int) -> int:
    """How far one unit can move the summed distance of so many cliques, in parts of a record."""
    return PARTS * l1 * cliques


@dataclass(frozen=True, eq=False)
class DistancesQuestion(Question[DistancePrice, Distances]):
    """How far the estimates of sets of cliques are off: see `Curator.distances`."""

    domain: Domain
    sets: tuple[tuple[Clique, ...], ...]
    weights: tuple[float, ...]
    estimates: Estimates
    budget: Any
    rounded: Rounded | None = None  # the estimates, once computed

    @classmethod
    def of(
        cls,
        domain: Domain,
        sets: CliqueSets,
        estimates: Estimates,
        budget: Loss | GaussianPortion,
        weights: Sequence[float] | None,
    ) -> Self:
        """The question, once everything handed in was checked and copied."""
        asked = question_checks.clique_sets(domain, sets)
        given = (1.0,) * len(asked) if weights is None else tuple(weights)
        if len(given) != len(asked):
            raise BudgetError(f"weights do not match the {len(asked)} sets.", hint="give one number a set.")
        return cls(domain, asked, normalised(given), estimates, plain_value(budget, *LOSSES, GaussianPortion))

    def price(self, allowance: Allowance) -> DistancePrice:
        whole = self.budget.whole if isinstance(self.budget, GaussianPortion) else self.budget
        if not isinstance(whole, Gaussian) or whole.weights is not None:
            raise BudgetError(
                f"distances need a Gaussian loss whose weights are left open, not {self.budget!r}.",
                hint="plan a measure group with weights=None.",
            )
        # Priced as a batch of unknown weights: that bound holds for one number that moves by any distance.
        if isinstance(self.budget, GaussianPortion):
            loss = self.budget.batch(None, allowance.neighbours)
        else:
            loss = Gaussian(whole.sigma, None, allowance.neighbours, whole.largest)
        question_checks.within_largest(self.weights, loss.largest)
        l1 = allowance.neighbours.l1
        scales = tuple(
            rounded_up(
                loss.sigma * distance_reach(len(cliques), l1) / weight
                for cliques, weight in zip(self.sets, self.weights, strict=True)
            )
        )
        distance = sum((table_error(scale) for scale in scales), Fraction(0))
        slack = table_slack(distance, allowance.budget.epsilon)
        return DistancePrice(allowance.charge(self.budget, loss, slack), (loss, Slack(slack)), scales)

    def words(self, price: DistancePrice) -> dict[str, Any]:
        return {
            "question": QUESTION,
            "summed": [len(cliques) for cliques in self.sets],
            "digest": sets_digest(self.sets),
            "scales": list(price.scales),
        }

    def prepare(self) -> Self:
        return replace(
            self, rounded=Rounded(self.domain, self._distinct, self.estimates, spread_parts(PARTS))
        )

    @property
    def _distinct(self) -> list[Clique]:
        """Every clique once, in order."""
        return list(dict.fromkeys(clique for cliques in self.sets for clique in cliques))

    def draw(self, counts: ExactCounts, source: Randomness, price: DistancePrice) -> bytes:
        assert self.rounded is not None
        known = {
            clique: min(misfit(PARTS * exact, self.rounded.take(clique)), _MOST_DISTANCE)
            for clique, exact in counts.in_turn(self._distinct)
        }
        exact = np.array([sum(known[clique] for clique in cliques) for cliques in self.sets], np.int64)
        return pack([self._noisy(exact, source, price)])

    def _noisy(self, exact: Integers, source: Randomness, price: DistancePrice) -> Integers:
        """Noisy distances: the only form in which distances leave."""
        scales, noise = np.array(price.scales), np.zeros(exact.size, np.int64)
        for scale in dict.fromkeys(price.scales):
            alike = np.flatnonzero(scales == scale)
            noise[alike] = discrete_gaussian(scale, alike.size, source)
        # Post-processing: a float64 holds every integer up to 2^53.
        return np.asarray(np.clip(exact + noise, -(2**53), 2**53), np.int64)

    def unpack(self, answer: bytes, price: DistancePrice) -> Distances:
        (noisy,) = unpack(answer, [len(self.sets)])
        return Distances(self.sets, noisy / PARTS, np.array(price.scales) / PARTS)
