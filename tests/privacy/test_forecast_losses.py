"""Losses of a forecast: near those that a run is calibrated to, whatever the plan, and never those of a run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import understudy
from understudy.privacy import Budget, Gaussian, Group, calibrate
from understudy.privacy.accounting.calibration import forecast_losses
from understudy.privacy.accounting.curve_grid import CurveGrid

THIRD = Fraction(1, 3)


def tree(columns: int) -> list[Group]:
    return [
        Group("one-way", "measure", THIRD, weights=(1.0,) * columns),
        Group("select", "choose", THIRD, columns - 1),
        Group("two-way", "measure", THIRD, weights=(1.0,) * (columns - 1)),
    ]


def open_rounds(choices: int) -> list[Group]:
    return [
        Group("pilot", "measure", Fraction(1, 10), weights=(1.0,) * 14),
        Group("rounds", "measure", Fraction(8, 10)),
        Group("select", "choose", Fraction(1, 10), choices),
    ]


def learned(columns: int) -> list[Group]:
    return [
        Group("learn", "laplace", THIRD, 5),
        Group("select", "choose", THIRD, 2),
        Group("one-way", "measure", THIRD, weights=(1.0,) * columns),
    ]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(
    "plan", [tree(2), tree(14), tree(60), open_rounds(40), learned(6)], ids=["2", "14", "60", "open", "mixed"]
)
def test_forecast_noise_is_within_half_a_percent_of_calibrated_noise(
    plan: list[Group], epsilon: float
) -> None:
    budget = Budget(epsilon, 1e-9)
    exact, forecast = calibrate(budget, plan).losses, forecast_losses(budget, plan)
    for name, loss in exact.items():
        near = forecast[name]
        if isinstance(loss, Gaussian):
            assert isinstance(near, Gaussian)
            assert near.sigma == pytest.approx(loss.sigma, rel=5e-3)
        else:
            assert near.rho == pytest.approx(loss.rho, rel=1e-2)


@pytest.mark.parametrize("count", [1, 3])
def test_a_plan_of_choices_alone_is_forecast_as_it_is_calibrated(count: int) -> None:
    plan = [Group("which", "choose", Fraction(1), count)]
    assert forecast_losses(Budget(1.0, 1e-9), plan) == calibrate(Budget(1.0, 1e-9), plan).losses


def test_forecast_losses_are_asked_for_by_the_forecast_alone() -> None:
    source = Path(understudy.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "forecast_losses" in path.read_text()
    }
    # What a mechanism would likely do with so many rows is a forecast too, from public knowledge alone.
    allowed = {"privacy/accounting/calibration.py", "pipeline/forecast.py", "pipeline/run_plan.py"}
    assert users == allowed


@pytest.mark.parametrize("spacing", [0.02, 0.003])
def test_a_wide_lattice_is_summed_as_a_dense_one_is(spacing: float) -> None:
    epsilons = -1 + 1e-3 * np.arange(3000)
    curve = CurveGrid(-1.0, 1e-3, np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilons))))
    losses = spacing * np.arange(-10.0, 40.0)
    masses = np.exp(-0.5 * np.arange(-5.0, 5.0, 0.2) ** 2)
    masses /= masses.sum()
    straight = [
        sum(m * float(curve.at(np.array([e - loss]))[0]) for loss, m in zip(losses, masses, strict=True))
        for e in epsilons[::250]
    ]
    found = curve.after_atoms(losses, masses).values[::250]
    assert (found >= np.array(straight) * (1 - 1e-9) - 1e-12).all()  # a bound from above, and close
    assert found == pytest.approx(straight, abs=2e-5)
