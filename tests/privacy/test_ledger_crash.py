"""Kill -9 and races: at every instant, whatever was killed or raced, spent >= released."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from plain_engine import people

from nightly import many
from understudy.errors import BudgetError, LedgerError
from understudy.privacy import Budget, Choice, Curator, Gaussian, Job, Ledger
from understudy.privacy.ledger.stored_answers import pack, pack_text

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

SHARED_MEMORY = Path("/dev/shm")  # what a kill leaves behind does not depend on the disk's speed; a test does
POINTS = many(200)
QUESTIONS = 5
JOB = Job("people", "the job that is killed")
BUDGET = Budget(1.0, 1e-9)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if not os.access(SHARED_MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as quick:
        yield Path(quick)


def run(path: Path, released: Callable[[int, bytes], None]) -> None:
    """A job of five questions, each answer released to the world as soon as it is returned."""
    curator = Curator(people(50), BUDGET, ledger=Ledger(path), job=JOB)
    pairs = [("sex", "age"), ("labforce", "school"), ("sex", "school")]

    def estimate(clique: Any) -> Any:
        return np.zeros(curator.domain.shape(clique))

    def measure(number: int, cliques: list[Any]) -> None:
        measured = curator.measure(cliques, budget=Gaussian(20.0))
        released(number, pack([m.values.astype(np.int64) for m in measured]))

    measure(0, ["sex", "labforce"])
    for number in (1, 2, 3):
        released(number, pack_text(curator.choose(pairs, estimate, Choice(0.05))))
    measure(4, [("sex", "age")])
    curator.finish()


def in_child(work: Callable[[Callable[[int, bytes], None]], None]) -> tuple[int, list[str]]:
    """How a child that did the work ended, and what it released until then."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            work(lambda number, answer: written(writer, number, answer))
        except BaseException:
            os._exit(9)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as world:
        lines = world.read().splitlines()
    _, status = os.waitpid(child, 0)
    return status, lines


def written(writer: int, number: int, answer: bytes) -> None:
    os.write(writer, f"{number} {hashlib.sha256(answer).hexdigest()}\n".encode())


def killing_after(lines: int, work: Callable[[], None]) -> int:
    """How many lines of the privacy room `work` ran through; the process is killed after `lines` of them."""
    passed = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal passed
        if f"{os.sep}privacy{os.sep}" not in frame.f_code.co_filename:
            return None
        if event == "line":
            passed += 1
            if passed == lines:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return passed


def check(path: Path, lines: list[str]) -> None:
    """Spent >= released: all that the world has seen was charged before, and is what the ledger holds."""
    if not lines:
        return
    account = Ledger(path).account("people")
    (job,) = account.jobs.values()
    assert account.spent == (1, pytest.approx(1e-9))
    assert len(job.charges) >= len(lines)
    assert all(charge.answer is not None for charge in job.charges[: len(lines)])


def test_kill_9_at_any_line_never_releases_what_was_not_spent(folder: Path) -> None:
    run(folder / "first", lambda *_: None)  # noise tables are made once; then every run is as long
    total = killing_after(0, lambda: run(folder / "whole", lambda *_: None))
    assert total > 10 * POINTS
    for point in range(POINTS):
        path = folder / f"ledger{point}"
        after = 1 + total * point // POINTS
        status, seen = in_child(lambda out, n=after, p=path: killing_after(n, lambda: run(p, out)))  # type: ignore[misc]
        assert os.WIFSIGNALED(status)
        check(path, seen)
        status, resumed = in_child(lambda out, p=path: run(p, out))  # type: ignore[misc]
        assert status == 0, f"a job killed after line {after} could not be resumed"
        assert len(resumed) == QUESTIONS
        assert resumed[: len(seen)] == seen, "a question was drawn twice"
        check(path, resumed)


def test_kill_9_at_any_moment_never_releases_what_was_not_spent(folder: Path) -> None:
    path = folder / "one"
    started = time.monotonic()
    run(path, lambda *_: None)
    span = time.monotonic() - started
    draw = random.Random(7)
    for point in range(many(200)):
        path = folder / f"ledger{point}"

        def killed(out: Callable[[int, bytes], None], path: Path = path) -> None:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-4, span))
            run(path, out)

        _, seen = in_child(killed)
        check(path, seen)
        status, resumed = in_child(lambda out, p=path: run(p, out))  # type: ignore[misc]
        assert status == 0
        assert resumed[: len(seen)] == seen


def test_kill_9_between_making_the_mark_and_writing_it_leaves_a_ledger_that_works(folder: Path) -> None:
    mark = folder / "ledger.mark"
    mark.touch()
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(folder / "ledger", create=False)
    run(folder / "ledger", lambda *_: None)
    assert Ledger(folder / "ledger", create=False).account("people").spent == (1, pytest.approx(1e-9))
    mark.write_bytes(b"")  # with a ledger beside it, this can only be a loss
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(folder / "ledger")


def race(count: int, work: Callable[[int], None]) -> list[int]:
    """The exit statuses of `count` processes that set off together."""
    start = time.monotonic() + 0.2
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            try:
                time.sleep(max(0.0, start - time.monotonic()))
                work(number)
            except BaseException:
                os._exit(9)
            os._exit(0)
        children.append(child)
    return [os.waitpid(child, 0)[1] for child in children]


def test_eight_racing_processes_never_overspend(folder: Path) -> None:
    path = folder / "ledger"
    Ledger(path).set_limit("people", 1.0, 1e-9)

    def spend(number: int) -> None:
        ledger = Ledger(path)
        for turn in range(6):
            try:
                page = ledger.open(Job("people", f"{number} {turn}"), 0.05, 5e-11)
            except BudgetError:
                continue
            page.charge(0, {"question": "measure"})
            page.store(0, b"%d" % number)

    assert race(8, spend) == [0] * 8
    account = Ledger(path).account("people")
    assert account.spent[0] == 1  # 20 of 48 got what they asked for, no more and no fewer
    assert len(account.jobs) == 20
    assert all(job.charges[0].answer is not None for job in account.jobs.values())


def test_two_processes_and_one_budget_one_wins(folder: Path) -> None:
    path = folder / "ledger"
    Ledger(path).set_limit("people", 1.0, 1e-9)

    def spend(number: int) -> None:
        try:
            Curator(people(20), BUDGET, ledger=Ledger(path), job=Job("people", str(number)))
        except BudgetError:
            os._exit(2)

    assert sorted(os.waitstatus_to_exitcode(status) for status in race(2, spend)) == [0, 2]


def test_eight_processes_can_make_one_ledger_together(folder: Path) -> None:
    path = folder / "new" / "ledger"
    assert race(8, lambda n: Ledger(path).open(Job("people", str(n)), 0.1, 1e-10) and None) == [0] * 8
    assert len(Ledger(path).account("people").jobs) == 8


def test_the_same_job_raced_releases_one_answer_a_question(folder: Path) -> None:
    path = folder / "ledger"
    Ledger(path)

    def work(number: int) -> None:
        with (folder / f"seen{number}").open("w") as seen:
            run(path, lambda k, answer: seen.write(f"{k} {hashlib.sha256(answer).hexdigest()}\n") and None)

    assert race(8, work) == [0] * 8
    assert len({(folder / f"seen{number}").read_text() for number in range(8)}) == 1
    assert Ledger(path).account("people").spent[0] == 1
