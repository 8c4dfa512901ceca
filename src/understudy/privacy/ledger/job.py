"""Which job a ledger is asked about: a table's name, and what makes two runs the same run."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import ParameterError

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
