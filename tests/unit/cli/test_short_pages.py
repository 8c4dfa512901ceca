"""The terminal says in short what the two pages say in full."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import understudy as us


@pytest.fixture
def release(folder: Path) -> us.Release:
    """A release of a table whose names could be taken for markup of the terminal."""
    columns: dict[str, us.Column] = {"[bold]a[/bold]": us.Integer(0, 3), "b": us.Category(("x", "y"))}
    table = {"[bold]a[/bold]": [i % 4 for i in range(400)], "b": ["xy"[i % 4 // 2] for i in range(400)]}
    schema = us.Schema(columns, name="[red]t")
    return us.fit(table, schema, epsilon=2.0, delta=1e-9, mechanism="mst", ledger=folder / "ledger.db")


def test_report_without_a_page_says_the_promise_and_draws_the_columns(release, understudy) -> None:
    release.save("t.release")
    said = understudy("report", "t.release")
    assert said.code == 0 and "[red]t: epsilon 2, delta 1e-09, about " in said.out
    assert "Protected is every single record; a suspicion of 50% grows to 88% at worst." in said.out
    assert "do not trust" in said.out and "the budget went on" in said.out
    assert re.search(r"\[bold\]a\[/bold\] +[\u2581-\u2588]{4}", said.out)
    assert "\x1b[" not in said.out  # colours are for terminals alone
    assert not Path("report.html").exists()


def test_evaluation_begins_with_its_verdict(release, understudy) -> None:
    Path("real.csv").write_text("a,b\n" + "".join(f"{i % 4},{i % 4 // 2}\n" for i in range(400)))
    Path("bad.csv").write_text("a,b\n" + "".join(f"{i % 4},{1 - i % 4 // 2}\n" for i in range(400)))
    said = understudy("evaluate", "real.csv", "bad.csv")
    assert said.code == 0 and said.out.startswith("CONFIDENTIAL")
    assert "Worse than independent columns" in said.out and "loses to independent columns" in said.out
    assert re.search(r"columns farthest apart +real +synthetic", said.out)
