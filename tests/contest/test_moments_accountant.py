"""The accountant of the one rival that cannot ask a curator."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.errors import BudgetError
from understudy_contest.moments_accountant import epsilon_of, multiplier_for, renyi


@pytest.mark.parametrize(("rate", "multiplier", "order"), [(0.01, 1.0, 8), (0.2, 2.0, 16), (0.5, 0.8, 3)])
def test_the_divergence_is_the_integral_that_it_stands_for(
    rate: float, multiplier: float, order: int
) -> None:
    x = np.linspace(-40 * multiplier, 40 * multiplier + order, 2_000_001)
    density = np.exp(-(x**2) / (2 * multiplier**2)) / (multiplier * math.sqrt(2 * math.pi))
    ratio = 1 - rate + rate * np.exp((2 * x - 1) / (2 * multiplier**2))
    moment = np.trapezoid(density * ratio**order, x)
    assert renyi(rate, multiplier, order) == pytest.approx(math.log(moment) / (order - 1), rel=1e-9)


def test_the_moments_accountant_without_sampling_is_the_gaussian_mechanism() -> None:
    for order in (2, 7, 64):
        assert renyi(1.0, 3.0, order) == pytest.approx(order / 18)


def test_more_noise_fewer_steps_and_smaller_batches_cost_less() -> None:
    base = epsilon_of(0.01, 1.0, 1000, 1e-6)
    assert epsilon_of(0.01, 1.5, 1000, 1e-6) < base
    assert epsilon_of(0.01, 1.0, 500, 1e-6) < base
    assert epsilon_of(0.005, 1.0, 1000, 1e-6) < base
    assert epsilon_of(0.01, 1.0, 0, 1e-6) == 0.0


def test_the_noise_found_spends_the_budget_and_no_more() -> None:
    for epsilon in (0.3, 1.0, 8.0):
        multiplier = multiplier_for(epsilon, 1e-12, 64 / 170_000, 4000)
        spent = epsilon_of(64 / 170_000, multiplier, 4000, 1e-12)
        assert 0.9 * epsilon < spent <= epsilon


def test_impossible_settings_are_refused() -> None:
    for rate, delta in ((0.0, 1e-6), (1.5, 1e-6), (0.1, 0.0), (0.1, 1.0)):
        with pytest.raises(BudgetError):
            epsilon_of(rate, 1.0, 10, delta)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(BudgetError):
            multiplier_for(epsilon, 1e-6, 0.1, 10)


def test_the_moments_accountant_agrees_with_another() -> None:
    accounting = pytest.importorskip("dp_accounting", reason="dp_accounting is not installed")
    event = accounting.SelfComposedDpEvent(
        accounting.PoissonSampledDpEvent(0.01, accounting.GaussianDpEvent(1.1)), 1000
    )
    theirs = accounting.rdp.RdpAccountant(orders=list(range(2, 65))).compose(event).get_epsilon(1e-6)
    assert epsilon_of(0.01, 1.1, 1000, 1e-6) == pytest.approx(theirs, rel=1e-3)
