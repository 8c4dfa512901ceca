"""What is calibrated while a table is read is what would be calibrated after it; what fails does so in its turn."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

import understudy as us
from understudy.errors import BudgetError
from understudy.privacy.accounting import calibrated_ahead, calibration
from understudy.privacy.accounting.budget import ONE_RECORD, Budget
from understudy.privacy.accounting.calibrated_ahead import calibrate_ahead, calibrated
from understudy.privacy.accounting.calibration import Group, calibrate

BUDGET = Budget(1.0, 1e-9)
PLAN = (
    Group("choose", "choose", Fraction(1, 3), count=3),
    Group("measure", "measure", Fraction(2, 3), weights=(1.0, 1.0)),
)


def test_a_plan_that_was_begun_is_the_same_and_is_calibrated_once(monkeypatch) -> None:
    threads = []

    def counted(*plan):
        threads.append(threading.current_thread().name)
        return calibrate(*plan)

    monkeypatch.setattr(calibrated_ahead, "calibrate", counted)
    calibrate_ahead(BUDGET, PLAN, ONE_RECORD)
    found = calibrated(BUDGET, PLAN, ONE_RECORD)
    assert threads == ["calibrating"]
    alone = calibrated(BUDGET, PLAN, ONE_RECORD)  # what was begun is handed out once
    assert len(threads) == 2
    assert found.losses == alone.losses


def test_another_budget_or_plan_is_not_taken_for_the_one_that_was_begun() -> None:
    calibrate_ahead(BUDGET, PLAN, ONE_RECORD)
    larger = calibrated(Budget(2.0, 1e-9), PLAN, ONE_RECORD)
    assert larger.rho > calibrated(BUDGET, PLAN, ONE_RECORD).rho


def test_a_fault_is_told_to_whoever_asks(monkeypatch) -> None:
    def refused(*plan):
        raise BudgetError("no.")

    monkeypatch.setattr(calibrated_ahead, "calibrate", refused)
    calibrate_ahead(BUDGET, PLAN, ONE_RECORD)
    with pytest.raises(BudgetError, match="no"):
        calibrated(BUDGET, PLAN, ONE_RECORD)


def test_a_run_calibrates_its_plan_once_while_it_reads(tmp_path, monkeypatch) -> None:
    threads = []

    def counted(*plan):
        threads.append(threading.current_thread().name)
        return calibration.calibrate(*plan)

    monkeypatch.setattr(calibrated_ahead, "calibrate", counted)
    schema = us.Schema({"a": us.Category(("x", "y")), "b": us.Category(("u", "v"))})
    for mechanism in ("mst", "adaptive"):
        us.fit(
            {"a": ["x", "y"] * 50, "b": ["u", "v"] * 50},
            schema,
            epsilon=1.0,
            delta=1e-9,
            mechanism=mechanism,
            ledger=tmp_path / "ledger",
        )
    assert threads == ["calibrating"] * 2
