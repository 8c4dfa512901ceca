"""The only object that sees private counts; whatever leaves it leaves through one door.

To verify that nothing private leaves otherwise, read this file and `session.py`, and check six things.

1. Records are touched only through `self._engine`, and counted only in `_noisy`, `_score`, `_depend`, `_named`
   and `_filled`.
2. Each of those five runs only inside the `answer` given to `CuratorSession.ask`: the door.
3. What a job may cost in all was reserved in the ledger, durably, before this object existed. The door takes the
   question, lets the answer be computed, stores both together, durably, and only then returns what was stored:
   never a second draw. What it charges was validated and priced before.
4. An answer is noisy counts (all of them, or those past a threshold), one index drawn by the exponential
   mechanism, or names of values past a noisy threshold. Exact counts stay local to the five, and exact
   scores in `_scores` and `_dependences`.
5. The door takes values, not behaviour: whatever a mechanism hands in is copied into exact types of ours, and
   estimates are computed, before it opens (`plain.py`, `questions.py`, `misfit.py`). Behind it runs only our own
   code, the engine's and the source's.
6. `recode` and `over` ask nothing; they say how the same records are coded.

Python cannot hide an attribute: this is a convention, kept by the import contract and by review, not a
security boundary. Proofs of each method: docs/privacy.md, "The curator".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError
from understudy.marginals import Counter, Measurement
from understudy.marginals.counter import OpenColumns, Recoding
from understudy.marginals.query import Binned
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.calibration import Group
from understudy.privacy.accounting.composition import Composition, compose
from understudy.privacy.accounting.losses import LOSSES, Choice, Loss
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator import questions
from understudy.privacy.curator.batch_price import BatchPrice, price_batch
from understudy.privacy.curator.certification import Charge, certify
from understudy.privacy.curator.dependence import SENSITIVITY, dependence
from understudy.privacy.curator.discovery import Discovery, DiscoveryPrice, countable, price, released
from understudy.privacy.curator.exact_counts import (
    CellCounter,
    cell_counter,
    filled_cells,
    open_column,
    whole_tables,
)
from understudy.privacy.curator.misfit import Estimates, Rounded, beyond_blur, misfit
from understudy.privacy.curator.questions import Queries, summed
from understudy.privacy.curator.session import CuratorSession, Watch, is_private, opened_transcript
from understudy.privacy.curator.thresholded_histogram import Cells, HistogramPrice, past_threshold
from understudy.privacy.curator.thresholded_histogram import price as price_cells
from understudy.privacy.ledger.job import Job
from understudy.privacy.ledger.ledger import Ledger
from understudy.privacy.ledger.stored_answers import pack, pack_text, unpack, unpack_text
from understudy.privacy.noise.discrete_noise import discrete_gaussian, discrete_laplace
from understudy.privacy.noise.exponential_mechanism import choose
from understudy.privacy.noise.randomness import OperatingSystem, Randomness
from understudy.privacy.plain_values import plain_domain, plain_value

Integers = npt.NDArray[np.int64]


class Curator:
    """Answers five questions about records that nobody else may see, each charged before it is asked.

    The caller must trust that the engine bounds a unit's records by `neighbours.records`, and that its domain
    was not read from the records. Without a ledger the budget is kept in memory only. With one, `job` says
    which job this is: a job that was interrupted gets its stored answers again, and nothing is drawn twice.
    `source` is for tests: with any but the operating system's own, certificate and ledger say NOT PRIVATE. `watch`
    hears the words of every question, which are public, and never an answer.
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
        budget = plain_value(budget, Budget)
        if not isinstance(budget, Budget):
            raise BudgetError(f"a curator needs a Budget, not {budget!r}.", hint="Budget(1.0, 1e-9)")
        source = OperatingSystem() if source is None else source
        transcript = opened_transcript(ledger, job, budget, private=is_private(source))
        self._engine = engine
        self._view = ""
        self._scores: WeakKeyDictionary[Any, dict[Clique, int]] = WeakKeyDictionary()
        self._dependences: dict[Clique, int] = {}
        relation = plain_value(neighbours or Neighbours(), Neighbours)
        self._session = CuratorSession(transcript, source, Allowance(budget, relation), watch)

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
        session = self._session
        return certify(session.allowance, session.charges, private=is_private(session.source))

    def finish(self, result: bytes = b"") -> bytes:
        """The result that stands for the job in the ledger; afterwards it asks nothing new."""
        return self._session.transcript.finish(result)

    def commit(self, groups: Sequence[Group]) -> dict[str, Loss]:
        """The loss of each group of a plan, over which all that is left is calibrated, once.

        Privacy: the plan costs no more than the budget by exact composition (docs/privacy.md, "The curator");
        questions must then be asked at these losses, at most as often as planned, choices in the plan's order.
        """
        with self._session.turn():
            self._session.allowance, losses = self._session.allowance.commit(groups)
        return losses

    def measure(
        self,
        cliques: Sequence[Clique | str],
        weights: Sequence[float] | None = None,
        budget: Loss | Budget | None = None,
        queries: Queries | None = None,
    ) -> list[Measurement]:
        """A noisy marginal for each clique (paper, "Measure Marginals"), in integers throughout.

        Weights are normalised so that the batch has sensitivity one: marginal i gets noise of scale
        sigma l2 / w_i. A Budget in place of a loss is spent on this one batch. `queries` may sum cells over
        bins before noise is added. At a Laplace loss every marginal is one answer, with discrete Laplace noise.

        Privacy: the loss Gaussian(sigma, weights), or one Laplace(epsilon) for each marginal (docs/privacy.md,
        "The curator").
        """
        batch = questions.cliques(self.domain, cliques)
        asked = questions.queries(self.domain, batch, queries)
        sizes = questions.sizes(self.domain, batch, asked)
        budget = plain_value(budget, Budget, *LOSSES)
        given = questions.weights(batch, weights, budget)
        with self._session.turn():
            cost = price_batch(self._session.allowance, budget, given, sizes)
            words = questions.measure_words(self._view, batch, asked, cost.scales)
            answer = self._session.ask(
                cost.allowance, cost.losses, words, lambda: pack(self._noisy(batch, asked, cost))
            )
        values = unpack(answer, sizes)
        return [
            Measurement(clique, noisy, cost.spread * scale, query)
            for clique, noisy, scale, query in zip(batch, values, cost.scales, asked, strict=True)
        ]

    def choose(
        self,
        candidates: Sequence[Clique],
        estimates: Estimates,
        budget: Loss,
        costs: Sequence[int] | None = None,
        blurs: Sequence[int] | None = None,
    ) -> int:
        """The index of one candidate, likely one whose estimate fits badly (exponential mechanism).

        A candidate's score is the L1 distance between its marginal and `estimates(candidate)` rounded to
        integers, less its public cost. The empty clique, which asks of no column, has no misfit. Exact scores
        are remembered while the `estimates` object lives (it must not change), so later rounds count nothing.
        `blurs`: how far off each estimate is likely to be by its own noise, which `beyond_blur` takes off.

        Privacy: one draw of the loss Choice(epsilon) (docs/privacy.md, "The curator").
        """
        scores = self._known(estimates)
        offered = questions.candidates(self.domain, candidates, scores)

        def prepare(unscored: Sequence[Clique]) -> Callable[[], None]:
            rounded = Rounded(self.domain, unscored, estimates)
            return lambda: self._score(unscored, rounded, scores)

        blurred = None if blurs is None else questions.blurs(offered, blurs)
        return self._choice("choose", offered, costs, budget, scores, prepare, 1, blurred)

    def choose_dependent(
        self, candidates: Sequence[Clique], budget: Loss, costs: Sequence[int] | None = None
    ) -> int:
        """The index of one candidate, likely one whose first column depends much on the others.

        A candidate's score is `dependence`: the L1 distance between its marginal and the product of the first
        column's and the other columns' own, rounded down, less its public cost. A candidate of one column, or
        none, scores 0. Exact scores are remembered, so later rounds count nothing.

        Privacy: one draw of the loss Choice(epsilon), at sensitivity 4 l1 (docs/privacy.md, "The curator").
        """
        scores = self._dependences
        offered = questions.families(self.domain, candidates, scores)

        def prepare(unscored: Sequence[Clique]) -> Callable[[], None]:
            return lambda: self._depend(unscored)

        return self._choice("choose dependent", offered, costs, budget, scores, prepare, SENSITIVITY)

    def histogram(self, clique: Clique | str, budget: Loss, threshold: int) -> Cells:
        """The cells of a clique whose noisy count is at least `threshold`, however many cells there are.

        Every cell gets discrete Laplace noise of scale l1 / epsilon, also those that no record falls in. The
        engine must be able to `count_cells`, unless the clique is small enough to be counted whole.

        Privacy: one answer of the loss Laplace(epsilon), and the delta of its noise tables (docs/privacy.md, "The
        curator").
        """
        (asked,) = questions.names(self.domain, [clique])
        budget, cells = plain_value(budget, *LOSSES), self.domain.size(asked)
        count = cell_counter(self._engine, asked, cells)
        with self._session.turn():
            cost = price_cells(self._session.allowance, budget, asked, cells, threshold)
            words = questions.histogram_words(self._view, asked, scale=cost.scale, least=cost.threshold)
            answer = self._session.ask(
                cost.allowance, cost.losses, words, lambda: pack_text(self._filled(asked, count, cost))
            )
        places, counts = (np.array(numbers, np.int64) for numbers in unpack_text(answer))
        return Cells(asked, places, counts, cost.scale, cost.threshold)

    def discover(self, column: str, budget: Loss | Budget) -> Discovery:
        """The values of an open column that occur often enough to be named, sorted.

        A Budget is set aside for this question alone; a Gaussian loss of a plan pays with one weight of its
        batch, so it serves as many columns as it has weights. The engine must be able to `count_values`.

        Privacy: Approximate(epsilon, delta) by Laplace noise, or one Gaussian marginal with the threshold's
        delta as slack (docs/privacy.md, "The curator").
        """
        column, budget = questions.column(column), plain_value(budget, Budget, *LOSSES)
        engine = open_column(self._engine, column)
        with self._session.turn():
            cost = price(self._session.allowance, budget)
            words = questions.discover_words(
                self._view, column, scale=cost.scale, least=cost.threshold, delta=cost.delta
            )
            answer = self._session.ask(
                cost.allowance, cost.losses, words, lambda: pack_text(self._named(engine, column, cost))
            )
        return Discovery(column, tuple(unpack_text(answer)), cost.delta, cost.scale, cost.threshold)

    def recode(self, maps: Mapping[str, Recoding]) -> Curator:
        """A curator of the same records with some codes merged; it shares budget, ledger and questions.

        Privacy: none spent. Every record still falls in one cell of each marginal, whatever the maps.
        """
        checked = questions.recodings(self.domain, maps)
        return self._as(self._engine.recode(checked), questions.recode_words(checked))

    def over(self, engine: Counter) -> Curator:
        """A curator of the same records coded otherwise; it shares budget, ledger and questions.

        The caller must trust that `engine` holds the same records, each unit's bounded the same way.
        """
        return self._as(engine, repr(engine.domain))

    def _as(self, engine: Counter, change: str) -> Curator:
        other = object.__new__(Curator)
        other._engine, other._session = engine, self._session
        other._view = hashlib.sha256(f"{self._view}|{change}".encode()).hexdigest()
        other._scores, other._dependences = WeakKeyDictionary(), {}
        return other

    def _choice(
        self,
        question: str,
        offered: Sequence[Clique],
        costs: Sequence[int] | None,
        budget: Loss,
        scores: dict[Clique, int],
        prepare: Callable[[Sequence[Clique]], Callable[[], None]],
        sensitivity: int,
        blurs: Integers | None = None,
    ) -> int:
        """One index of those offered; `prepare` checks what is still to be scored and returns what scores it."""
        prices, budget = questions.costs(offered, costs), plain_value(budget, *LOSSES)
        if not isinstance(budget, Choice):
            raise BudgetError(f"{question} needs a Choice loss, not {budget!r}.")
        loss = Choice(budget.epsilon)
        with self._session.turn():
            allowance = self._session.allowance.charge(budget, loss, 0.0)
            public = [prices] if blurs is None else [prices, blurs]
            words = questions.choose_words(question, self._view, offered, public, loss.epsilon)
            replayed = self._session.transcript.stored(len(self._session.charges))
            score = prepare(
                [] if replayed else [clique for clique in offered if clique and clique not in scores]
            )

            def answer() -> bytes:
                score()
                known = scores if blurs is None else self._sharp(offered, scores, blurs)
                return pack_text(self._chosen(offered, known, prices, loss.epsilon, sensitivity))

            return int(unpack_text(self._session.ask(allowance, (loss,), words, answer)))

    # -- what stands behind the door -----------------------------------------------------------------

    def _noisy(
        self, batch: Sequence[Clique], queries: Sequence[Binned | None], cost: BatchPrice
    ) -> list[Integers]:
        """Noisy integer counts of each marginal: the only form in which counts leave."""
        draw = discrete_laplace if cost.pure else discrete_gaussian
        noisy = []
        for exact, query, scale in zip(self._count(batch), queries, cost.scales, strict=True):
            counts = exact if query is None else summed(query, exact)
            noise = draw(scale, counts.size, self._session.source)
            # Post-processing: a float64 holds every integer up to 2^53, and no table has more records.
            noisy.append(np.clip(counts + noise, -(2**53), 2**53))
        return noisy

    def _score(self, wanted: Sequence[Clique], rounded: Rounded, scores: dict[Clique, int]) -> None:
        """Remember the exact score of every candidate; none leaves but through `_chosen`."""
        for chunk in questions.chunks(self.domain, wanted):
            for clique, counts in zip(chunk, self._count(chunk), strict=True):
                scores[clique] = misfit(counts, rounded.take(clique))

    def _depend(self, wanted: Sequence[Clique]) -> None:
        """Remember how dependent every candidate is, exactly; none leaves but through `_chosen`."""
        for chunk in questions.chunks(self.domain, wanted):
            for clique, counts in zip(chunk, self._count(chunk), strict=True):
                self._dependences[clique] = dependence(counts, self.domain[clique[0]])

    def _sharp(
        self, offered: Sequence[Clique], scores: Mapping[Clique, int], blurs: Integers
    ) -> dict[Clique, int]:
        """Scores less what noise in the estimates would make of them; none leaves but through `_chosen`."""
        exact = np.array([scores.get(clique, 0) for clique in offered], dtype=np.int64)
        return dict(zip(offered, beyond_blur(exact, blurs).tolist(), strict=True))

    def _chosen(
        self,
        offered: Sequence[Clique],
        scores: Mapping[Clique, int],
        prices: Integers,
        epsilon: float,
        sensitivity: int,
    ) -> int:
        """One index, drawn by the exponential mechanism: the only form in which scores leave."""
        exact = np.array([scores.get(clique, 0) for clique in offered], dtype=np.int64)
        return choose(exact - prices, epsilon, sensitivity * self.neighbours.l1, self._session.source)

    def _filled(self, clique: Clique, count: CellCounter | None, cost: HistogramPrice) -> list[list[int]]:
        """The cells whose noisy count reaches the threshold: the only form in which sparse counts leave."""
        if count is None:
            (whole,) = self._count([clique])
            places = np.flatnonzero(whole)
            return past_threshold(places, whole[places], cost, self._session.source)
        return past_threshold(*filled_cells(count, clique), cost, self._session.source)

    def _named(self, engine: OpenColumns, column: str, cost: DiscoveryPrice) -> list[Any]:
        """The values whose noisy count reaches the threshold: the only form in which values leave."""
        counts = countable(engine.count_values(column))
        return released(counts, cost.draw(cost.scale, len(counts), self._session.source), cost.threshold)

    def _count(self, batch: Sequence[Clique]) -> list[Integers]:
        """Exact counts, flat, as int64."""
        return whole_tables(self._engine, self.domain, batch)

    def _known(self, estimates: Estimates) -> dict[Clique, int]:
        try:
            return self._scores.setdefault(estimates, {})
        except TypeError:  # cannot be remembered by: scored anew each time
            return {}
