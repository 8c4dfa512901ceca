"""One candidate chosen by the exponential mechanism: by how badly its estimate fits, or by how dependent it is.

Scores are exact integers, which stay in this file and in the memory that the curator keeps of them; an index leaves.
Proof: docs/privacy.md, "The curator".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError
from understudy.privacy.accounting.losses import LOSSES, Choice, Loss
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.dependence import SENSITIVITY, dependence
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.misfit import Estimates, Rounded, beyond_blur, misfit
from understudy.privacy.curator.question import Question, array_bytes, digest
from understudy.privacy.ledger.stored_answers import pack_text, unpack_text
from understudy.privacy.noise.exponential_mechanism import choose
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

Integers = npt.NDArray[np.int64]
PoolT = TypeVar("PoolT")
Scores = dict[Clique, int]
# Beyond this a misfit that is weighed counts as this: more records than there are, and no product overflows.
MOST_MISFIT = 2**50


class ScoreMemory:
    """Exact scores that were counted before, so that later rounds count nothing. Private."""

    def __init__(self) -> None:
        self._misfits: WeakKeyDictionary[Any, Scores] = WeakKeyDictionary()
        self._pools: WeakKeyDictionary[Any, WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
        self.dependences: Scores = {}

    def misfits(self, estimates: Estimates) -> Scores:
        """Scores by these estimates, kept as long as the `estimates` object lives."""
        try:
            return self._misfits.setdefault(estimates, {})
        except TypeError:  # it cannot be a key: scores are counted anew each time
            return {}

    def pooled(self, estimates: Estimates, pool: Any, scores: Callable[[], PoolT]) -> PoolT:
        """Scores of a pool by these estimates, kept as long as both live; none to begin with."""
        try:
            known = self._pools.setdefault(estimates, WeakKeyDictionary())
        except TypeError:
            return scores()
        if pool not in known:
            known[pool] = scores()
        found: PoolT = known[pool]
        return found


@dataclass(frozen=True)
class ChoicePrice:
    """What a choice costs, and how far one unit can move a score."""

    allowance: Allowance
    losses: tuple[Choice]
    sensitivity: int


@dataclass(frozen=True, eq=False)
class ChoiceQuestion(Question[ChoicePrice, int]):
    """A choice among candidates by score less public `costs`."""

    costs: Integers
    budget: Any
    asked: ClassVar[str]

    @property
    @abstractmethod
    def record_sensitivity(self) -> int:
        """How far one record that is added or removed can move a score."""

    @property
    @abstractmethod
    def number(self) -> int:
        """How many candidates there are."""

    @property
    @abstractmethod
    def candidates_digest(self) -> str:
        """A digest of the candidates and of the public numbers that each has."""

    def price(self, allowance: Allowance) -> ChoicePrice:
        if not isinstance(self.budget, Choice):
            raise BudgetError(f"{self.asked} needs a Choice loss, not {self.budget!r}.")
        loss = Choice(self.budget.epsilon)
        after = allowance.charge(self.budget, loss, 0.0)
        return ChoicePrice(after, (loss,), self.record_sensitivity * allowance.neighbours.l1)

    def words(self, price: ChoicePrice) -> dict[str, Any]:
        """Candidates, costs and blurs by number and digest, as they may be thousands."""
        return {
            "question": self.asked,
            "candidates": self.number,
            "digest": self.candidates_digest,
            "epsilon": price.losses[0].epsilon,
        }

    def _chosen(self, scores: Integers, source: Randomness, price: ChoicePrice) -> int:
        """One index, drawn by the exponential mechanism: the only form in which scores leave."""
        return choose(scores - self.costs, price.losses[0].epsilon, price.sensitivity, source)

    def unpack(self, answer: bytes, price: ChoicePrice) -> int:
        return int(unpack_text(answer))


@dataclass(frozen=True, eq=False)
class _ListedQuestion(ChoiceQuestion):
    """A choice among `offered` candidates; `known` scores are not counted again."""

    offered: Sequence[Clique]
    known: Scores

    @property
    def public(self) -> Sequence[Integers]:
        """The numbers, one a candidate, that the words hold a digest of."""
        return [self.costs]

    @property
    def number(self) -> int:
        return len(self.offered)

    @property
    def candidates_digest(self) -> str:
        return digest(repr(list(self.offered)).encode(), *map(array_bytes, self.public))

    @property
    def unscored(self) -> list[Clique]:
        """Candidates still to be counted; the empty clique scores 0."""
        return [clique for clique in self.offered if clique and clique not in self.known]

    def draw(self, counts: ExactCounts, source: Randomness, price: ChoicePrice) -> bytes:
        for clique, exact in counts.in_turn(self.unscored):
            self.known[clique] = self.score(clique, exact, counts.domain)
        return pack_text(self._chosen(self.scores(), source, price))

    @abstractmethod
    def score(self, clique: Clique, exact: Integers, domain: Domain) -> int:
        """The score of one candidate, from its exact counts. Private."""

    def scores(self) -> Integers:
        """The score of every candidate, before its cost. Private."""
        return np.array([self.known.get(clique, 0) for clique in self.offered], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MisfitQuestion(_ListedQuestion):
    """Which candidate's estimate fits badly: see `Curator.choose`."""

    domain: Domain
    estimates: Estimates
    blurs: Integers | None
    weights: Integers | None = None
    rounded: Rounded | None = None  # the estimates, once computed
    asked = "choose"

    @classmethod
    def of(
        cls,
        domain: Domain,
        candidates: Sequence[Clique],
        estimates: Estimates,
        budget: Loss,
        costs: question_checks.Whole | None,
        blurs: question_checks.Whole | None,
        weights: question_checks.Whole | None,
        memory: ScoreMemory,
    ) -> Self:
        """The question, once everything handed in was checked and copied."""
        known = memory.misfits(estimates)
        offered = question_checks.candidates(domain, candidates, known)
        blurred = None if blurs is None else question_checks.blurs(offered, blurs)
        weighed = None if weights is None else question_checks.importances(offered, weights)
        prices = question_checks.costs(offered, costs)
        return cls(prices, plain_value(budget, *LOSSES), offered, known, domain, estimates, blurred, weighed)

    @property
    def public(self) -> Sequence[Integers]:
        return [given for given in (self.costs, self.blurs, self.weights) if given is not None]

    @property
    def record_sensitivity(self) -> int:
        return 1 if self.weights is None else int(self.weights.max())

    def prepare(self) -> Self:
        return replace(self, rounded=Rounded(self.domain, self.unscored, self.estimates))

    def score(self, clique: Clique, exact: Integers, domain: Domain) -> int:
        assert self.rounded is not None
        return misfit(exact, self.rounded.take(clique))

    def scores(self) -> Integers:
        exact = super().scores()
        exact = exact if self.blurs is None else beyond_blur(exact, self.blurs)
        return exact if self.weights is None else np.minimum(exact, MOST_MISFIT) * self.weights


@dataclass(frozen=True, eq=False)
class DependenceQuestion(_ListedQuestion):
    """Which candidate's first column depends much on its others: see `Curator.choose_dependent`."""

    asked = "choose dependent"

    @classmethod
    def of(
        cls,
        domain: Domain,
        candidates: Sequence[Clique],
        budget: Loss,
        costs: Sequence[int] | None,
        memory: ScoreMemory,
    ) -> Self:
        """The question, once everything handed in was checked and copied."""
        known = memory.dependences
        offered = question_checks.families(domain, candidates, known)
        prices = question_checks.costs(offered, costs)
        return cls(prices, plain_value(budget, *LOSSES), offered, known)

    @property
    def record_sensitivity(self) -> int:
        return SENSITIVITY

    def score(self, clique: Clique, exact: Integers, domain: Domain) -> int:
        return dependence(exact, domain[clique[0]])
