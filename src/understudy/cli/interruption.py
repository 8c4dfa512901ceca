"""A run that is broken off while budget may be spent: what was charged, and how to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from understudy.cli.console import say
from understudy.errors import UnderstudyError

Charged = dict[
    tuple[str, str], tuple[float, float]
]  # a table's name and a job's key -> its epsilon and delta


_SAME = (
    "The same command goes on where it stopped, as long as the data is the same, and charges nothing more."
)
_NEW = (
    "Records from standard input are new every time: the same command charges again. Under a label (--job) it would "
    "have gone on for free."
)


class Interrupted(KeyboardInterrupt):
    """A run that a person interrupted, with what to tell them."""


@contextmanager
def told_what_was_spent(settings: Mapping[str, Any], piped: bool = False) -> Iterator[None]:
    """Tell whoever interrupts a run, or meets a fault in it, what it had charged by then and how to go on.

    `piped` says that the records came from standard input: only a label tells such a run from a new one.
    """
    from understudy.privacy.ledger.ledger import default_ledger_path

    resumed = _NEW if piped and not settings["job"] else _SAME
    path = Path(settings["ledger"] or default_ledger_path())
    before = _charged(path)
    try:
        with _stoppable():
            yield
    except KeyboardInterrupt:
        raise Interrupted(
            _words(_charged(path), before, resumed) or "this run had charged nothing yet."
        ) from None
    except Exception:
        if words := _words(_charged(path), before, resumed):
            say(words)
        raise


@contextmanager
def _stoppable() -> Iterator[None]:
    """A signal to stop is an interrupt: files that are half written are removed, and a person is told."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        known = []
    before = {number: signal.signal(number, stop) for number in known}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


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


def _words(now: Charged, before: Charged, resumed: str) -> str:
    new = {job: cost for job, cost in now.items() if job not in before}
    if not new:
        return ""
    (name, _), (epsilon, delta) = next(iter(new.items()))
    charged = (
        f"epsilon {epsilon:g} and delta {delta:g} are charged to {name!r}, for all that this run may ask."
    )
    return f"{charged} {resumed}"
