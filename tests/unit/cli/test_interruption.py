"""Ctrl-C says what was spent and how to go on; `-v` says what a run does, and no value."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

import understudy as us
from understudy.data.files.file_set import FileSet
from understudy.mechanisms import Independent
from understudy.pipeline import synthesizer

FIT = (
    "fit",
    "people.csv",
    "--schema",
    "people.toml",
    "--mechanism",
    "independent",
    "--overwrite",
    "-o",
    "people.release",
)
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


SYNTH = ("synth", *FIT[1:6], *BUDGET, "--release", "people.release", "-o", "made.csv")


def test_a_run_ended_between_its_release_and_its_records_goes_on_by_the_same_command(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("understudy.cli.commands.synth.write_sample", stop)
        assert understudy(*SYNTH).code == 130
    left = (folder / "people.release").read_bytes()
    said = understudy(*SYNTH)
    assert said.code == 0, said.err
    assert (folder / "made.csv").exists() and (folder / "people.release").read_bytes() == left
    assert json.loads(understudy("ledger", "people", "--json").out)["spent"]["epsilon"] == 1.0
    said = understudy(*SYNTH)
    assert said.code == 2 and "'made.csv' already" in said.err, (
        "a run that is whole is not made again unasked"
    )


def test_a_run_ended_between_the_parts_of_a_folder_goes_on_by_the_same_command(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("understudy.pipeline.drawing.sample_folder.PART_ROWS", 100)
    synth = (*FIT[:6], *BUDGET, "-o", "parts/", "-n", "400")
    synth = ("synth", *synth[1:])
    assert understudy(*synth).code == 0
    whole = {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}
    (folder / "parts" / "part-000002.parquet").unlink()
    said = understudy(*synth)
    assert said.code == 0, said.err
    assert {path.name: path.read_bytes() for path in (folder / "parts").iterdir()} == whole
    before = (folder / "ledger.db").read_bytes()
    for other in ((*synth, "--neighbours", "replace"), (*synth[:-1], "300")):
        said = understudy(*other)
        assert said.code in (1, 2) and "folder" in said.err, said.err
        assert (folder / "ledger.db").read_bytes() == before
    assert {path.name: path.read_bytes() for path in (folder / "parts").iterdir()} == whole


def test_a_release_does_not_lie_among_the_records(folder: Path, understudy) -> None:
    (folder / "parts").mkdir()
    said = understudy(*SYNTH[:-4], "-o", "parts/", "--release", "parts/people.release")
    assert said.code == 2 and "for records alone" in said.err
    assert not (folder / "ledger.db").exists()


@pytest.mark.parametrize("there", ["another budget's release", "another job's release", "some text"])
def test_any_other_file_in_the_place_of_a_release_stays_and_nothing_is_charged(
    folder: Path, understudy, there: str
) -> None:
    epsilon = "2" if there == "another budget's release" else "1"
    job = ("--job", "other") if there == "another job's release" else ()
    fit = (*FIT[:6], "--epsilon", epsilon, *BUDGET[2:], *job, "-o", "people.release")
    assert understudy(*fit).code == 0
    if job:  # this job is finished too: only by its noise is the release not its own
        assert understudy(*FIT[:6], *BUDGET, "-o", "own.release").code == 0
    if there == "some text":
        (folder / "people.release").write_text("a note")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    said = understudy(*SYNTH)
    assert said.code == 2 and "'people.release' already" in said.err and "--overwrite" in said.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_fault_after_the_charge_says_what_was_charged_and_the_same_command_goes_on(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise us.UnderstudyError("the disk is on fire.")

    with monkeypatch.context() as patched:
        patched.setattr(Independent, "__call__", fail)
        said = understudy(*FIT, *BUDGET)
    assert said.code == 1 and "on fire" in said.err
    assert "epsilon 1 and delta 1e-09 are charged to 'people'" in said.err and "same command" in said.err
    assert understudy(*FIT, *BUDGET).code == 0
    assert json.loads(understudy("ledger", "people", "--json").out)["spent"]["epsilon"] == 1.0


def test_a_run_that_is_told_to_stop_says_what_it_charged(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Independent, "__call__", stopped)
    said = understudy(*FIT, *BUDGET)
    assert said.code == 130 and "are charged to 'people'" in said.err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


QUERY = "duckdb:?query=SELECT * FROM 'people.csv'"


def test_a_source_that_does_not_say_when_it_changed_goes_on_with_a_run_that_was_broken_off(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ("fit", QUERY, "--name", "asked", "--schema", "people.toml", *FIT[4:], *BUDGET)

    def spent() -> float:
        return float(json.loads(understudy("ledger", "asked", "--json").out)["spent"]["epsilon"])

    with monkeypatch.context() as patched:
        patched.setattr(Independent, "__call__", stop)
        for _ in range(2):
            understudy(*fit)
    assert spent() == 1.0
    assert understudy(*fit).code == 0
    assert spent() == 1.0
    assert understudy(*fit).code == 0, "a finished run is not the same run: the records may have changed"
    assert spent() == 2.0


@pytest.mark.parametrize(
    ("command", "output", "ended"),
    [
        ("fit", "people.release", "understudy.pipeline.release.Release.save"),
        ("synth", "made.csv", "understudy.cli.commands.synth.write_sample"),
    ],
)
def test_such_a_run_is_finished_once_its_output_is_written(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch, command: str, output: str, ended: str
) -> None:
    words = (command, QUERY, "--name", "asked", *FIT[2:-1], output, *BUDGET)
    with monkeypatch.context() as patched:
        patched.setattr(ended, stop)
        assert understudy(*words).code == 130
    assert understudy(*words).code == 0
    assert json.loads(understudy("ledger", "asked", "--json").out)["spent"]["epsilon"] == 1.0


@pytest.mark.parametrize("schema", [("--schema", "people.toml"), ()])
def test_a_finished_job_is_answered_from_the_ledger_and_reads_no_record(
    folder: Path, understudy, monkeypatch: pytest.MonkeyPatch, schema: tuple[str, ...]
) -> None:
    fit = ("fit", "csv:people.csv", *schema, "--job", "once", *BUDGET, "--mechanism", "independent")
    assert understudy(*fit, "-o", "first.release").code == 0
    monkeypatch.setattr(FileSet, "scan", stop)
    said = understudy(*fit, "-o", "second.release")
    assert said.code == 0, said.err
    first, second = us.load("first.release"), us.load("second.release")
    assert first.certificate["charges"] == second.certificate["charges"]
    assert first.sample(50, seed=1).equals(second.sample(50, seed=1))


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
