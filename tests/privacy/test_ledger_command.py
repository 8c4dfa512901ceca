"""`understudy ledger`: what it shows, and how it leaves when there is nothing to show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from plain_engine import people

from understudy.cli import main
from understudy.cli import understudy as cli
from understudy.errors import BudgetError, LedgerError, ParameterError
from understudy.privacy import Budget, Choice, Curator, Gaussian, Job, Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger"
    curator = Curator(people(50), Budget(1.0, 1e-9), ledger=Ledger(path), job=Job("people", "x", title="mst"))
    curator.measure([("sex", "age"), ("labforce",)], budget=Gaussian(20.0))
    for _ in range(3):
        curator.choose([("sex",), ("age",)], lambda c: [0] * people(1).domain.size(c), Choice(0.05))
    return path


def show(*arguments: str) -> str:
    shown = CliRunner().invoke(cli, ["ledger", *arguments], catch_exceptions=False)
    assert shown.exit_code == 0
    return shown.output


def test_the_ledger_command_shows_what_was_spent_on_what_when_and_what_is_left(path: Path) -> None:
    show("people", "--ledger", str(path), "--limit-epsilon", "4", "--limit-delta", "1e-8")
    shown = show("people", "--ledger", str(path))
    assert "spent   (1, 1e-09) in 1 jobs" in shown
    assert "left    (3, 9e-09)" in shown
    assert "sex x age" in shown
    assert "mst" in shown
    assert "3 times" in shown
    assert "resumed" in shown


def test_the_ledger_command_tells_machines_the_same_as_json(path: Path) -> None:
    told = json.loads(show("people.csv", "--ledger", str(path), "--json"))
    assert told["name"] == "people"
    assert told["spent"] == {"epsilon": 1.0, "delta": 1e-9}
    assert told["left"] is None
    assert [charge["question"] for charge in told["jobs"][0]["charges"]] == ["measure"] + ["choose"] * 3
    assert all(charge["answered"] for charge in told["jobs"][0]["charges"])
    listed = json.loads(show("--ledger", str(path), "--json"))
    assert [table["name"] for table in listed["tables"]] == ["people"]


def test_the_list_of_tables_names_each_with_what_it_spent(path: Path) -> None:
    assert "people  (1, 1e-09)" in show("--ledger", str(path))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nobody"], ParameterError),
        (["people", "--limit-epsilon", "1"], BudgetError),
        (["--limit-epsilon", "1", "--limit-delta", "1e-9"], BudgetError),
        (["people", "--limit-epsilon", "nan", "--limit-delta", "1e-9"], BudgetError),
        (["people", "--limit-epsilon", "-1", "--limit-delta", "1e-9"], BudgetError),
        (["people", "--limit-epsilon", "1", "--limit-delta", "1"], BudgetError),
        (["people", "--limit-epsilon", "0.5", "--limit-delta", "1e-9"], BudgetError),
    ],
)
def test_refused_parameters_leave_the_ledger_as_it_was(
    path: Path, arguments: list[str], error: type[Exception]
) -> None:
    before = path.read_bytes()
    with pytest.raises(error):
        show(*arguments, "--ledger", str(path))
    assert path.read_bytes() == before


def test_a_missing_ledger_is_an_error_not_a_zero(path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        show("people", "--ledger", str(path) + ".other")
    path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        show("people", "--ledger", str(path))


def test_a_bad_limit_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        show("people", "--ledger", str(tmp_path / "new"), "--limit-epsilon", "0", "--limit-delta", "1e-9")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "code"), [("nobody", 2), ("people", 0)])
def test_the_ledger_command_leaves_with_2_when_parameters_are_refused(
    path: Path, name: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["understudy", "ledger", name, "--ledger", str(path)])
    left = 0
    try:
        main()
    except SystemExit as leave:
        left = int(leave.code or 0)
    assert left == code
