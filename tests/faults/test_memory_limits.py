"""A run that does not fit in memory is refused before it is charged, with a way out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import patience
import understudy as us
from understudy import memory_left as limits
from understudy.data.files.file_set import looks_large
from understudy.errors import SizeError
from understudy.memory_left import MemoryLeft, affordable, memory_limits

resource = pytest.importorskip("resource")

SCHEMA = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'
FIT = "understudy fit people.csv --epsilon 1 --delta 1e-9 --ledger ledger.db -o people.release"
MEMINFO = "MemTotal: 9000 kB\nMemAvailable: 4000000 kB\nSwapFree: 1000000 kB\n"


def system(root: Path, files: dict[str, str]) -> Path:
    """A root folder with such files of a system in it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_limits_of_a_container_are_known_in_both_versions(tmp_path: Path) -> None:
    newer = system(
        tmp_path / "newer",
        {
            "proc/self/cgroup": "0::/pod/one\n",
            "proc/meminfo": MEMINFO,
            "sys/fs/cgroup/memory.max": "max\n",
            "sys/fs/cgroup/pod/memory.max": "3000000000\n",
            "sys/fs/cgroup/pod/memory.current": "1000000000\n",
            "sys/fs/cgroup/pod/memory.stat": "anon 5\ninactive_file 300000000\nactive_file 100000000\n",
            "sys/fs/cgroup/pod/one/memory.max": "max\n",
        },
    )
    older = system(
        tmp_path / "older",
        {
            "proc/self/cgroup": "7:cpu,cpuacct:/x\n4:memory:/not/seen/inside\n0::/\n",
            "proc/meminfo": MEMINFO,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "800000000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "300000000\n",
            "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 100000000\ninactive_file 1\n",
        },
    )
    free = system(tmp_path / "free", {"proc/meminfo": MEMINFO})
    container = "the container's limit"
    machine = MemoryLeft(5_000_000 << 10, "what the machine has")
    assert memory_limits(newer) == [MemoryLeft(2_400_000_000, container), machine]
    assert memory_limits(older) == [MemoryLeft(600_000_000, container), machine]
    assert memory_limits(free) == [machine]
    assert memory_limits(tmp_path / "nothing") == []


@pytest.mark.parametrize("megabytes", [150, 400, 690])
def test_no_command_begins_where_its_libraries_do_not_fit(tmp_path: Path, megabytes: int) -> None:
    (tmp_path / "people.csv").write_text("sex\nF\nM\n")
    most = megabytes << 20
    said = subprocess.run(
        [sys.executable, "-m", *FIT.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience.SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    assert said.returncode == 2 and "ulimit -v" in said.stderr, said.stderr
    assert len(said.stderr.splitlines()) == 1 and "Hint" in said.stderr
    assert not (tmp_path / "ledger.db").exists()


def test_a_run_whose_model_does_not_fit_is_refused_before_it_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.toml").write_text(SCHEMA)
    ledger = us.Ledger(tmp_path / "ledger.db")
    monkeypatch.setattr(limits, "memory_limits", lambda root=None: [MemoryLeft(100 << 20, "a limit")])
    with pytest.raises(SizeError, match="a limit") as refused:
        us.fit({"sex": ["F", "M"] * 50}, tmp_path / "people.toml", epsilon=1.0, delta=1e-9, ledger=ledger)
    assert "Nothing was charged" in str(refused.value)
    assert ledger.names() == []


def test_the_model_of_rounds_is_foreseen_as_large_as_it_may_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first tree may have millions of cells, and rounds add to it: no run may be killed for that once charged."""
    town, job = us.Integer(0, 2_999, bins=3_000), us.Integer(0, 1_199, bins=1_200)
    schema = us.Schema({"town": town, "job": job}, name="people")
    records = {"town": [1, 2] * 50, "job": [3, 4] * 50}
    for epsilon in (1.0, 10.0):
        found = us.plan(schema, epsilon=epsilon, delta=1e-9)
        assert found.cells == found.expected_cells == town.size * job.size  # rounds could add nothing to it
        assert found.model_bytes > 1_000_000_000
    wide = us.Schema({f"c{i}": job for i in range(9)}, name="wide")
    grown = [us.plan(wide, epsilon=epsilon, delta=1e-9).expected_cells for epsilon in (0.5, 1.0, 2.0, 10.0)]
    assert grown == [4_400_000, 4_400_000, 4_800_000, 5_000_000]
    assert us.plan(wide, epsilon=1.0, delta=1e-9, mechanism=us.Adaptive(cell_limit=9_000)).cells == 9_000
    assert us.plan(wide, epsilon=1.0, delta=1e-9, rows=10**6).seconds > 10
    left = MemoryLeft(1_000 << 20, "a limit")
    monkeypatch.setattr(limits, "memory_limits", lambda root=None: [left])
    with pytest.raises(SizeError, match="Nothing was charged"):
        us.fit(records, schema, epsilon=1.0, delta=1e-9, source=us.privacy.Seeded(1))


def test_files_are_streamed_where_memory_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("sex\n" + "F\n" * 1000)
    assert not looks_large(str(tmp_path / "people.csv"))
    monkeypatch.setattr(limits, "memory_limits", lambda root=None: [MemoryLeft(4096, "a limit")])
    assert looks_large(str(tmp_path / "people.csv"))
    assert affordable(1 << 30, 64) == 1024 and affordable(100, 64) == 100 and affordable(9999, 2048) == 2048
