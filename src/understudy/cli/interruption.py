"""Ctrl-C, while budget may be spent: what was charged, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from understudy.errors import UnderstudyError

Charged = dict[
    tuple[str, str], tuple[float, float]
]  # a table's name and a job's key -> its epsilon and delta


class Interrupted(KeyboardInterrupt):
    """A run that a person interrupted, with what to tell them."""


@contextmanager
def told_what_was_spent(data: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Tell whoever interrupts a run on `data` what it had charged by then."""
    from understudy.privacy.ledger.ledger import default_ledger_path

    path = Path(settings["ledger"] or default_ledger_path())
    before = _charged(path)
    try:
        yield
    except KeyboardInterrupt:
        new = {job: cost for job, cost in _charged(path).items() if job not in before}
        raise Interrupted(_words(new, _resumes(data, settings["job"]))) from None


def _charged(path: Path) -> Charged:
    """The jobs in a ledger; none where there is no ledger, or none that can be read (a run says so itself)."""
    from understudy.privacy.ledger.ledger import Ledger

    with suppress(UnderstudyError, OSError):
        if path.exists():
            ledger = Ledger(path, create=False)
            return {
                (name, key): (job.epsilon, job.delta)
                for name in ledger.names()
                for key, job in ledger.account(name).jobs.items()
            }
    return {}


def _resumes(data: str, job: str | None) -> bool:
    """Whether the same command is known to be the same job: files tell whether they changed."""
    from understudy.pipeline.sources.registry import kind_of

    return job is not None or kind_of(data).name in ("table", "files")


def _words(new: Charged, resumes: bool) -> str:
    if not new:
        return "this run had charged nothing yet."
    (name, _), (epsilon, delta) = next(iter(new.items()))
    spent = f"epsilon {epsilon:g} and delta {delta:g} are charged to {name!r}, for all that this run may ask."
    if resumes:
        return f"{spent} The same command goes on where it stopped, and charges nothing more."
    return (
        f"{spent} This kind of source does not say whether it changed, so the same command would be a new run; "
        "given --job LABEL from the start, it goes on where it stopped and charges nothing more."
    )
