"""A job's page: what was paid for when it was opened, and where questions are written down with their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from understudy.errors import LedgerError, ParameterError

NAME_LENGTH = 200


@dataclass(frozen=True)
class Job:
    """Which job this is: the table's name, and everything that makes two runs the same run.

    The caller's `fingerprint` covers schema, mechanism, parameters and budget, never a record. The same
    job opened again gets its stored answers; another fingerprint is another job, and spends again.
    """

    name: str
    fingerprint: str
    title: str = ""

    def __post_init__(self) -> None:
        checked_name(self.name)
        if not isinstance(self.fingerprint, str) or not self.fingerprint:
            raise ParameterError("a job's fingerprint must be a text that is not empty.")


def checked_name(name: str) -> str:
    """The name of a table, once it can be a key of a ledger."""
    if not isinstance(name, str) or not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise ParameterError(
            f"table name {name!r} cannot be a key of a ledger.",
            hint=f"give 1 to {NAME_LENGTH} printable characters.",
        )
    return name


class Page(Protocol):
    """One job's questions and answers, in order."""

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        """The stored answer to question `number`, or None where it may be asked: its job has paid for it.

        A question that was recorded before must be the same one.
        """
        ...

    def stored(self, number: int) -> bool:
        """Whether question `number` was known to have an answer when the page was last looked at."""
        ...

    def store(self, number: int, answer: bytes) -> bytes:
        """The answer that stands for question `number`: this one, unless another was stored first."""
        ...

    def finish(self, result: bytes = b"") -> bytes:
        """The result that stands for the whole job; afterwards nothing new may be asked."""
        ...


class LoosePage:
    """A page in memory, for a curator without a ledger: nothing outlives the process."""

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
    """Nothing, where question `number` is the next after those asked; else a LedgerError."""
    if number != asked:
        raise LedgerError(f"question {number} was asked where question {asked} comes next.")
