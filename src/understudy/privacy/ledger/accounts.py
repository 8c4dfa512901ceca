"""What a ledger's entries add up to: for each table's name a limit, its jobs, and what is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from understudy.errors import LedgerError
from understudy.privacy.ledger.hash_chain import Entry
from understudy.privacy.plain_values import exact


@dataclass
class RecordedQuestion:
    """One question of a job: what was asked, at which cost, and where its answer stands."""

    time: str
    question: dict[str, Any]
    answer: int | None = None  # the entry that holds the stored answer


@dataclass
class JobRecord:
    """One job: what it reserved when it was opened, and every question since."""

    key: str
    opened: str
    epsilon: float
    delta: float
    private: bool
    title: str
    charges: list[RecordedQuestion] = field(default_factory=list)
    finished: str | None = None
    result: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The job for machines; answers stay where they are."""
        return {
            "job": self.key[:12],
            "title": self.title,
            "opened": self.opened,
            "finished": self.finished,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "private": self.private,
            "charges": [
                {"time": charge.time, "answered": charge.answer is not None, **charge.question}
                for charge in self.charges
            ],
        }


@dataclass
class Account:
    """Everything recorded under one table's name.

    `spent` adds up what the jobs reserved: basic composition, valid however later jobs depend on
    earlier releases (docs/privacy.md, "The ledger").
    """

    name: str
    limit: tuple[float, float] | None = None
    limited: str | None = None
    jobs: dict[str, JobRecord] = field(default_factory=dict)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """(epsilon, delta) reserved by all jobs, exactly."""
        jobs = self.jobs.values()
        epsilon = sum((exact(job.epsilon) for job in jobs), Fraction(0))
        return epsilon, sum((exact(job.delta) for job in jobs), Fraction(0))

    @property
    def left(self) -> tuple[Fraction, Fraction] | None:
        """(epsilon, delta) not yet reserved; None where no limit was set."""
        if self.limit is None:
            return None
        epsilon, delta = self.spent
        return exact(self.limit[0]) - epsilon, exact(self.limit[1]) - delta

    def to_dict(self) -> dict[str, Any]:
        """The account for machines."""
        return {
            "name": self.name,
            "limit": _pair(self.limit),
            "limit_set": self.limited,
            "spent": _pair(self.spent),
            "left": _pair(self.left),
            "jobs": [job.to_dict() for job in self.jobs.values()],
        }


def _pair(pair: tuple[Any, Any] | None) -> dict[str, float] | None:
    return None if pair is None else {"epsilon": float(pair[0]), "delta": float(pair[1])}


class Accounts:
    """All accounts, folded from the entries one by one."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}

    def account(self, name: str) -> Account:
        """The account of a name, empty where nothing was recorded."""
        return self.accounts.get(name) or Account(name)

    def add(self, entry: Entry) -> None:
        """Fold in the next entry."""
        if entry.kind == "ledger":  # the first entry opens the ledger and belongs to no name
            return
        data, account = entry.data, self.accounts.setdefault(entry.name, Account(entry.name))
        match entry.kind:
            case "limit":
                account.limit, account.limited = (data["epsilon"], data["delta"]), entry.time
            case "job":
                said = (data[name] for name in ("epsilon", "delta", "private", "title"))
                account.jobs[entry.job] = JobRecord(entry.job, entry.time, *said)
            case "charge":
                account.jobs[entry.job].charges.append(RecordedQuestion(entry.time, data["question"]))
            case "answer":
                account.jobs[entry.job].charges[data["number"]].answer = entry.seq
            case "finish":
                job = account.jobs[entry.job]
                job.finished, job.result = entry.time, entry.seq
            case _:
                raise LedgerError(
                    f"the ledger's entry {entry.seq} is of a kind this version does not know.",
                    hint="use the version of Understudy that wrote it.",
                )
