"""One candidate of many that are offered again and again, chosen by how badly its estimate fits.

A selection among n columns makes a choice n times, of up to n^2 / 2 pairs each. What does not change from one choice
to the next (cliques, blurs, weights) is told, copied and checked once; after that candidates are offered by their
places, and exact scores are kept in arrays, so that a choice costs a few passes over numbers. As in
`private_choice.py` scores stay here, and an index leaves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals.product_estimates import ProductEstimates
from understudy.privacy.accounting.losses import LOSSES, Loss
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.misfit import Estimates, Rounded, beyond_blur, misfit
from understudy.privacy.curator.private_choice import (
    MOST_MISFIT,
    ChoicePrice,
    ChoiceQuestion,
    ScoreMemory,
)
from understudy.privacy.curator.question import array_bytes, digest
from understudy.privacy.ledger.stored_answers import pack_text
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_cliques, plain_value

Integers = npt.NDArray[np.int64]


class CandidatePool:
    """Cliques that a mechanism will offer, some at a time; it must not change while it is used.

    Parameters:
        cliques: the candidates, each once; the empty clique may stand for none of them.
        blurs: as in `Curator.choose`, one a clique; none by default.
        weights: as in `Curator.choose`, one a clique; all 1 by default.
    """

    __slots__ = ("__weakref__", "blurs", "cliques", "weights")

    def __init__(
        self,
        cliques: Iterable[Clique],
        *,
        blurs: question_checks.Whole | None = None,
        weights: question_checks.Whole | None = None,
    ) -> None:
        self.cliques, self.blurs, self.weights = tuple(cliques), blurs, weights

    def offer(self, places: question_checks.Whole) -> Offer:
        """The candidates at these places, to be handed to `Curator.choose`."""
        return Offer(self, np.array(places, np.int64))


@dataclass(frozen=True, eq=False)
class Offer:
    """Some candidates of a pool, by their places, rising: `CandidatePool.offer` makes it."""

    pool: CandidatePool
    places: Integers


class PoolScores:
    """What a curator keeps of a pool: a copy of its own, checked, and the exact scores found so far. Private."""

    def __init__(self, domain: Domain, pool: CandidatePool) -> None:
        self._domain, self.cliques = domain, plain_cliques(pool.cliques)
        cliques = self.cliques
        question_checks.distinct(cliques)
        self.blurs = None if pool.blurs is None else question_checks.blurs(cliques, pool.blurs)
        self.weights = None if pool.weights is None else question_checks.importances(cliques, pool.weights)
        given = [array for array in (self.blurs, self.weights) if array is not None]
        self.digest = digest(repr(self.cliques).encode(), *map(array_bytes, given))
        self.exact = np.zeros(len(cliques), np.int64)
        self.known = np.array([not clique for clique in cliques], np.bool_)  # the empty clique scores 0
        self._checked = np.zeros(len(cliques), np.bool_)
        self._final: Integers | None = None

    def places(self, given: Any) -> Integers:
        """A copy of the places that are offered: at least one, rising, all in the pool."""
        if type(given) is not np.ndarray or given.dtype != np.int64 or given.ndim != 1 or not given.size:
            raise ParameterError("there is nothing to choose from.", hint="offer at least one candidate.")
        found: Integers = given.copy()
        if found[0] < 0 or found[-1] >= len(self.cliques) or (np.diff(found) <= 0).any():
            raise ParameterError("an offer's places are not rising, or not all in its pool.")
        fresh = found[~self._checked[found]]
        if fresh.size:
            question_checks.candidates(self._domain, [self.cliques[place] for place in fresh.tolist()])
            self._checked[fresh] = True
        return found

    def offered(self, places: Integers) -> bytes:
        """Which candidates are offered, as the bytes that are digested: one bit a candidate."""
        mask = np.zeros(len(self.cliques), np.bool_)
        mask[places] = True
        return np.packbits(mask).tobytes()

    def unscored(self, places: Integers) -> Integers:
        """The places that are still to be counted."""
        return places[~self.known[places]]

    def add(self, places: Integers, scores: Integers) -> None:
        """Keep exact scores."""
        self.exact[places], self.known[places] = scores, True
        self._final = None

    def scores(self, places: Integers) -> Integers:
        """The scores of candidates that were counted: beyond their blur, times their weight. Private."""
        if self._final is None:
            final = self.exact if self.blurs is None else beyond_blur(self.exact, self.blurs)
            self._final = np.asarray(
                final if self.weights is None else np.minimum(final, MOST_MISFIT) * self.weights, np.int64
            )
        found: Integers = self._final[places]
        return found


@dataclass(frozen=True, eq=False)
class PooledQuestion(ChoiceQuestion):
    """Which candidate of an offer has an estimate that fits badly."""

    places: Integers
    pooled: PoolScores
    domain: Domain
    estimates: Estimates
    costed: bool
    rounded: Rounded | ProductEstimates | None = None  # the estimates, once computed or copied
    asked = "choose"

    @classmethod
    def of(
        cls,
        domain: Domain,
        offer: Offer,
        estimates: Estimates,
        budget: Loss,
        costs: question_checks.Whole | None,
        blurs: question_checks.Whole | None,
        weights: question_checks.Whole | None,
        memory: ScoreMemory,
    ) -> Self:
        """The question, once everything handed in was checked and copied; blurs and weights belong to the pool."""
        if blurs is not None or weights is not None:
            raise ParameterError(
                "an offer's blurs and weights are its pool's.", hint="give them to CandidatePool."
            )
        pool = offer.pool
        if type(pool) is not CandidatePool:
            raise ParameterError(
                "an offer is not one of a CandidatePool itself.", hint="use CandidatePool.offer."
            )
        pooled = memory.pooled(estimates, pool, lambda: PoolScores(domain, pool))
        places = pooled.places(offer.places)
        prices = question_checks.costs(places, costs)
        return cls(prices, plain_value(budget, *LOSSES), places, pooled, domain, estimates, costs is not None)

    @property
    def number(self) -> int:
        return self.places.size

    @property
    def candidates_digest(self) -> str:
        costs = [array_bytes(self.costs)] if self.costed else []
        return digest(self.pooled.digest.encode(), self.pooled.offered(self.places), *costs)

    @property
    def record_sensitivity(self) -> int:
        weights = self.pooled.weights
        return 1 if weights is None else int(weights[self.places].max())

    @property
    def _wanted(self) -> list[Clique]:
        """The candidates still to be counted."""
        return [self.pooled.cliques[place] for place in self.pooled.unscored(self.places).tolist()]

    def prepare(self) -> Self:
        wanted = self._wanted
        if type(self.estimates) is ProductEstimates and {*map(len, wanted)} == {2}:
            return replace(self, rounded=_copied(self.domain, self.estimates))
        return replace(self, rounded=Rounded(self.domain, wanted, self.estimates))

    def draw(self, counts: ExactCounts, source: Randomness, price: ChoicePrice) -> bytes:
        places = self.pooled.unscored(self.places)
        if places.size:
            self.pooled.add(places, self._misfits(counts))
        return pack_text(self._chosen(self.pooled.scores(self.places), source, price))

    def _misfits(self, counts: ExactCounts) -> Integers:
        """The misfit of every candidate still to be counted. Private."""
        rounded, wanted = self.rounded, self._wanted
        if isinstance(rounded, ProductEstimates):
            return np.concatenate([rounded.distances(*run) for run in counts.runs(wanted)])
        assert rounded is not None
        return np.array([misfit(exact, rounded.take(c)) for c, exact in counts.in_turn(wanted)], np.int64)


def _copied(domain: Domain, given: ProductEstimates) -> ProductEstimates:
    """Products made anew of arrays of our own, once every pair of them is known to stay below 2^60."""
    copied = object.__new__(ProductEstimates)
    copied.total = float(given.total)
    copied.shares = {name: np.array(given.shares[name], np.float64) for name in domain}
    wrong = [name for name, size in domain.items() if copied.shares[name].shape != (size,)]
    if wrong:
        raise ParameterError(f"the estimate of column {wrong[0]!r} does not have {domain[wrong[0]]} cells.")
    with np.errstate(all="ignore"):  # what overflows is not finite, and refused
        most = max((float(np.abs(shares).sum()) for shares in copied.shares.values()), default=0.0)
        fits = abs(copied.total) * max(most, most**2) <= 2.0**59
    if not fits:
        raise ParameterError("an estimate holds a cell that is not finite, or is past 2^60.")
    return copied
