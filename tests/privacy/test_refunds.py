"""Choices left out at the end may be measured instead, and no way of using that costs more than was charged."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from plain_engine import people

import understudy as us
from understudy.errors import BudgetError
from understudy.privacy import (
    Budget,
    Choice,
    Curator,
    Gaussian,
    Group,
    Neighbours,
    Seeded,
    compose,
    recompute,
)
from understudy.privacy.accounting.calibration import calibrate

WHOLE, HALF = Fraction(1), Fraction(1, 2)
PAIRS = [("sex", "age"), ("sex", "school"), ("age", "school")]


def groups(*, refund: bool = True) -> list[Group]:
    return [
        Group("first", "measure", Fraction(1, 10), weights=(1.0, 1.0, 1.0)),
        Group("pool", "measure", Fraction(6, 10)),
        Group("tree", "choose", Fraction(2, 10), 3, refund=refund),
        Group("rounds", "choose", Fraction(1, 10), 4, refund=refund),
    ]


def opened(*, refund: bool = True) -> tuple[Curator, dict[str, object]]:
    curator = Curator(people(), Budget(1.0, 1e-9), source=Seeded(1))
    return curator, dict(curator.commit(groups(refund=refund)))


@pytest.mark.parametrize("asked", [0, 1, 3, 5, 7])
def test_what_is_refunded_is_worth_the_choices_that_are_left_and_verifies(asked: int) -> None:
    curator, losses = opened()
    tree, rounds, pool = losses["tree"], losses["rounds"], losses["pool"]
    assert isinstance(tree, Choice) and isinstance(rounds, Choice) and isinstance(pool, Gaussian)
    curator.measure(["sex", "age", "school"], budget=losses["first"])  # type: ignore[arg-type]
    for number in range(asked):
        curator.choose_dependent(PAIRS, tree if number < 3 else rounds)
    curator.measure(PAIRS, budget=pool)
    worth = curator.refund()
    left = max(0, 3 - asked) / 3 * tree.rho + min(4, 7 - asked) / 4 * rounds.rho
    if asked == 7:
        assert worth is None
        return
    assert worth is not None and worth.rho == pytest.approx(left, rel=1e-12) and worth.rho <= left
    for _ in range(2):
        curator.measure(PAIRS, budget=worth.portion(HALF))
    assert 0.97 < recompute(curator.certificate()) <= 1.0
    with pytest.raises(BudgetError, match="no longer"):
        curator.measure(PAIRS, budget=worth.portion(HALF))


def test_choices_passed_over_are_not_refunded() -> None:
    curator, losses = opened()
    rounds = losses["rounds"]
    assert isinstance(rounds, Choice)
    curator.choose_dependent(PAIRS, rounds)
    worth = curator.refund()
    assert worth is not None and worth.rho == pytest.approx(3 / 4 * rounds.rho, rel=1e-12)


def test_no_choice_follows_a_refund_and_none_is_given_twice() -> None:
    curator, losses = opened()
    assert curator.refund() is not None
    assert curator.refund() is None
    for name in ("tree", "rounds"):
        with pytest.raises(BudgetError):
            curator.choose_dependent(PAIRS, losses[name])  # type: ignore[arg-type]


def test_a_plan_without_refunds_gives_none_and_keeps_its_choices() -> None:
    curator, losses = opened(refund=False)
    assert curator.refund() is None
    curator.choose_dependent(PAIRS, losses["tree"])  # type: ignore[arg-type]
    assert Curator(people(), Budget(1.0, 1e-9), source=Seeded(1)).refund() is None


def test_all_choices_of_a_plan_have_a_refund_or_none_has() -> None:
    mixed = [*groups()[:3], Group("rounds", "choose", Fraction(1, 10), 4)]
    with pytest.raises(BudgetError, match="refund"):
        calibrate(Budget(1.0, 1e-9), mixed)
    with pytest.raises(BudgetError, match="refund"):
        Group("first", "measure", HALF, refund=True)


@pytest.mark.parametrize("sizes", [(2, 3, 20, 5, 6, 20, 2, 5, 9), (20,) * 14])
def test_a_refund_costs_the_default_hardly_anything(sizes: tuple[int, ...]) -> None:
    """The figure of docs/privacy.md: 2e-5 of rho, for three to five hundredths of it that may be given back."""
    plan = us.Adaptive().plan(us.Domain({f"c{place}": size for place, size in enumerate(sizes)}))
    without = [replace(group, refund=False) for group in plan]
    for epsilon in (0.1, 1.0, 10.0):
        budget = Budget(epsilon, 1e-9)
        assert 1 - 2.5e-5 < calibrate(budget, plan).rho / calibrate(budget, without).rho <= 1
    assert 0.025 < sum(group.share for group in plan if group.kind == "choose") < 0.05


# What an adversary reaches who, by the losses so far, decides when to give up the choices that are left: backwards
# over a grid of losses, as Theorem 1 of "Accounting" does it.
STEP = 0.001
GRID = STEP * np.arange(-2400, 2401)
Curve = npt.NDArray[np.float64]
SIGMA, RANGE, COUNT, EPSILON = 8.0, 0.3, 3, 0.6


def reached(worth: float) -> float:
    """The delta of a Gaussian and choices, where those left may be given up for so many times their rho."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    width = round(RANGE / STEP)
    done = np.maximum(0.0, -np.expm1(np.minimum(GRID, 0.0)))

    def at(curve: Curve, left: Curve) -> Curve:
        return np.interp(left, GRID, curve, left=1.0, right=0.0)

    def measured(curve: Curve, mu: float) -> Curve:
        losses = mu * mu / 2 + mu * nodes
        return np.asarray(sum(w * at(curve, GRID - x) for w, x in zip(weights, losses, strict=True)))

    @cache
    def worst(choices: int, first: bool) -> tuple[float, ...]:
        """With so many choices left, and the Gaussian still to be asked or not."""
        given_up = measured(done, math.sqrt(worth * choices) * RANGE / 2) if choices else done
        ways = [measured(given_up, 1 / SIGMA) if first else given_up]
        if first:
            ways.append(measured(np.array(worst(choices, False)), 1 / SIGMA))
        if choices:
            rest = np.array(worst(choices - 1, first))
            for t in range(0, width + 1, 4):
                p = 1 - math.expm1(t * STEP) / math.expm1(width * STEP)
                ways.append(p * at(rest, GRID - t * STEP) + (1 - p) * at(rest, GRID - (t - width) * STEP))
        return tuple(np.max(ways, axis=0).tolist())

    return float(at(np.array(worst(COUNT, True)), np.array([EPSILON]))[0])


def test_no_moment_to_give_up_choices_exceeds_what_was_charged() -> None:
    losses = [Gaussian(SIGMA, None), Choice(RANGE, COUNT)]
    charged = compose(losses, Neighbours()).delta(EPSILON)
    assert compose(losses).delta(EPSILON) <= charged
    got = reached(1.0)
    assert 0.9 * charged < got <= charged * 1.001
    assert reached(1.5) > charged * 1.05  # a refund worth more than that would be a breach
