"""A ledger that keeps, in memory, what went out through the door: every question with its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from understudy.privacy import Job, Ledger
from understudy.privacy.ledger.transcript import MemoryTranscript


@dataclass
class Answered:
    """A question's words, its losses among them, and the bytes of its answer."""

    question: Mapping[str, Any]
    answer: bytes = b""


@dataclass
class _RecordedTranscript(MemoryTranscript):
    """A transcript in memory whose answers can be read afterwards."""

    log: list[Answered] = field(default_factory=list)

    def __post_init__(self) -> None:
        MemoryTranscript.__init__(self)

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        self.log.append(Answered(question))
        return super().charge(number, question)

    def store(self, number: int, answer: bytes) -> bytes:
        self.log[number].answer = answer
        return answer


class RecordingLedger(Ledger):
    """A ledger for one run of `fit` on a table that an audit made up: it keeps nothing and refuses nothing.

    Never for private records: what is spent here is forgotten.
    """

    def __init__(self) -> None:
        self._transcript = _RecordedTranscript()

    def __repr__(self) -> str:
        return f"RecordingLedger({len(self._transcript.log)} questions)"

    @property
    def log(self) -> list[Answered]:
        """Every question that was asked, with its answer, in order."""
        return self._transcript.log

    def finished(self, job: Job) -> bool:
        """Never: every run of an audit asks anew."""
        return False

    def open(self, job: Job, epsilon: float, delta: float, *, private: bool = True) -> Any:
        """The transcript of the run, whichever job asks."""
        return self._transcript
