"""A progress bar on the terminal for anything that takes more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

PATIENCE = 2.0  # seconds before a bar appears


class _Screen:
    """The one live display of the process; tasks that overlap are lines of it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._display: Any = None
        self._shown = 0

    def show(self, label: str, total: float | None, done: float) -> Any:
        """A new line on the display, which starts with the first."""
        with self._lock:
            if self._display is None:
                from rich.console import Console
                from rich.progress import Progress

                self._display = Progress(console=Console(stderr=True), transient=True)
                self._display.start()
            self._shown += 1
            return self._display.add_task(label, total=total, completed=done)

    def update(self, task: Any, done: float) -> None:
        """Move a line to `done`."""
        with self._lock:
            if self._display is not None:
                self._display.update(task, completed=done)

    def hide(self, task: Any) -> None:
        """Take a line off the display, which stops with the last."""
        with self._lock:
            self._shown -= 1
            self._display.remove_task(task)
            if not self._shown:
                self._display.stop()
                self._display = None


_SCREEN = _Screen()


class _Task:
    """One thing under way: it takes a line of the screen once it has lasted long enough."""

    def __init__(self, label: str, total: float | None) -> None:
        self._label, self._total = label, total
        self._done = 0.0
        self._line: Any = None
        self._over = False
        self._lock = Lock()
        self._timer = Timer(PATIENCE, self._appear)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, amount: float = 1) -> None:
        with self._lock:
            self._done += amount
            if self._line is not None:
                _SCREEN.update(self._line, self._done)

    def finish(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._line is not None:
                _SCREEN.hide(self._line)

    def _appear(self) -> None:
        with self._lock:
            if not self._over:
                self._line = _SCREEN.show(self._label, self._total, self._done)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """A function to call with every amount done; a bar shows after two seconds, if stderr is a terminal.

    Without `total` the bar only shows that work goes on.
    """
    if not _is_terminal():
        yield _ignore
        return
    task = _Task(label, total)
    try:
        yield task.advance
    finally:
        task.finish()


def _ignore(amount: float = 1) -> None:
    """Do nothing: nobody is watching."""


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stderr, or a closed one
        return False
