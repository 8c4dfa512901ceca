"""A bar appears for long work on a terminal, and never elsewhere."""

import io
import sys
import time

import pytest

import patience
from understudy.data import progress, progress_bar
from understudy.data.progress_bar import PATIENCE, Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in place of stderr; put there by the test itself, since pytest changes stderr before it."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.02)
    return screen


def wait_for(screen: Terminal, text: str) -> None:
    deadline = time.monotonic() + patience.SECONDS
    while text not in screen.getvalue():
        assert time.monotonic() < deadline, f"{text!r} was never shown"
        time.sleep(0.01)


def test_a_bar_appears_after_two_seconds() -> None:
    assert PATIENCE == 2.0


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    monkeypatch.setattr(progress_bar, "PATIENCE", 60)
    with progress("counting", total=10) as advance:
        advance(10)
    assert terminal.getvalue() == ""


def test_long_work_shows_its_label_even_when_bars_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    with progress("outer work") as outer, progress("inner work", total=10) as advance:
        advance(4)
        outer(1)
        wait_for(terminal, "outer work")
        wait_for(terminal, "inner work")
    assert Bar.display is None  # the display is gone when the work is done


def test_a_failure_takes_its_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)

    def fail() -> None:
        with progress("failing"):
            wait_for(terminal, "failing")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert Bar.display is None


def test_nothing_is_shown_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("counting", total=3) as advance:
            advance(1)
