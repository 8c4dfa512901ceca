"""The only object that sees private counts; whatever leaves it leaves through one door.

To verify that nothing private leaves otherwise, read this file, `curator_session.py` and the `draw` of each question
(`noisy_marginals.py`, `noisy_distances.py`, `private_choice.py`, `pooled_choice.py`, `thresholded_histogram.py`,
`discovery.py`, `unit_sizes.py`), and check six things.

1. Records are reached only through `self._engine`. `_ask` lets a question look at what the engine can count, never at
   what it counts, and hands it `ExactCounts` for its `draw`; `recode` and `over` say how the same records are coded.
2. `draw` runs only inside the `answer` given to `CuratorSession.ask`: the door. Check, price and words are public.
3. With a ledger (without one all this is in memory), what a job may cost was reserved, durably, before this object
   existed. The door lets an answer be drawn, stores question and answer together, durably, and only then returns what
   was stored: never a second draw.
4. An answer is noisy counts (all, or those past a threshold), noisy distances, one index drawn by the exponential
   mechanism, or names of values past a noisy threshold. Exact counts stay local to `draw`, scores in `self._memory`.
5. The door takes values, not behaviour: whatever a mechanism hands in is copied into exact types of ours, and
   estimates are computed (`prepare`), before it opens. Behind it runs only our code, the engine's and the source's.
6. One question is asked at a time, priced by the allowance as it then is (`CuratorSession.turn`).

Python cannot hide an attribute: this is a convention, kept by import contract and review, no security boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.domain import Clique, Domain
from understudy.marginals import Counter, Measurement
from understudy.marginals.counter import Recoding
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.calibration import Group
from understudy.privacy.accounting.composition import Composition, compose
from understudy.privacy.accounting.losses import Gaussian, GaussianPortion, Loss
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.certification import Charge
from understudy.privacy.curator.curator_session import Watch, opened
from understudy.privacy.curator.discovery import Discovery, DiscoveryQuestion
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.misfit import Estimates
from understudy.privacy.curator.noisy_distances import CliqueSets, Distances, DistancesQuestion
from understudy.privacy.curator.noisy_marginals import MarginalsQuestion
from understudy.privacy.curator.pooled_choice import Offer, PooledQuestion
from understudy.privacy.curator.private_choice import DependenceQuestion, MisfitQuestion, ScoreMemory
from understudy.privacy.curator.question import AnswerT, PriceT, Question, digest, recoding_digest
from understudy.privacy.curator.thresholded_histogram import Cells, HistogramQuestion
from understudy.privacy.curator.unit_sizes import SizesQuestion, UnitSizes
from understudy.privacy.ledger.job import Job
from understudy.privacy.ledger.ledger import Ledger
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_domain

Paid = Loss | GaussianPortion


class Curator:
    """Answers seven questions about records that nobody else may see, each charged before it is asked.

    The caller must trust that the engine bounds a unit's records, and that its domain was not read from the records.
    What a method says of its privacy is proved in docs/privacy.md, "The curator".

    Parameters:
        engine: the records, as anything that can count: what `us.table` returns.
        budget: what all questions together may cost.
        ledger: where that is recorded; by default in memory only, which nobody else sees.
        job: with a ledger, which job this is: one that was interrupted gets its stored answers again.
        neighbours: who is protected; by default one record more or less.
        source: where noise comes from; the operating system by default. With any other all says NOT PRIVATE.
        watch: hears the words of every question, which are public, and never an answer; by default nobody does.

    Raises:
        BudgetError: the budget is none, or more than the ledger's limit leaves.
    """

    def __init__(
        self,
        engine: Counter,
        budget: Budget,
        *,
        ledger: Ledger | None = None,
        job: Job | None = None,
        neighbours: Neighbours | None = None,
        source: Randomness | None = None,
        watch: Watch = lambda words, answered: None,
    ) -> None:
        self._session = opened(budget, ledger, job, neighbours, source, watch)
        self._engine, self._view, self._memory = engine, "", ScoreMemory()

    def __repr__(self) -> str:
        return f"Curator({len(self.domain)} columns, {self.budget!r}, {len(self.charges)} questions asked)"

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes: public."""
        return plain_domain(self._engine.domain)

    @property
    def view(self) -> str:
        """A digest of how the records are coded, which tells one view of them from another: public."""
        return self._view

    @property
    def budget(self) -> Budget:
        """What this curator was given in all."""
        return self._session.allowance.budget

    @property
    def left(self) -> Budget:
        """What no question, plan or filter has taken yet."""
        return self._session.allowance.left

    @property
    def neighbours(self) -> Neighbours:
        """Who is protected."""
        return self._session.allowance.neighbours

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every question that was charged, in order."""
        return tuple(self._session.charges)

    @property
    def spent(self) -> Composition:
        """The losses of every question that was charged, taken together."""
        return compose(loss for charge in self._session.charges for loss in charge.losses)

    def certificate(self) -> dict[str, Any]:
        """What a release says of its privacy: budget, unit, neighbours, every charge with its scale."""
        return self._session.certificate()

    def finish(self, result: bytes = b"") -> bytes:
        """The result that stands for the job in the ledger; afterwards it asks nothing new."""
        return self._session.transcript.finish(result)

    def commit(self, groups: Sequence[Group]) -> dict[str, Loss]:
        """The loss of each group of a plan, over which all that is left is calibrated, once.

        Privacy: no more than the budget, by exact composition, at these losses, choices in the plan's order.

        Parameters:
            groups: the plan: names are distinct, and shares add up to exactly one.

        Returns:
            A group's name -> the loss that its questions may spend together.

        Raises:
            BudgetError: a plan was committed already, or its shares do not add up.
        """
        with self._session.turn():
            self._session.allowance, losses = self._session.allowance.commit(groups)
        return losses

    def refund(self) -> Gaussian | None:
        """A loss for measuring that is worth the choices which a plan has left; from then on it has none.

        Privacy: none spent. Choices planned with a refund cost as much as this in their place.

        Returns:
            A Gaussian with its weights left open; None where nothing is left.
        """
        with self._session.turn():
            self._session.allowance, worth = self._session.allowance.refund()
        return worth

    def measure(
        self,
        cliques: Sequence[Clique | str],
        weights: Sequence[float] | None = None,
        budget: Loss | GaussianPortion | Budget | None = None,
        queries: question_checks.Queries | None = None,
    ) -> list[Measurement]:
        """A noisy marginal for each clique (paper, "Measure Marginals"), in integers throughout.

        Weights are normalised: marginal i gets noise of scale sigma l2 / w_i; at a Laplace loss all get as much.

        Privacy: Gaussian(sigma, weights), or one Laplace(epsilon) for each; of interactions Gaussian(sigma, None).

        Parameters:
            cliques: the columns of each marginal, or the name of one column.
            weights: how much each marginal matters against the others, above 0; by default as planned, else alike.
            budget: the loss that `commit` allotted, a portion of one whose weights were left open, or a Budget for
                this batch alone; always asked for.
            queries: for each clique None, bins to sum its cells over, or `Interactions`; none by default.

        Returns:
            A `Measurement` each: its noisy counts, whole numbers, and the noise's standard deviation.

        Raises:
            BudgetError: it was not planned, or does not fit in what is left; nothing is drawn.
            DomainError: a column is not in the domain.
        """
        return self._ask(MarginalsQuestion.of(self.domain, cliques, weights, budget, queries))

    def choose(
        self,
        candidates: Sequence[Clique] | Offer,
        estimates: Estimates,
        budget: Loss,
        costs: question_checks.Whole | None = None,
        blurs: Sequence[int] | None = None,
        weights: Sequence[int] | None = None,
    ) -> int:
        """The index of one candidate, likely one whose estimate fits badly (exponential mechanism).

        A candidate's score is the L1 distance between its marginal and `estimates(candidate)` in whole numbers, less
        its public cost. The empty clique has no misfit. Scores are remembered while the `estimates` object lives (it
        must not change). `blurs`: how far off an estimate is likely to be by its own noise (`beyond_blur`).

        Privacy: one draw of the loss Choice(epsilon).

        Parameters:
            candidates: the cliques to choose from, at least one (the empty one for none), or an `Offer` of a pool.
            estimates: a clique -> the counts thought to be in its cells; from answers and public knowledge.
            budget: a Choice loss that `commit` allotted.
            costs: whole numbers, one a candidate, taken off its score; none by default.
            blurs: whole numbers from 0, one a candidate; none by default.
            weights: whole numbers from 1 to 1000, one a candidate, that multiply its misfit; all 1 by default.

        Returns:
            The place of the chosen one among the candidates.

        Raises:
            BudgetError: no further choice was planned; nothing is drawn.
        """
        given = (estimates, budget, costs, blurs, weights, self._memory)
        if isinstance(candidates, Offer):
            return self._ask(PooledQuestion.of(self.domain, candidates, *given))
        return self._ask(MisfitQuestion.of(self.domain, candidates, *given))

    def choose_dependent(
        self, candidates: Sequence[Clique], budget: Loss, costs: Sequence[int] | None = None
    ) -> int:
        """The index of one candidate, likely one whose first column depends much on the others.

        A candidate's score is `dependence`: the L1 distance between its marginal and the product of the first
        column's and the others' own, rounded down, less its cost; 0 of one column. Scores are remembered.

        Privacy: one draw of the loss Choice(epsilon), at sensitivity 4 l1.

        Parameters:
            candidates: the cliques to choose from, at least one; of each, the first column is the one explained.
            budget: a Choice loss that `commit` allotted.
            costs: whole numbers, one a candidate, taken off its score; none by default.

        Returns:
            The place of the chosen one among the candidates.

        Raises:
            BudgetError: no further choice was planned; nothing is drawn.
        """
        return self._ask(DependenceQuestion.of(self.domain, candidates, budget, costs, self._memory))

    def distances(
        self, sets: CliqueSets, estimates: Estimates, budget: Paid, weights: Sequence[float] | None = None
    ) -> Distances:
        """How far estimates are off: for each set of cliques the summed L1 distance from exact counts, with noise.

        Privacy: the loss Gaussian(sigma, None). One unit moves the distance of every clique by up to l1.

        Parameters:
            sets: the cliques that each answer is the sum over.
            estimates: a clique -> the counts that are thought to be in its cells; from answers and public knowledge.
            budget: a Gaussian loss that `commit` allotted with its weights left open, or a portion of it.
            weights: how precise each answer is to be, per clique of its set, against the others; alike by default.

        Returns:
            The noisy distances in records, and the standard deviation of each one's noise.

        Raises:
            BudgetError: it was not planned, or does not fit in what is left; nothing is drawn.
        """
        return self._ask(DistancesQuestion.of(self.domain, sets, estimates, budget, weights))

    def histogram(self, clique: Clique | str, budget: Loss, threshold: int) -> Cells:
        """The cells of a clique whose noisy count is at least `threshold`, however many cells there are.

        Every cell gets discrete Laplace noise of scale l1 / epsilon, also those that no record falls in. The
        engine must be able to `count_cells`, unless the clique is small enough to be counted whole.

        Privacy: one answer of the loss Laplace(epsilon), and the delta of its noise tables.

        Parameters:
            clique: its columns, or the name of one.
            budget: a Laplace loss that `commit` allotted.
            threshold: the least noisy count that is told, at least 1: the higher, the fewer cells of noise alone.

        Returns:
            The places of the cells, and their noisy counts.

        Raises:
            BudgetError: it was not planned, or does not fit in what is left; nothing is drawn.
            SizeError: so low a threshold would tell of too many cells.
        """
        return self._ask(HistogramQuestion.of(self.domain, clique, budget, threshold))

    def discover(self, column: str, budget: Loss | Budget) -> Discovery:
        """The values of an open column that occur often enough to be named, sorted.

        A Gaussian loss of a plan pays with one of its weights a column. The engine must be able to `count_values`.

        Privacy: Approximate(epsilon, delta) by Laplace noise, or one Gaussian marginal and the threshold's delta.

        Parameters:
            column: its name; it has no codes yet.
            budget: a Budget for this question alone, or a Gaussian loss that `commit` allotted.

        Returns:
            The values, sorted, with the threshold that each of them passed.

        Raises:
            BudgetError: it was not planned, or does not fit in what is left; nothing is drawn.
        """
        return self._ask(DiscoveryQuestion.of(column, budget))

    def unit_sizes(self, starts: Sequence[int], budget: Budget) -> UnitSizes:
        """Noisy numbers of units by how many records they have, before any bound: what a bound is chosen by.

        Privacy: Approximate(epsilon, delta) by Laplace noise. A unit is in one cell, whatever its records. No plan
        is committed yet; the engine must be able to `count_units`.

        Parameters:
            starts: the least number of records of each cell, going up from 1; the last cell has no end.
            budget: a Budget for this question alone.

        Returns:
            The noisy numbers of units, and the scale of their noise.

        Raises:
            BudgetError: it does not fit in what is left, or a plan was committed already; nothing is drawn.
        """
        return self._ask(SizesQuestion.of(starts, budget))

    def bounded(self, engine: Counter, most: int) -> Curator:
        """A curator of the same records, of every unit at most so many; it shares budget, ledger and questions.

        Privacy: none spent. What was asked before must not depend on a bound: unit sizes alone do not.

        Parameters:
            engine: the same records, bounded so.
            most: the most records of a unit, from answers and public knowledge.

        Returns:
            The curator.

        Raises:
            BudgetError: something else was asked, or a plan committed, under another bound.
        """
        with self._session.turn():
            self._session.bound(most)
        other = self._as(engine, "")
        other._view = self._view
        return other

    def recode(self, maps: Mapping[str, Recoding]) -> Curator:
        """A curator of the same records with some codes merged; it shares budget, ledger and questions.

        Privacy: none spent. Every record still falls in one cell of each marginal, whatever the maps.

        Parameters:
            maps: a column -> the new code of each of its codes, 0 or more.

        Returns:
            The curator.

        Raises:
            DomainError: a column is not in the domain, or has another number of codes.
        """
        checked = question_checks.recodings(self.domain, maps)
        return self._as(self._engine.recode(checked), recoding_digest(checked))

    def over(self, engine: Counter) -> Curator:
        """A curator of the same records coded otherwise; it shares budget, ledger and questions.

        Parameters:
            engine: the same records under other codes, each unit's bounded the same way: trusted.

        Returns:
            The curator.
        """
        return self._as(engine, repr(engine.domain))

    def _as(self, engine: Counter, change: str) -> Curator:
        other = object.__new__(Curator)
        other._engine, other._session = engine, self._session
        other._view = digest(f"{self._view}|{change}".encode())
        other._memory = ScoreMemory()
        return other

    def _ask(self, question: Question[PriceT, AnswerT]) -> AnswerT:
        """The answer to a question: checked, priced and put in words, then drawn behind the door, and unpacked."""
        session = self._session
        question.check(self._engine)
        with session.turn():
            price = question.price(session.allowance)
            words = question.words(price) | ({"view": self._view} if self._view else {})
            ready = question if session.answered() else question.prepare()
            counts = ExactCounts(self._engine, self.domain)
            answer = session.ask(
                price.allowance, price.losses, words, lambda: ready.draw(counts, session.source, price)
            )
        return question.unpack(answer, price)
