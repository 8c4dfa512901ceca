"""A Gaussian of a plan may be divided among batches as answers come in, and all of them cost no more than it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from plain_engine import people

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
from understudy.privacy.accounting.losses import GaussianPortion
from understudy.privacy.accounting.spending import Allowance

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
GROUPS = [
    Group("first", "measure", Fraction(1, 10), weights=(1.0, 1.0, 1.0)),
    Group("pool", "measure", Fraction(8, 10)),
    Group("select", "choose", Fraction(1, 10), 3),
]
PAIRS = [("sex", "age"), ("sex", "school"), ("age", "school")]


def opened(epsilon: float = 1.0) -> tuple[Curator, Gaussian, Choice]:
    curator = Curator(people(), Budget(epsilon, 1e-9), source=Seeded(1))
    losses = curator.commit(GROUPS)
    assert isinstance(losses["pool"], Gaussian)
    assert isinstance(losses["select"], Choice)
    curator.measure(["sex", "age", "school"], budget=losses["first"])
    return curator, losses["pool"], losses["select"]


def test_portions_and_choices_take_turns_and_verify() -> None:
    curator, pool, select = opened()
    for clique, share in zip(PAIRS, (HALF, THIRD, Fraction(1, 6)), strict=True):
        curator.choose_dependent(PAIRS, select)
        (measured,) = curator.measure([clique], budget=pool.portion(share))
        assert float(measured.stddev) == pytest.approx(pool.sigma / math.sqrt(share), rel=1e-9)
    assert 0.9 < recompute(curator.certificate()) <= 1.0


def test_no_more_than_the_whole_is_portioned_out() -> None:
    curator, pool, _ = opened()
    curator.measure(PAIRS[:1], budget=pool.portion(HALF))
    curator.measure(PAIRS[1:2], budget=pool.portion(THIRD))
    left = 1 - HALF - THIRD
    for more in (left + Fraction(1, 10**15), THIRD, Fraction(1)):
        with pytest.raises(BudgetError, match="not, or no longer"):
            curator.measure(PAIRS[:1], budget=pool.portion(more))
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.measure(PAIRS[:1], budget=pool)
    curator.measure(PAIRS[:1], budget=pool.portion(left))
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.measure(PAIRS[:1], budget=pool.portion(Fraction(1, 10**15)))


def test_a_portion_of_what_was_not_planned_is_refused() -> None:
    curator, pool, _ = opened()
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.measure(PAIRS[:1], budget=Gaussian(pool.sigma * 0.9, None).portion(HALF))


@pytest.mark.parametrize("share", [0.5, Fraction(0), Fraction(3, 2), -HALF, True, "1/2"])
def test_a_share_is_an_exact_fraction_of_the_whole(share: object) -> None:
    with pytest.raises(BudgetError):
        GaussianPortion(Gaussian(3.0, None), share)  # type: ignore[arg-type]


def test_only_a_loss_whose_weights_were_left_open_is_divided() -> None:
    with pytest.raises(BudgetError, match="weights=None"):
        Gaussian(3.0, (1.0, 1.0)).portion(HALF)


def test_a_loss_with_less_noise_than_its_portion_is_not_covered() -> None:
    allowance, losses = Allowance(Budget(1.0, 1e-9), Neighbours()).commit(GROUPS)
    pool = losses["pool"]
    assert isinstance(pool, Gaussian)
    bold = Gaussian(pool.sigma / math.sqrt(0.5) * (1 - 1e-12))
    with pytest.raises(BudgetError, match="not, or no longer"):
        allowance.charge(pool.portion(HALF), bold, 0.0)


# What an adversary reaches who, by the losses so far, decides how much of the Gaussian to take next, when to
# choose, and when to stop: backwards over a grid of losses, as Theorem 1 of "Accounting" does it.
QUARTERS = 4
STEP = 0.001
GRID = STEP * np.arange(-1200, 1201)  # epsilons that are left
Curve = npt.NDArray[np.float64]


def reached(sigma: float, choice: float, count: int, epsilon: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()
    width = round(choice / STEP)
    done = np.maximum(0.0, -np.expm1(np.minimum(GRID, 0.0)))

    def at(curve: Curve, left: Curve) -> Curve:
        return np.interp(left, GRID, curve, left=1.0, right=0.0)

    @cache
    def worst(quarters: int, choices: int) -> tuple[float, ...]:
        ways = [done]
        for taken in range(1, quarters + 1):
            mu = math.sqrt(taken / QUARTERS) / sigma
            rest = np.array(worst(quarters - taken, choices))
            losses = mu * mu / 2 + mu * nodes
            ways.append(sum(w * at(rest, GRID - loss) for w, loss in zip(weights, losses, strict=True)))
        if choices:
            rest = np.array(worst(quarters, choices - 1))
            for t in range(0, width + 1, 4):
                p = 1 - math.expm1(t * STEP) / math.expm1(width * STEP)
                ways.append(p * at(rest, GRID - t * STEP) + (1 - p) * at(rest, GRID - (t - width) * STEP))
        return tuple(np.max(ways, axis=0).tolist())

    return float(at(np.array(worst(QUARTERS, count)), np.array([epsilon]))[0])


def test_no_way_of_dividing_it_exceeds_what_the_whole_was_charged() -> None:
    sigma, choice, count, epsilon = 8.0, 0.1, 2, 0.25
    charged = compose([Gaussian(sigma, None), Choice(choice, count)]).delta(epsilon)
    got = reached(sigma, choice, count, epsilon)
    assert 0.9 * charged < got <= charged * 1.001  # the grid's own error; the bound is close as well
