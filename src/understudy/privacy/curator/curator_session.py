"""What a curator shares with those recoded from it, and the door through which every answer leaves."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from understudy.errors import BudgetError, ParameterError
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.losses import Loss
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator.certification import Charge, certify
from understudy.privacy.curator.unit_sizes import QUESTION
from understudy.privacy.ledger.job import Job
from understudy.privacy.ledger.ledger import Ledger
from understudy.privacy.ledger.transcript import MemoryTranscript, Transcript
from understudy.privacy.noise.randomness import OperatingSystem, Randomness
from understudy.privacy.plain_values import plain_value

# Hears a copy of a question's words, before it is charged and once it is answered.
Watch = Callable[[Mapping[str, Any], bool], None]


def is_private(source: Randomness) -> bool:
    """Whether noise from this source protects anyone: only the operating system's own, whatever a source says."""
    return type(source) is OperatingSystem and source.private


class CuratorSession:
    """The transcript, the noise, the budget and the questions asked so far."""

    def __init__(
        self, transcript: Transcript, source: Randomness, allowance: Allowance, watch: Watch
    ) -> None:
        self.transcript, self.source, self.allowance, self.watch = transcript, source, allowance, watch
        self.charges: list[Charge] = []
        self._lock = threading.RLock()
        self._asking = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The right to ask one question, priced by the allowance as it is now.

        A question inside another (from an estimate, or from who watches) would be paid for out of an allowance
        that the outer one then puts back: it is refused.
        """
        with self._lock:
            if self._asking:
                raise ParameterError(
                    "a question is asked while another one is being answered.",
                    hint="ask them one after the other; estimates are computed from answers that are known.",
                )
            self._asking = True
            try:
                yield
            finally:
                self._asking = False

    def certificate(self) -> dict[str, Any]:
        """What a release says of its privacy."""
        return certify(self.allowance, self.charges, private=is_private(self.source))

    def bound(self, most: int) -> None:
        """From now on a unit owns at most so many records; refused once anything was asked that depends on it."""
        allowance, asked = self.allowance, {charge.question["question"] for charge in self.charges}
        if not asked <= {QUESTION} or any(part.rule != "one question" for part in allowance.parts):
            raise BudgetError(
                "the bound on a unit's records is changed after questions that it matters for.",
                hint="ask for unit sizes first, then bound them, then ask the rest.",
            )
        self.allowance = replace(allowance, neighbours=replace(allowance.neighbours, records=most))

    def answered(self) -> bool:
        """Whether the next question is known to have an answer already, stored by an earlier run of the job."""
        return self.transcript.stored(len(self.charges))

    def ask(
        self,
        allowance: Allowance,
        losses: tuple[Loss, ...],
        words: Mapping[str, Any],
        answer: Callable[[], bytes],
    ) -> bytes:
        """The stored answer to a question: charge, then count and draw, then store, then return.

        The job durably reserved, when it was opened, all that its questions may cost together; the question and its
        answer become durable together, when they are stored.
        """
        number = len(self.charges)
        self.watch(copy.deepcopy(words), False)
        stored = self.transcript.charge(number, {**words, "losses": [loss.to_dict() for loss in losses]})
        self.allowance = allowance
        self.charges.append(Charge(words, losses, len(allowance.parts) - 1))
        found = self.transcript.store(number, answer()) if stored is None else stored
        self.watch(copy.deepcopy(words), True)
        return found


def opened(
    budget: Budget,
    ledger: Ledger | None,
    job: Job | None,
    neighbours: Neighbours | None,
    source: Randomness | None,
    watch: Watch,
) -> CuratorSession:
    """A session of this budget, once all that its job may cost is durably reserved."""
    budget = plain_value(budget, Budget)
    if not isinstance(budget, Budget):
        raise BudgetError(f"a curator needs a Budget, not {budget!r}.", hint="Budget(1.0, 1e-9)")
    source = OperatingSystem() if source is None else source
    transcript = _transcript(ledger, job, budget, private=is_private(source))
    relation = plain_value(neighbours or Neighbours(), Neighbours)
    return CuratorSession(transcript, source, Allowance(budget, relation), watch)


def _transcript(ledger: Ledger | None, job: Job | None, budget: Budget, *, private: bool) -> Transcript:
    """The job's transcript in the ledger, once all it may cost is durably reserved; without both, one in memory."""
    if ledger is None and job is None:
        return MemoryTranscript()
    if ledger is None or job is None:
        raise ParameterError(
            "a ledger and a job come together: the one says where, the other what for.",
            hint="Curator(engine, budget, ledger=Ledger(), job=Job(name, fingerprint))",
        )
    return ledger.open(job, budget.epsilon, budget.delta, private=private)
