"""What other systems than Linux lack is not needed: without it runs are the same, or refused by name."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import understudy as us
from understudy.data.engines.code_cache import CodeCache
from understudy.data.scratch import ScratchFolder
from understudy.domain import Domain
from understudy.errors import OperatorError
from understudy.privacy.ledger import high_water_mark
from understudy.studio.server import serve

# What Windows has not, of all that is used here; macOS lacks `sched_getaffinity` alone.
CALLS = (
    *("pread", "preadv", "pwrite", "getuid", "geteuid", "fchmod", "fork", "sched_getaffinity", "sysconf"),
    *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"),
)
MODULES = ("fcntl", "resource", "pwd", "grp")
TOML = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'
BUDGET = ("--epsilon", "1", "--delta", "1e-6", "--mechanism", "mst", "--schema", "people.toml")


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, on a system without what only some have."""
    for name in CALLS:
        monkeypatch.delattr(os, name, raising=False)
    for name in MODULES:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "people.csv").write_text("who,sex,town\n" + "a,F,x\nb,M,y\nc,M,x\nd,F,y\n" * 40)
    (tmp_path / "people.toml").write_text(TOML + '[columns.town]\ntype = "category"\nvalues = ["x", "y"]\n')
    return tmp_path


@pytest.mark.parametrize(
    "unit", [(), ("--unit", "who", "--max-records-per-unit", "1")], ids=["records", "units"]
)
@pytest.mark.parametrize("data", ["people.csv", "csv:people.csv"])
def test_a_run_needs_nothing_that_only_some_systems_have(
    windows: Path, understudy: Callable[..., Any], data: str, unit: tuple[str, ...]
) -> None:
    said = understudy("synth", data, *BUDGET, *unit, "--release", "people.release", "-o", "made.csv")
    assert said.code == 0, said.err
    assert us.load(windows / "people.release").verify().holds
    said = understudy("sample", "people.release", "-n", "100", "-o", "parts/")
    assert said.code == 0, said.err
    assert not list(windows.glob("understudy-scratch-*"))


def test_codes_on_disk_come_back_where_a_file_has_one_position(windows: Path) -> None:
    cache = CodeCache(Domain({"a": 300, "b": 3}), windows)
    blocks = [{"a": np.arange(start, start + 50) % 300, "b": np.arange(50) % 3} for start in (0, 200)]
    for block in blocks:
        cache.append(block, 50)
    for (rows, found), block in zip(cache.blocks(["a", "b"]), blocks, strict=True):
        assert rows == 50
        assert all(np.array_equal(found[name], block[name]) for name in "ab")
    cache.close()


def test_without_locks_no_folder_is_taken_for_left_over(windows: Path) -> None:
    one, other = ScratchFolder(windows), ScratchFolder(windows)
    assert one.path.is_dir() and other.path.is_dir()
    one.close()
    assert not one.path.exists() and other.path.is_dir()
    other.close()


def test_the_studio_says_where_it_cannot_work(windows: Path) -> None:
    with pytest.raises(OperatorError, match="does not have"):
        serve(SimpleNamespace())  # type: ignore[arg-type]  # refused before it is looked at


def test_a_ledgers_mark_is_written_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files are text unless said, a line would end otherwise, and a mark that is not read guards nothing."""
    binary, opened = os.O_CLOEXEC, []
    calls = SimpleNamespace(**{**vars(os), "O_BINARY": binary})
    calls.open = lambda path, flags, *mode: opened.append(flags) or os.open(path, flags, *mode)
    monkeypatch.setattr(high_water_mark, "os", calls)
    us.Ledger(tmp_path / "ledger").set_limit("people", 1.0, 1e-6)
    assert [flags for flags in opened if flags & os.O_APPEND]
    assert all(flags & binary for flags in opened if flags & os.O_APPEND)


def test_what_is_spent_is_past_the_disks_own_cache_where_that_takes_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    apple = SimpleNamespace(F_FULLFSYNC=51, fcntl=lambda handle, call: asked.append(call))
    monkeypatch.setitem(sys.modules, "fcntl", apple)
    high_water_mark.HighWaterMark(tmp_path / "ledger").create()
    assert 51 in asked
