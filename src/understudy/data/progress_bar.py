"""A progress bar on the terminal for anything that takes more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any, ClassVar

PATIENCE = 2.0  # seconds before a bar appears


class Bar:
    """One thing under way: it takes a line of the process's one live display once it has lasted long enough."""

    display: ClassVar[Any] = None  # there while a line is shown
    _shown: ClassVar[int] = 0
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, label: str, total: float | None) -> None:
        self._label, self._total, self._done = label, total, 0.0
        self._line: Any = None
        self._over = False
        self._timer = Timer(PATIENCE, self._appear)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, amount: float = 1) -> None:
        with Bar._lock:
            self._done += amount
            if self._line is not None:
                Bar.display.update(self._line, completed=self._done)

    def finish(self) -> None:
        self._timer.cancel()
        with Bar._lock:
            self._over = True
            if self._line is not None:
                Bar._shown -= 1
                Bar.display.remove_task(self._line)
                if not Bar._shown:
                    Bar.display.stop()
                    Bar.display = None

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with Bar._lock:
            if self._over:
                return
            if Bar.display is None:
                Bar.display = Progress(console=Console(stderr=True), transient=True)
                Bar.display.start()
            Bar._shown += 1
            self._line = Bar.display.add_task(self._label, total=self._total, completed=self._done)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """A function to call with every amount done; a bar shows after two seconds, if stderr is a terminal.

    Without `total` the bar only shows that work goes on.
    """
    if not _is_terminal():
        yield lambda amount: None
        return
    bar = Bar(label, total)
    try:
        yield bar.advance
    finally:
        bar.finish()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stderr, or a closed one
        return False
