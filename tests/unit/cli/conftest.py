"""A folder to type commands in."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a ledger of its own, a small table and its schema."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    rows = "\n".join(f"{'MF'[i % 2]},{i % 90},{i % 7 * 1000.5}" for i in range(400))
    (tmp_path / "people.csv").write_text("sex,age,income\n" + rows + "\n")
    (tmp_path / "people.toml").write_text(
        '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["M", "F"]\n'
        '[columns.age]\ntype = "integer"\nmin = 0\nmax = 99\n'
        '[columns.income]\ntype = "number"\nmin = 0\nmax = 10_000\nbins = 10\n'
    )
    return tmp_path
