"""Ctrl-C says what was spent and how to go on; `-v` says what a run does, and no value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import understudy as us
from understudy.mechanisms import Independent
from understudy.pipeline import synthesizer

FIT = ("fit", "people.csv", "--schema", "people.toml", "--mechanism", "independent", "-o", "people.release")
BUDGET = ("--epsilon", "1", "--delta", "1e-9")


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_before_the_charge_says_that_nothing_was_spent(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthesizer, "open_records", stop)
    said = understudy(*FIT, *BUDGET)
    assert said.code == 130 and "charged nothing" in said.err
    assert not (folder / "people.release").exists()


def test_an_interrupted_run_says_what_it_charged_and_the_same_command_goes_on(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Independent, "__call__", stop)
        said = understudy(*FIT, *BUDGET)
    assert said.code == 130
    assert "epsilon 1 and delta 1e-09 are charged to 'people'" in said.err and "same command" in said.err
    assert understudy(*FIT, *BUDGET).code == 0
    assert json.loads(understudy("ledger", "people", "--json").out)["spent"]["epsilon"] == 1.0


def test_an_interrupt_after_the_fit_says_that_its_result_is_kept_in_the_ledger(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    synth = ("synth", *FIT[1:-1], "made.csv", *BUDGET)
    with monkeypatch.context() as patched:
        patched.setattr("understudy.cli.commands.synth.write_sample", stop)
        assert "same command" in understudy(*synth).err
    assert understudy(*synth).code == 0
    assert json.loads(understudy("ledger", "people", "--json").out)["spent"]["epsilon"] == 1.0


def test_a_source_that_cannot_tell_whether_it_changed_needs_a_label(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from understudy.cli.interruption import _resumes

    assert not _resumes("postgresql://nobody@nowhere/town#people", None)
    assert _resumes("postgresql://nobody@nowhere/town#people", "nightly") and _resumes("people.csv", None)


def test_verbose_says_stages_and_measurements_and_no_count(folder: Path, understudy) -> None:
    said = understudy(*FIT, *BUDGET, "-v")
    lines = said.err.splitlines()
    assert said.code == 0
    assert any("s  reading the table" in line for line in lines) and any("s  done" in line for line in lines)
    assert any("measured sex: " in line for line in lines)
    assert any("read as: table; 3 columns" in line for line in lines)


def test_delta_is_compared_with_the_noisy_number_of_records(folder: Path, understudy) -> None:
    said = understudy(*FIT, "--epsilon", "1", "--delta", "0.1")
    assert "delta 0.1 is above 1 / about" in said.err
    assert "delta 0.1" in us.load("people.release").certificate["warnings"][0]
    assert "delta" not in understudy(*FIT, *BUDGET).err
