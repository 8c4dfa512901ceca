"""What was spent on each table, on what, in order; durable; refuses to overspend.

The order that every promise rests on: opening a job reserves all that its questions together may cost, and is
written and synced before anything may be counted or drawn for it. What was asked is written together with its answer,
in one transaction, and the answer leaves only once that is synced. So at every instant, whatever was killed or raced,
what was reserved covers what was released. Of a question that never got an answer nothing is written: its job's
reservation covers it. Proofs: docs/privacy.md, "The ledger".
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.errors import BudgetError, LedgerError
from understudy.privacy.ledger.accounts import Account, Accounts, JobRecord
from understudy.privacy.ledger.append_only_log import AppendOnlyLog, unusable
from understudy.privacy.ledger.hash_chain import canonical
from understudy.privacy.ledger.job import Job, checked_name
from understudy.privacy.ledger.transcript import check_number
from understudy.privacy.plain_values import exact

SHORT = 7  # bytes: which of up to ten million candidates was chosen


def default_ledger_path() -> Path:
    """Where a person's ledger lies unless told otherwise: $UNDERSTUDY_LEDGER, or their data folder."""
    named = os.environ.get("UNDERSTUDY_LEDGER")
    if named:
        return Path(named)
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        folder = "~/Library/Application Support"
    else:
        folder = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    try:
        home = Path(folder).expanduser()
    except RuntimeError:  # neither HOME nor an entry of this user's
        raise LedgerError(
            "this user has no home folder, where a ledger would lie.",
            hint="name the ledger's file: --ledger, or the variable UNDERSTUDY_LEDGER.",
        ) from None
    return home / "understudy" / "ledger.sqlite"


class Ledger:
    """The ledger in one file, for all the tables of one data holder, keyed by their names.

    Parameters:
        path: the file; by default the one of this user ($UNDERSTUDY_LEDGER).
        create: make it where there never was one; on by default.

    Raises:
        LedgerError: it is missing though it was in use, damaged, edited or older than its mark. A ledger never
            starts again at zero.

    Example:
        >>> import understudy as us
        >>> ledger = us.Ledger("mine.db")
        >>> ledger.set_limit("town", epsilon=3.0, delta=1e-8)
        >>> ledger.account("town").limit
        (3.0, 1e-08)
    """

    def __init__(self, path: str | Path | None = None, *, create: bool = True) -> None:
        self.path = _resolved(default_ledger_path() if path is None else path)
        self._accounts = Accounts()
        self._log = AppendOnlyLog(self.path, self._accounts.add, create=create)
        with self._log.turn():
            pass  # reads and verifies all there is

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def names(self) -> list[str]:
        """The names of all tables with a limit or a job.

        Returns:
            The names, sorted.

        Raises:
            LedgerError: the file is damaged, or was rolled back.
        """
        with self._log.turn():
            return sorted(self._accounts.accounts)

    def account(self, name: str) -> Account:
        """Everything recorded under a table's name.

        Parameters:
            name: a table's name; one that was never used has an empty account.

        Returns:
            An account: its limit, what was spent and is left, and every job with its questions.

        Raises:
            LedgerError: the file is damaged, or was rolled back.
        """
        with self._log.turn():
            return self._accounts.account(checked_name(name))

    def set_limit(self, name: str, epsilon: float, delta: float) -> None:
        """Set, once and for good, the most that all jobs on a table may spend together.

        Parameters:
            name: the table's name.
            epsilon: the most in all, above 0: epsilons of jobs add up.
            delta: the most in all, above 0 and below 1: so do deltas.

        Raises:
            BudgetError: there is another limit already, or more was spent.
        """
        checked_name(name)
        pair = _checked(epsilon, delta)
        with self._log.turn() as turn:
            account = self._accounts.account(name)
            if account.limit == pair:
                return
            _check_limit(account, pair)
            turn.add("limit", name, "", {"epsilon": pair[0], "delta": pair[1]})

    def finished(self, job: Job) -> bool:
        """Whether a job is known and finished: all that it asked has an answer, which is read for free.

        Parameters:
            job: the table's name and the job's fingerprint.
        """
        with self._log.turn():
            known = self._accounts.account(job.name).jobs.get(_key(job))
        return known is not None and known.finished is not None

    def open(self, job: Job, epsilon: float, delta: float, *, private: bool = True) -> LedgerTranscript:
        """The job's transcript: a new one, once its whole (epsilon, delta) is reserved, or the one it had.

        A job that is found again is not charged again. What is reserved is never given back.

        Parameters:
            job: the table's name and the job's fingerprint.
            epsilon: what the job may cost in all, above 0.
            delta: the same, above 0 and below 1.
            private: whether its noise is the operating system's; a test's is not.

        Returns:
            The transcript, in which the job's questions and answers are kept.

        Raises:
            BudgetError: less than that is left of the table's limit.
            LedgerError: the job is known with another budget.
        """
        asked = _checked(epsilon, delta)
        key = _key(job)
        with self._log.turn() as turn:
            account = self._accounts.account(job.name)
            found = account.jobs.get(key)
            if found is None:
                _afford(account, asked)
                body = {"epsilon": asked[0], "delta": asked[1], "private": private, "title": job.title}
                turn.add("job", job.name, key, body)
            elif (found.epsilon, found.delta, found.private) != (*asked, private):
                raise LedgerError(
                    f"the ledger knows this job on {job.name!r} with another budget or source of noise.",
                    hint="a fingerprint must cover both.",
                )
        return LedgerTranscript(self, job.name, key)


def _key(job: Job) -> str:
    return hashlib.sha256(job.fingerprint.encode()).hexdigest()


class LedgerTranscript:
    """One job's questions and answers in a ledger.

    What a job may cost was reserved, durably and whole, when it was opened. A question is therefore
    paid for before it is asked, and is written down together with its answer, in one turn at the disk: noted
    where the answer is short, as there may be a thousand such.
    """

    def __init__(self, ledger: Ledger, name: str, key: str) -> None:
        self._log, self._accounts, self._name, self._key = ledger._log, ledger._accounts, name, key
        self._asked: dict[int, Mapping[str, Any]] = {}

    @property
    def _job(self) -> JobRecord:
        return self._accounts.account(self._name).jobs[self._key]

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        self._asked[number] = question
        known = self._known(number)
        if known is None:
            return None
        with self._log.turn() as turn:
            return turn.answer(known)

    def stored(self, number: int) -> bool:
        charges = self._job.charges
        return number < len(charges) and charges[number].answer is not None

    def store(self, number: int, answer: bytes) -> bytes:
        if number not in self._asked:
            raise LedgerError(f"question {number} of the job on {self._name!r} was never charged.")
        with self._log.turn(note=len(answer) <= SHORT) as turn:
            known = self._known(number)
            if known is not None:  # another process resumed the same job and was first: its answer stands
                return turn.answer(known)
            if number == len(self._job.charges):
                question = dict(self._asked[number])
                turn.add("charge", self._name, self._key, {"number": number, "question": question})
            turn.add("answer", self._name, self._key, {"number": number}, answer)
        return answer

    def finish(self, result: bytes = b"") -> bytes:
        with self._log.turn() as turn:
            job = self._job
            if job.result is not None:
                return turn.answer(job.result)
            turn.add("finish", self._name, self._key, {"questions": len(job.charges)}, result)
        return result

    def _known(self, number: int) -> int | None:
        """The entry that answers a question already recorded; None for one that comes next."""
        job = self._job
        if number < len(job.charges):
            if canonical(job.charges[number].question) != canonical(self._asked[number]):
                raise LedgerError(
                    f"question {number} of this job on {self._name!r} is not the one the ledger recorded.",
                    hint="a job is resumed by the same version with the same parameters.",
                )
            return job.charges[number].answer
        check_number(number, len(job.charges))
        if job.finished:
            raise LedgerError(f"the job on {self._name!r} is finished: it may ask nothing new.")
        return None


def _resolved(path: str | Path) -> Path:
    """The path of a ledger, whole; a LedgerError where no file can have it."""
    try:
        return Path(path).expanduser().resolve()
    except OSError as fault:
        raise unusable(repr(os.fspath(path)), fault) from fault
    except (ValueError, RuntimeError):  # a NUL, or a home that nobody has; a circle of links
        raise LedgerError(
            f"no ledger can lie at {os.fspath(path)!r}.", hint="give the path of a file on this machine."
        ) from None


def _checked(epsilon: float, delta: float) -> tuple[float, float]:
    """Epsilon and delta as floats, once they are amounts that can be spent."""
    for what, value, top in (("epsilon", epsilon, math.inf), ("delta", delta, 1.0)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < top:
            rule = "a finite number above 0" if what == "epsilon" else "a number above 0 and below 1"
            raise BudgetError(f"{what} {value!r} is not {rule}.")
    return float(epsilon), float(delta)


def _check_limit(account: Account, pair: tuple[float, float]) -> None:
    """Raise a BudgetError unless a limit can still be set."""
    if account.limit is not None:
        raise BudgetError(
            f"table {account.name!r} already has the limit epsilon {account.limit[0]!r}, "
            f"delta {account.limit[1]!r}.",
            hint="a limit is set once; it cannot be moved afterwards.",
        )
    epsilon, delta = account.spent
    if epsilon > exact(pair[0]) or delta > exact(pair[1]):
        raise BudgetError(
            f"table {account.name!r} has already spent epsilon {float(epsilon)!r}, delta {float(delta)!r}: "
            "more than the limit asked for.",
            hint="set a limit that covers what was spent.",
        )


def _afford(account: Account, asked: tuple[float, float]) -> None:
    """Raise a BudgetError unless the account's limit allows this much more."""
    if account.left is None:
        return
    for what, want, rest in zip(("epsilon", "delta"), asked, account.left, strict=True):
        if exact(want) > rest:
            raise BudgetError(
                f"table {account.name!r}: {what} {want!r} asked, {float(rest)!r} left of its limit.",
                hint=f"ask for less, or see what was spent with `understudy ledger {account.name}`.",
            )
