"""A few of the faults of `make faults`, which has hundreds."""

from __future__ import annotations

from pathlib import Path

from breakages import Bench


def test_killed_runs_are_paid_for_once_and_go_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, seed=1, engines=("query",), rows=2_000)
    bench.kill(2, usual=3.0)
    assert not bench.broken and sum(held for held, _ in bench.told.values()) >= 2


def test_full_disks_and_forbidden_folders_are_told_and_cost_nothing_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, seed=1, rows=2_000)
    bench.fill_disk()
    bench.forbid()
    assert not bench.broken
