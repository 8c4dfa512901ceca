"""A job's transcript: its questions and their answers, in order. The job paid for them when it was opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from understudy.errors import LedgerError


class Transcript(Protocol):
    """One job's questions and answers, in order."""

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        """The stored answer to question `number`, or None where it may be asked: its job has paid for it.

        A question that was recorded before must be the same one.
        """
        ...

    def stored(self, number: int) -> bool:
        """Whether question `number` was known to have an answer when the ledger was last read."""
        ...

    def store(self, number: int, answer: bytes) -> bytes:
        """The answer that stands for question `number`: this one, unless another was stored first."""
        ...

    def finish(self, result: bytes = b"") -> bytes:
        """The result that stands for the whole job; afterwards nothing new may be asked."""
        ...


class MemoryTranscript:
    """A transcript in memory, for a curator without a ledger: nothing outlives the process."""

    def __init__(self) -> None:
        self._asked = 0

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        check_number(number, self._asked)
        self._asked += 1
        return None

    def stored(self, number: int) -> bool:
        return False

    def store(self, number: int, answer: bytes) -> bytes:
        return answer

    def finish(self, result: bytes = b"") -> bytes:
        return result


def check_number(number: int, asked: int) -> None:
    """Raise a LedgerError unless question `number` is the next after those asked."""
    if number != asked:
        raise LedgerError(f"question {number} was asked where question {asked} comes next.")
