"""Tests run in forks of one warmed interpreter: which functions they call, and whether they see a mutant."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from live import Live, NotAppliedError
from mutants import Mutant

MEMORY = 4 << 30  # bytes that a trial may take beyond what the interpreter has
SLOW = 6.0  # seconds beyond which a test is never used
FIRST, ALL = 15.0, 120.0  # seconds of tests for a first look at a mutant, and for a second


@dataclass(frozen=True)
class Reached:
    """A test: how long it takes, and the functions of the package that it calls, as file and name."""

    seconds: float
    functions: frozenset[tuple[str, str]]


class Trials:
    """A pytest session that runs its tests as often as it likes, each time in a fork of itself."""

    def __init__(self, home: Path, then: Callable[[Trials], None]) -> None:
        self.home, self._then = home, then
        self.items: dict[str, Any] = {}
        self.failed = False

    def pytest_configure(self) -> None:
        """The same examples every time, none kept, and none made smaller: a verdict needs only one."""
        import hypothesis

        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", database=None, derandomize=True, phases=phases)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        if session.testsfailed:
            raise session.Interrupted("tests cannot be collected")
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        session.config.pluginmanager.unregister(reporter)
        self.items = {item.nodeid: item for item in session.items}
        self._then(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    def passes(self, name: str) -> bool:
        """Whether a test passes, run here."""
        self.failed = False
        item = self.items[name]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def reach(self, names: Sequence[str], limit: float) -> dict[str, Reached]:
        """What each of these tests calls, run in a fork; those that fail, or are out of time, are left out."""
        with tempfile.NamedTemporaryFile() as file:

            def look() -> int:
                with Path(file.name).open("w") as out:
                    for name in names:
                        seen: dict[int, Any] = {}
                        start = time.perf_counter()
                        passed = _traced(seen, lambda name=name: self.passes(name))
                        seconds = time.perf_counter() - start
                        codes = [
                            code for code in seen.values() if code.co_filename.startswith(str(self.home))
                        ]
                        called = {
                            (
                                os.path.relpath(code.co_filename, self.home),
                                code.co_qualname.split(".<locals>")[0],
                            )
                            for code in codes
                        }
                        if passed:
                            print(json.dumps([name, seconds, sorted(called)]), file=out, flush=True)
                return 0

            _forked(look, limit)
            lines = [json.loads(line) for line in Path(file.name).read_text().splitlines()]
        return {
            name: Reached(seconds, frozenset(map(tuple, functions))) for name, seconds, functions in lines
        }

    def verdict(self, live: Live, mutant: Mutant, source: bytes, names: Sequence[str], seconds: float) -> str:
        """What becomes of a mutant: caught by a test, survived, out of time, or not applied."""
        with tempfile.NamedTemporaryFile() as file:

            def attempt() -> int:
                try:
                    live.plant(mutant, source)
                except NotAppliedError as why:
                    Path(file.name).write_text(str(why))
                    return 3
                for name in names:
                    if not self.passes(name):
                        Path(file.name).write_text(name)
                        return 1
                return 0

            code = _forked(attempt, 20 + 8 * seconds)
            said = Path(file.name).read_text()
        if code is None:
            return "out of time"
        if code == 0:
            return "survived"
        return f"not applied: {said}" if code == 3 else f"caught by {said or 'a crash'}"


def _traced(seen: dict[int, Any], act: Callable[[], bool]) -> bool:
    def note(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if id(code) not in seen:
            seen[id(code)] = code

    threading.settrace(note)  # type: ignore[arg-type]
    sys.settrace(note)  # type: ignore[arg-type]
    try:
        return act()
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def _forked(act: Callable[[], int], limit: float) -> int | None:
    """The number that an act ends with in a fork; None where it is out of time. A crash ends with 2."""
    gc.freeze()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        code = 2
        try:
            code = act()
        finally:
            os._exit(code)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def chosen(reached: Iterable[tuple[str, Reached]], mutant: Mutant, limit: float) -> tuple[list[str], float]:
    """The tests that call a mutant's function, the quickest and most particular first, and their seconds.

    A constant of a module is looked for by whatever calls a function of its file.
    """
    wanted = [
        (name, test)
        for name, test in reached
        if test.seconds <= SLOW
        and (
            (mutant.path, mutant.function) in test.functions
            if mutant.function
            else any(path == mutant.path for path, _ in test.functions)
        )
    ]
    wanted.sort(key=lambda found: (found[1].seconds + 0.02) * (10 + len(found[1].functions)))
    names, total = [], 0.0
    for name, test in wanted:
        if names and total + test.seconds > limit:
            break
        names.append(name)
        total += test.seconds
    return names, total
