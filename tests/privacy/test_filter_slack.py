"""What losses add to delta outright is set aside before the first question: it cannot be traded for rho later."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_engine import people
from scipy.stats import norm

from understudy.errors import BudgetError
from understudy.privacy import Approximate, Budget, Choice, Curator, Filter, Gaussian, Slack, recompute
from understudy.privacy.accounting import zcdp
from understudy.privacy.accounting.filters import SET_ASIDE, filtered_epsilon

BUDGET = Budget(1.0, 1e-6)


def gaussian_delta(mu: float, epsilon: np.ndarray) -> np.ndarray:
    return norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


def test_slack_chosen_after_looking_would_exceed_the_budget_and_is_refused() -> None:
    slack = 0.99 * BUDGET.delta
    first = zcdp.rho(BUDGET.epsilon, BUDGET.delta - slack) * (1 - 1e-9)
    rest = BUDGET.rho - first
    # Gaussian noise, then, by what it gave away: more of it, or an event of probability `slack`. Either fits alone.
    draws = np.linspace(-12, 12, 200_001)
    loss = math.sqrt(2 * first) * draws + first
    left = BUDGET.epsilon - loss
    measured = gaussian_delta(math.sqrt(2 * rest), left)
    discovered = slack + (1 - slack) * np.maximum(0.0, -np.expm1(np.minimum(left, 0.0)))
    weights = norm.pdf(draws) * (draws[1] - draws[0])
    assert float(weights @ measured) <= BUDGET.delta
    assert float(weights @ discovered) <= BUDGET.delta
    assert float(weights @ np.maximum(measured, discovered)) > 1.15 * BUDGET.delta  # the breach

    looked = Filter(BUDGET).charge(Gaussian(math.sqrt(0.5 / first)))
    assert not looked.admits([Approximate(1e-9, slack)])
    assert not looked.admits([Gaussian(math.sqrt(0.5 / rest))])


def test_the_limit_of_a_filter_does_not_move_with_what_was_asked() -> None:
    filter_ = Filter(BUDGET)
    tenth = Approximate(0.01, BUDGET.delta * SET_ASIDE / 20)
    for _ in range(10):
        filter_ = filter_.charge(tenth, Choice(0.01))
        assert filter_.limit == Filter(BUDGET).limit
    with pytest.raises(BudgetError, match="set aside"):
        filter_.charge(tenth)
    assert zcdp.delta(filter_.limit, BUDGET.epsilon) + 2 * filter_.slack <= BUDGET.delta * (1 + 1e-9)


def test_a_curator_without_a_plan_refuses_a_discovery_that_was_not_set_aside_for() -> None:
    curator = Curator(people(), BUDGET)
    curator.measure([("sex",)], budget=Gaussian(20.0))
    with pytest.raises(BudgetError, match="set aside"):
        curator.discover("city", Approximate(0.05, 0.5 * BUDGET.delta))
    curator.discover("city", Approximate(0.05, 0.01 * BUDGET.delta))
    assert recompute(curator.certificate()) <= BUDGET.epsilon


def test_a_filter_is_recomputed_by_zcdp_and_not_as_a_plan() -> None:
    curator = Curator(people(), BUDGET)
    for sigma in (20.0, 15.0):
        curator.measure([("sex",)], budget=Gaussian(sigma))
    rho = 0.5 / 20.0**2 + 0.5 / 15.0**2
    due = zcdp.epsilon(rho, BUDGET.delta * (1 - SET_ASIDE))
    certificate = curator.certificate()
    assert recompute(certificate) == pytest.approx(due, rel=1e-9)
    assert curator.spent.epsilon(BUDGET.delta) < 0.99 * due  # what fixed losses would cost
    assert filtered_epsilon([Gaussian(20.0), Slack(0.5 * BUDGET.delta)], BUDGET.delta) == math.inf
