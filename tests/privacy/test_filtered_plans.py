"""A plan may set a rho aside for questions whose losses answers decide; all together stay within it."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import people

from nightly import many
from understudy.errors import BudgetError, ReleaseError
from understudy.privacy import (
    Budget,
    Choice,
    Curator,
    Filtered,
    Gaussian,
    Group,
    Laplace,
    Loss,
    Role,
    Seeded,
    calibrate,
    compose,
    recompute,
)
from understudy.privacy.accounting import zcdp
from understudy.privacy.accounting.filters import Filter
from understudy.privacy.accounting.spending import Allowance

GROUPS = [
    Group("first", "measure", Fraction(1, 10), weights=(1.0, 1.0, 1.0)),
    Group("open", "measure", Fraction(1, 10)),
    Group("select", "choose", Fraction(1, 10), 3),
    Group("rounds", "filter", Fraction(7, 10)),
]
PAIRS = [("sex", "age"), ("sex", "school"), ("age", "school")]


def opened(epsilon: float = 1.0) -> tuple[Curator, dict[str, Loss]]:
    curator = Curator(people(), Budget(epsilon, 1e-9), source=Seeded(1))
    return curator, curator.commit(GROUPS)


def test_a_plan_with_a_filter_is_spent_to_the_last_drop_and_verifies() -> None:
    curator, losses = opened()
    curator.measure(["sex", "age", "school"], budget=losses["first"])
    rho = losses["rounds"].rho
    for _ in range(3):
        curator.choose_dependent(PAIRS, Choice(math.sqrt(8 * rho / 12)))
        curator.choose_dependent(PAIRS, losses["select"])
        curator.measure(PAIRS[:1], budget=Gaussian(math.sqrt(0.5 / (rho / 4 * (1 - 1e-12)))))
    curator.measure(PAIRS, budget=losses["open"])
    said = curator.certificate()
    assert [part["rule"] for part in said["parts"]] == ["zCDP filter"]
    assert 0.999 < recompute(json.loads(json.dumps(said))) <= 1.0


def test_what_the_filter_was_not_given_is_refused_and_nothing_is_drawn() -> None:
    curator, losses = opened()
    rho = losses["rounds"].rho
    curator.measure(PAIRS[:1], budget=Gaussian(math.sqrt(0.5 / (0.9 * rho))))
    asked = len(curator.charges)
    for more in (0.11, 0.2, 1.0, 2.0):
        with pytest.raises(BudgetError, match="left"):
            curator.measure(PAIRS[:1], budget=Gaussian(math.sqrt(0.5 / (more * rho))))
        with pytest.raises(BudgetError, match="left"):
            curator.choose_dependent(PAIRS, Choice(math.sqrt(8 * more * rho)))
    assert len(curator.charges) == asked


def test_what_was_planned_for_one_group_is_not_taken_by_the_filter_nor_twice() -> None:
    """The filter has room for each of them, but a loss of the plan is asked as often as planned and no more."""
    curator, losses = opened()
    curator.measure(["sex", "age", "school"], budget=losses["first"])
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.measure(["sex", "age", "school"], budget=losses["first"])
    for _ in range(3):
        curator.choose_dependent(PAIRS, losses["select"])
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.choose_dependent(PAIRS, losses["select"])
    with pytest.raises(BudgetError, match="needs a"):
        curator.measure(PAIRS, budget=losses["rounds"])  # a filter is no loss of one question


@settings(max_examples=many(150))
@given(
    st.floats(0.05, 10),
    st.lists(
        st.tuples(st.sampled_from(["gaussian", "choice", "laplace"]), st.floats(1e-3, 1.0)), max_size=12
    ),
    st.integers(0, 2**32),
)
def test_no_order_of_asking_passes_the_limit(
    epsilon: float, wanted: list[tuple[str, float]], seed: int
) -> None:
    budget = Budget(epsilon, 1e-9)
    allowance, losses = Allowance(budget, Curator(people(), budget).neighbours).commit(GROUPS)
    rho = losses["rounds"].rho
    free: list[Loss] = []
    for kind, share in wanted:
        part = share * rho
        free.append(
            Gaussian(math.sqrt(0.5 / part))
            if kind == "gaussian"
            else Choice(math.sqrt(8 * part))
            if kind == "choice"
            else Laplace(math.sqrt(2 * part))
        )
    listed = [
        losses["first"],
        Gaussian(losses["open"].sigma, (1.0,)),
        *[Choice(losses["select"].epsilon)] * 3,
    ]
    spent = {"free": 0.0, "listed": 0.0}
    queue = [*(("free", loss) for loss in free), *(("listed", loss) for loss in listed)]
    for place in np.random.default_rng(seed).permutation(len(queue)):
        whose, loss = queue[place]
        named = losses["open"] if loss is listed[1] else loss
        with suppress(BudgetError):
            allowance = allowance.charge(named, loss, 0.0)
            spent[whose] += loss.rho
    assert spent["free"] <= rho * (1 + 1e-12)
    assert sum(spent.values()) <= Filter(budget).limit
    assert zcdp.epsilon(sum(spent.values()), budget.delta) <= epsilon


def test_a_composition_with_a_filter_is_never_better_than_zcdp() -> None:
    """Losses that answers choose have no tighter curve: the exact one of what was fixed may not be used for them."""
    fixed = [Gaussian(5.0), Choice(0.1, 20)]
    both = compose([*fixed, Filtered(0.02)])
    assert both.epsilon(1e-9) == pytest.approx(zcdp.epsilon(compose(fixed).rho + 0.02, 1e-9), rel=1e-9)
    assert both.epsilon(1e-9) > compose(fixed).epsilon(1e-9)


def test_shares_of_a_filter_are_those_of_the_whole() -> None:
    found = calibrate(Budget(1.0, 1e-9), GROUPS)
    for group in GROUPS:
        assert found.losses[group.name].rho == pytest.approx(float(group.share) * found.rho, rel=1e-12)
    assert found.rho <= Filter(Budget(1.0, 1e-9)).limit


@pytest.mark.parametrize("role", [Role.PAIRS, Role.ONE_WAY, Role.NETWORK])
def test_rounds_are_the_role_of_filters_alone(role: Role) -> None:
    with pytest.raises(BudgetError, match="role"):
        Group("rounds", "filter", Fraction(1), role=role)
    with pytest.raises(BudgetError, match="role"):
        Group("measure", "measure", Fraction(1), role=Role.ROUNDS)


@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, math.inf, "1"])
def test_a_filter_has_a_rho(rho: object) -> None:
    with pytest.raises(BudgetError):
        Filtered(rho)  # type: ignore[arg-type]


def test_a_certificate_that_charges_more_than_its_filter_does_not_hold() -> None:
    curator, losses = opened()
    curator.measure(PAIRS[:1], budget=Gaussian(math.sqrt(0.5 / (0.99 * losses["rounds"].rho))))
    said = json.loads(json.dumps(curator.certificate()))
    said["charges"] = said["charges"] * 2
    said["slack"] *= 2
    with pytest.raises(ReleaseError, match="claims epsilon"):
        recompute(said)
