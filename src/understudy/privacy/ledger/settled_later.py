"""A ledger in which a job is finished once what it was for is written, and not as soon as all was answered.

A database does not say when it last changed, so there the same command goes on with a run that was broken off, and
begins a new one, with a charge of its own, once that is finished. Were a job finished before its output is written, a
run ended between the two would be charged again.
"""

from __future__ import annotations

from pathlib import Path

from understudy.privacy.ledger.job import Job
from understudy.privacy.ledger.ledger import Ledger, LedgerTranscript


class SettledLater(Ledger):
    """A ledger that finishes its jobs when `settle` is called.

    It is opened, and made where there is none, when it is first asked of a job: a run that cannot read its records
    leaves none.

    Parameters:
        path: the ledger's file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._begun = path, False
        self._waiting: list[tuple[LedgerTranscript, bytes]] = []

    def finished(self, job: Job) -> bool:
        """Whether a job is known and finished, as any ledger tells."""
        self._begin()
        return super().finished(job)

    def open(self, job: Job, epsilon: float, delta: float, *, private: bool = True) -> LedgerTranscript:
        """The job's transcript, charged as in any ledger; only its end waits."""
        self._begin()
        opened = super().open(job, epsilon, delta, private=private)
        return _Waiting(opened, self, self._waiting)

    def _begin(self) -> None:
        if not self._begun:
            super().__init__(self.path)
            self._begun = True

    def settle(self) -> None:
        """Finish what was said to be finished since."""
        while self._waiting:
            transcript, result = self._waiting.pop(0)
            transcript.finish(result)


class _Waiting(LedgerTranscript):
    """A transcript whose end is kept until the ledger settles."""

    def __init__(
        self, opened: LedgerTranscript, ledger: Ledger, waiting: list[tuple[LedgerTranscript, bytes]]
    ) -> None:
        super().__init__(ledger, opened._name, opened._key)
        self._opened, self._kept = opened, waiting

    def finish(self, result: bytes = b"") -> bytes:
        self._kept.append((self._opened, result))
        return result
