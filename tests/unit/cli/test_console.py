"""Progress is shown to people who wait, and does not flood a log."""

from __future__ import annotations

import threading
import time

import pytest

from understudy.cli import console


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_quick_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with console.stages() as stage:
        for number in range(100):
            stage(f"choosing pair {number} of 100")
    assert lines(capsys) == []


def test_a_long_run_names_the_stage_it_is_in_and_not_every_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.05)
    said: list[str] = []
    begun = time.monotonic()
    with console.stages() as stage:
        for number in range(200):
            stage(f"choosing pair {number} of 200")
            time.sleep(0.002)
        stage("fitting the model")
        while not any("fitting" in line for line in said):
            time.sleep(0.05)
            said += lines(capsys)
        time.sleep(0.2)
    said += lines(capsys)
    assert 1 <= len(said) <= 1 + (time.monotonic() - begun) / console.PATIENCE  # and never 200 by itself
    assert said[-1].startswith("understudy: fitting the model (")
    assert len([line for line in said if "fitting" in line]) == 1  # named once, not every time


def test_a_run_that_fails_leaves_no_thread_behind() -> None:
    def failing() -> None:
        with console.stages() as stage:
            stage("reading the table")
            raise RuntimeError

    before = threading.active_count()
    with pytest.raises(RuntimeError):
        failing()
    assert threading.active_count() == before


def test_numbers_stand_under_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_table([["a", "5"], ["bb", "1,234"]], ["name", "count"])
    assert capsys.readouterr().out.splitlines() == [
        "  name  count",
        "  ----  -----",
        "  a         5",
        "  bb    1,234",
    ]
