"""Tests run in forks of one warmed interpreter: which functions they call, and whether they see a mutant."""

from __future__ import annotations

import gc
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from live import Live, NotAppliedError
from mutants import Mutant

MEMORY = 4 << 30  # bytes that a trial may take beyond what the interpreter has
SLOW = 1.5  # seconds beyond which a test is never used
PER_FILE = 15.0  # seconds beyond which the other tests of a file are not used
EXAMPLES = 25  # of a law, at most
FIRST, ALL = 4.0, 8.0  # seconds of tests for a first look at a mutant, and for a second
IDLE = 10  # times as long by the clock may a trial take as by the processor, which others use as well


@dataclass(frozen=True)
class Reached:
    """A test: its seconds of the processor, and the functions of the package that it calls, as file and name."""

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
        hypothesis.settings.register_profile(
            "mutants", database=None, derandomize=True, phases=phases, deadline=None
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Few examples of each law, also where it asks for many; no test that starts processes of its own."""
        import hypothesis

        items[:] = [item for item in items if not _starts_processes(item.function)]
        for item in items:
            law = getattr(item.obj, "_hypothesis_internal_use_settings", None)
            if law is not None and law.max_examples > EXAMPLES:
                fewer = hypothesis.settings(law, max_examples=EXAMPLES)
                item.function._hypothesis_internal_use_settings = fewer

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

    def reach(self, live: Live, sources: Mapping[str, bytes], names: Sequence[str]) -> dict[str, Reached]:
        """What each of these tests calls, run in a fork; those that fail, or are slow, are left out."""
        with tempfile.NamedTemporaryFile() as file:

            def look() -> int:
                called: set[tuple[str, str]] = set()
                live.watch(sources, called)
                signal.signal(signal.SIGPROF, _too_slow)
                with Path(file.name).open("w") as out:
                    for name in names:
                        called.clear()
                        start = time.process_time()
                        signal.setitimer(signal.ITIMER_PROF, SLOW, 0.2)
                        passed = self.passes(name)
                        signal.setitimer(signal.ITIMER_PROF, 0)
                        if passed:
                            seconds = time.process_time() - start
                            print(json.dumps([name, seconds, sorted(called)]), file=out, flush=True)
                        if time.process_time() > PER_FILE:
                            break
                return 0

            _forked(look, PER_FILE + SLOW)
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

            code = _forked(attempt, 5 + 4 * seconds)
            said = Path(file.name).read_text()
        if code is None:
            return "out of time"
        if code == 0:
            return "survived"
        return f"not applied: {said}" if code == 3 else f"caught by {said or 'a crash'}"


def _starts_processes(test: Any) -> bool:
    source = inspect.getsource(inspect.unwrap(test))
    return any(word in source for word in ("subprocess", "Process", "executable", "Popen"))


def _too_slow(number: int, frame: Any) -> None:
    raise TimeoutError("a test too slow to be used")


def _forked(act: Callable[[], int], limit: float) -> int | None:
    """The number that an act ends with in a fork; None where it is out of time. A crash ends with another one."""
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
        signal.setitimer(signal.ITIMER_PROF, limit)
        code = 2
        try:
            code = act()
        finally:
            os._exit(code)
    end = time.monotonic() + IDLE * limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGPROF else code
        time.sleep(0.01)
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def chosen(
    reached: Mapping[str, Reached], mutant: Mutant, limit: float, without: Collection[str] = ()
) -> list[str]:
    """The tests that call a mutant's function, the quickest and most particular first, for so many seconds.

    A constant of a module, and a function that no test was seen to call, are looked for by whatever calls a
    function of their file.
    """
    usable = {name: test for name, test in reached.items() if test.seconds <= SLOW and name not in without}
    wanted = [name for name, test in usable.items() if (mutant.path, mutant.function) in test.functions]
    if not wanted and not without:
        wanted = [
            name for name, test in usable.items() if any(path == mutant.path for path, _ in test.functions)
        ]
    wanted.sort(key=lambda name: (usable[name].seconds + 0.02) * (10 + len(usable[name].functions)))
    total = list(accumulate(usable[name].seconds for name in wanted))
    return [name for name, seconds in zip(wanted, total, strict=True) if seconds <= limit] or wanted[:1]
