"""Every bad parameter of the accountant is refused by name, before anything is opened or charged."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from understudy.errors import BudgetError
from understudy.privacy import (
    Approximate,
    Budget,
    Choice,
    Filter,
    Gaussian,
    GaussianFilter,
    Group,
    Laplace,
    Neighbours,
    Slack,
    calibrate,
    compose,
    loss_from_dict,
)

nan, inf = math.nan, math.inf
NUMBERS = [nan, inf, -inf, "1", b"1", None, True, [], 1j, "one"]


@pytest.mark.parametrize("epsilon", [0, -1, -0.0, 20.0001, 1e9, 10**400, *NUMBERS])
def test_a_bad_epsilon_is_refused_in_a_budget(epsilon: Any) -> None:
    with pytest.raises(BudgetError, match="epsilon") as refused:
        Budget(epsilon, 1e-9)
    assert refused.value.hint
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("delta", [0, 1, -1e-9, 1.5, *NUMBERS])
def test_a_bad_delta_is_refused_in_a_budget(delta: Any) -> None:
    with pytest.raises(BudgetError, match="delta"):
        Budget(1.0, delta)


def test_a_large_epsilon_is_taken_when_it_is_meant() -> None:
    assert Budget(25, 1e-9, allow_large_epsilon=True).to_dict()["allow_large_epsilon"] is True
    assert Budget(20, 1e-9).rho > Budget(1, 1e-9).rho
    with pytest.raises(BudgetError, match="allow_large_epsilon"):
        Budget(25, 1e-9, allow_large_epsilon="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Neighbours("swap"), "relation"),
        (lambda: Neighbours("add-remove", 0), "records"),
        (lambda: Neighbours("replace", 1.5), "records"),
        (lambda: Neighbours("replace", nan), "records"),
        (lambda: Neighbours("replace", "2"), "records"),
        (lambda: Gaussian(0), "sigma"),
        (lambda: Gaussian(nan), "sigma"),
        (lambda: Gaussian("1"), "sigma"),
        (lambda: Gaussian(1, ()), "weights"),
        (lambda: Gaussian(1, (1, 0)), "weight"),
        (lambda: Gaussian(1, (1, -1)), "weight"),
        (lambda: Gaussian(1, (1, nan)), "weight"),
        (lambda: Gaussian(1, 3), "weights"),
        (lambda: Gaussian(1, (1, 1e-200)), "weight"),
        (lambda: Gaussian(1, None).scales, "weights"),
        (lambda: Choice(0), "epsilon"),
        (lambda: Choice(-1), "epsilon"),
        (lambda: Choice(1, 0), "count"),
        (lambda: Choice(1, 2.5), "count"),
        (lambda: Laplace(inf), "epsilon"),
        (lambda: Laplace(1, -3), "count"),
        (lambda: Approximate(-1, 1e-9), "epsilon"),
        (lambda: Approximate(1, 0), "delta"),
        (lambda: Slack(1), "delta"),
        (lambda: Slack.of_distance(0, 1), "distance"),
        (lambda: Slack.of_distance(1e-60, 139), "epsilon 139"),
        (lambda: Slack.of_distance(1e-300, 1e6), "epsilon 1e.06"),
        (lambda: loss_from_dict({"kind": "magic"}), "kind"),
        (lambda: loss_from_dict({"kind": "choice", "eps": 1}), "eps"),
        (lambda: loss_from_dict({"kind": "gaussian", "sigma": 1, "neighbours": {"who": 1}}), "gaussian"),
        (lambda: loss_from_dict([]), "kind"),
        (lambda: compose([1.0]), "loss"),
        (lambda: compose([Gaussian(1)]).delta(-0.1), "epsilon"),
        (lambda: compose([Gaussian(1)]).delta(nan), "epsilon"),
        (lambda: compose([Gaussian(1)]).epsilon(0), "delta"),
        (lambda: compose([Gaussian(1)]).epsilon(1), "delta"),
        (lambda: compose([Gaussian(1)]).zcdp_epsilon("x"), "delta"),
        (lambda: Group("", "measure", Fraction(1)), "name"),
        (lambda: Group("a", "guess", Fraction(1)), "kind"),
        (lambda: Group("a", "measure", 0.5), "fraction"),
        (lambda: Group("a", "measure", Fraction(0)), "share"),
        (lambda: Group("a", "measure", Fraction(3, 2)), "share"),
        (lambda: Group("a", "measure", Fraction(1), 2), "batch"),
        (lambda: Group("a", "choose", Fraction(1), weights=(1,)), "weights"),
        (lambda: Group("a", "choose", Fraction(1), 0), "count"),
        (lambda: calibrate(Budget(1, 1e-9), []), "shares"),
        (lambda: calibrate(Budget(1, 1e-9), [Group("a", "measure", Fraction(1, 3))]), "shares"),
        (lambda: calibrate(Budget(1, 1e-9), [Group("a", "measure", Fraction(1, 2))] * 2), "distinct"),
        (lambda: Filter(Budget(1, 1e-9)).charge(Gaussian(1)), "rho"),
        (lambda: Filter(Budget(1, 1e-9)).charge(Slack(1e-8)), "set aside"),
        (lambda: GaussianFilter(Budget(1, 1e-9)).charge(Choice(1)), "Gaussian"),
        (lambda: GaussianFilter(Budget(1, 1e-9)).charge(Gaussian(2)), "mu"),
        (lambda: GaussianFilter(Budget(1, 1e-9)).charge(Gaussian(0.5)), "sigma"),
    ],
)
def test_a_bad_parameter_is_refused(make: Callable[[], object], word: str) -> None:
    with pytest.raises(BudgetError, match=word):
        make()


def test_sensitivities_are_those_of_the_neighbours() -> None:
    assert (Neighbours().l1, Neighbours().l2) == (1, 1.0)
    assert (Neighbours("add-remove", 3).l1, Neighbours("add-remove", 3).l2) == (3, 3.0)
    assert Neighbours("replace", 3).l1 == 6
    assert Neighbours("replace", 3).l2 == pytest.approx(3 * math.sqrt(2), rel=1e-15)
    assert isinstance(Neighbours("replace", 3.0).l1, int)  # type: ignore[arg-type]


def test_a_batch_has_sensitivity_one() -> None:
    loss = Gaussian(2.0, (1, 2, 2), Neighbours("replace", 2))
    moved = sum((loss.neighbours.l2 / scale) ** 2 for scale in loss.scales)
    assert moved == pytest.approx(1 / loss.sigma**2, rel=1e-12)


def test_a_distance_between_samplers_counts_in_both_worlds() -> None:
    for epsilon in (0.0, 1.0, 30.0):
        exact = 1e-20 * (1 + math.exp(epsilon))
        assert exact <= Slack.of_distance(1e-20, epsilon).delta <= exact * (1 + 1e-11)


def test_a_filter_admits_no_more_than_its_budget() -> None:
    budget = Budget(1.0, 1e-9)
    spent = Filter(budget).charge(Gaussian(12)).charge(Choice(0.1, 3), Slack(1e-12))
    assert spent.spent == pytest.approx(1 / 288 + 3 * 0.01 / 8)
    assert Filter(budget).limit == spent.limit < budget.rho
    assert spent.left == spent.limit - spent.spent
    last = Gaussian(math.sqrt(0.5 / spent.left) * (1 + 1e-9))
    full = spent.charge(last)
    assert compose(full.losses).epsilon(1e-9) <= 1.0
    with pytest.raises(BudgetError, match="left"):
        full.charge(Choice(0.01))


def test_a_gaussian_filter_admits_no_more_than_its_budget() -> None:
    budget = Budget(1.0, 1e-9)
    start = GaussianFilter(budget)
    assert start.limit > 2 * budget.rho
    rounds = [Gaussian(sigma, (1.0,) * 20) for sigma in (30, 14, 22, 40, 25)]
    spent = start
    for loss in rounds:
        spent = spent.charge(loss)
    assert spent.spent >= sum(1 / loss.sigma**2 for loss in rounds)
    full = spent.charge(Gaussian(math.sqrt(1 / spent.left) * (1 + 1e-4), (1.0,) * 40))
    assert compose(full.losses).delta(1.0) <= 1e-9
    assert not full.admits([Gaussian(50)])


def test_nothing_asked_costs_nothing() -> None:
    assert compose([]).epsilon(1e-9) == 0.0
    assert compose([]).delta(0.0) == 0.0
    assert compose([Slack(1e-12)]).epsilon(1e-9) == 0.0
    assert compose([Slack(1e-12)]).delta(1.0) == pytest.approx(1e-12)
    assert compose([Gaussian(1e150)]).epsilon(1e-9) == 0.0
    assert compose([Gaussian(1e-3)]).delta(1.0) == 1.0
