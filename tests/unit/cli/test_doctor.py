"""`understudy doctor` says what is wrong with a machine, and leaves with 1 where no run should be made on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import understudy as us
from understudy.cli.commands.doctor import command, kernel_twins, surroundings, ways_in
from understudy.memory_left import MemoryLeft
from understudy.privacy.noise.randomness import OperatingSystem

LOOKED_AT = {
    "python",
    "numpy",
    "numba",
    "randomness",
    "kernels",
    "ledger",
    "memory",
    "temporary files",
    "engines",
}


def doctor(ledger: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """How the command leaves, and its symptoms by what they are about."""
    said = CliRunner().invoke(command, ["--json", "--ledger", str(ledger)])
    found = json.loads(said.output)
    assert found["healthy"] is (said.exit_code == 0)
    return said.exit_code, {symptom["what"]: symptom for symptom in found["symptoms"]}


def test_a_sound_machine_is_told_so(tmp_path: Path) -> None:
    us.Ledger(tmp_path / "ledger.db").set_limit("people", 1.0, 1e-9)
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 0, found
    assert found.keys() >= LOOKED_AT
    assert "1 table," in found["ledger"]["said"]
    said = CliRunner().invoke(command, ["--ledger", str(tmp_path / "none.db")])
    assert said.exit_code == 0 and "all that every run needs is here" in said.output
    assert not (tmp_path / "none.db").exists()


def test_a_damaged_ledger_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no ledger")
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 1 and found["ledger"]["state"] == "fault" and found["ledger"]["todo"]


def test_words_that_repeat_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OperatingSystem, "words", lambda self, count: np.full(count, 0x55AA, np.uint64))
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 1 and found["randomness"]["state"] == "fault"


@pytest.mark.parametrize("kernel", ["_counting", "_noise", "_sums", "_ends"])
def test_a_kernel_that_answers_otherwise_than_numpy_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    assert getattr(kernel_twins, kernel)()
    monkeypatch.setattr(kernel_twins, kernel, lambda: False)
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 1 and "not what NumPy says" in found["kernels"]["said"]


def test_a_package_that_is_missing_or_old_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "CORE", ("numpy", "nowhere_to_be_found"))
    monkeypatch.setattr(surroundings, "_least_versions", lambda: {"numpy": "99.0"})
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 1
    assert found["numpy"]["todo"] == 'pip install "numpy>=99.0"'
    assert found["nowhere_to_be_found"]["state"] == "fault"


def test_little_memory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for megabytes, state in ((100, "fault"), (800, "note"), (4000, "fine")):
        monkeypatch.setattr(
            surroundings, "memory_limits", lambda m=megabytes: [MemoryLeft(m << 20, "a container's limit")]
        )
        code, found = doctor(tmp_path / "ledger.db")
        assert found["memory"]["state"] == state and code == (state == "fault")


def test_extras_that_are_missing_are_named_with_the_way_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways_in, "find_spec", lambda package: None if package == "deltalake" else object())
    monkeypatch.setattr(ways_in, "_java", lambda: False)
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 0
    assert found["not installed"]["said"] == "Delta tables"
    assert 'understudy[delta]"' in found["not installed"]["todo"]
    assert "JAVA_HOME" in found["java"]["todo"]


def test_a_look_that_fails_is_a_fault_without_the_words_of_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[MemoryLeft]:
        raise ValueError("a private value")

    monkeypatch.setattr(surroundings, "memory_limits", broken)
    code, found = doctor(tmp_path / "ledger.db")
    assert code == 1 and "ValueError" in found["memory"]["said"]
    assert "private value" not in json.dumps(found)
