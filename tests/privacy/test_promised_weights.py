"""Weights that are left open cost less where none may be large, and nobody gets a larger one than was promised."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_engine import people

from understudy.domain import Domain
from understudy.errors import BudgetError, ReleaseError
from understudy.marginals.interactions import Interactions
from understudy.mechanisms import Adaptive
from understudy.mechanisms.adaptive.limited_weights import cut, evened, largest_part, measured_within
from understudy.model import estimate
from understudy.privacy import (
    Budget,
    Curator,
    Gaussian,
    Group,
    Neighbours,
    Seeded,
    calibrate,
    compose,
    recompute,
)
from understudy.privacy.accounting.losses import GaussianPortion, loss_from_dict

COLUMNS = ["sex", "age", "school"]
PAIRS = [("sex", "age"), ("sex", "school"), ("age", "school")]
THIRD = Fraction(1, 3)


def exact_delta(sigma: float, squares: list[float], epsilon: float) -> float:
    """What a batch of these squared weights really costs: one cell a marginal moves by one, all values enumerated."""
    losses, chances = np.zeros(1), np.ones(1)
    for square in squares:
        scale = sigma / math.sqrt(square)
        x = np.arange(-math.ceil(9 * scale) - 1, math.ceil(9 * scale) + 2)
        mass = np.exp(-(x**2) / (2 * scale**2))
        loss = (1 - 2 * x) / (2 * scale**2)
        losses = np.add.outer(losses, loss).ravel()
        chances = np.multiply.outer(chances, mass / mass.sum()).ravel()
        losses, place = np.unique(np.round(losses, 9), return_inverse=True)  # equal up to rounding: one atom
        chances = np.bincount(place, weights=chances)
    return float((chances * np.maximum(-np.expm1(epsilon - losses), 0)).sum())


BATCHES = [[0.25] * 4, [0.25, 0.25, 0.25, 0.125, 0.125], [0.25, 0.25, 0.5 / 3, 0.5 / 3, 0.5 / 3], [0.2] * 5]


@pytest.mark.parametrize("sigma", [0.7, 1.0, 1.7, 4.0])
@pytest.mark.parametrize("batch", BATCHES)
def test_what_is_charged_covers_every_batch_that_the_promise_allows(sigma: float, batch: list[float]) -> None:
    charged = compose([Gaussian(sigma, None, largest=0.25)])
    for epsilon in (0.5 / sigma, 1.5 / sigma, 4.0 / sigma):
        assert exact_delta(sigma, batch, epsilon) <= charged.delta(epsilon) + 1e-9


def test_a_batch_that_breaks_the_promise_may_cost_more_than_is_charged() -> None:
    """So the curator has to refuse it: with one marginal the lattice is coarse, and zCDP alone does not see it."""
    sigma, charged = 4.0, compose([Gaussian(4.0, None, largest=1 / 64)])
    worst = max(exact_delta(sigma, [1.0], e) / charged.delta(e) for e in np.arange(0.2, 1.6, 0.01).tolist())
    assert worst > 1.01


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_promise_lowers_the_noise_of_all(epsilon: float) -> None:
    budget = Budget(epsilon, 1e-9)

    def rho(largest: Fraction) -> float:
        return calibrate(budget, [Group("all", "measure", Fraction(1), largest=largest)]).rho

    assert rho(Fraction(1)) < rho(Fraction(1, 4)) < rho(Fraction(1, 16))
    assert (
        rho(Fraction(1, 16))
        < calibrate(budget, [Group("all", "measure", Fraction(1), weights=(1.0,) * 64)]).rho
    )


def opened(largest: Fraction = THIRD, relation: str = "add-remove") -> tuple[Curator, Gaussian]:
    curator = Curator(people(), Budget(1.0, 1e-9), neighbours=Neighbours(relation), source=Seeded(1))
    pool = curator.commit([Group("pool", "measure", Fraction(1), largest=largest)])["pool"]
    assert isinstance(pool, Gaussian)
    assert pool.largest == float(largest)
    return curator, pool


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_portions_within_the_promise_verify(relation: str) -> None:
    """Whole tables, interactions and distances: what each says of itself is enough to recompute what all cost."""
    curator, pool = opened(relation=relation)
    curator.measure(COLUMNS, budget=pool.portion(Fraction(1, 2)))
    interactions = [Interactions(curator.domain.shape(pair), [(0,), (1,)]) for pair in PAIRS]
    curator.measure(PAIRS, [3.0, 2.0, 1.0], pool.portion(THIRD), interactions)
    field = estimate(curator.domain, [], total=10)
    curator.distances(
        [PAIRS], lambda clique: np.asarray(field.marginal(clique).counts), pool.portion(Fraction(1, 6))
    )
    assert 0.9 < recompute(curator.certificate()) <= 1.0


def test_a_marginal_with_more_than_was_promised_is_refused_and_nothing_charged() -> None:
    curator, pool = opened()
    field = estimate(curator.domain, [], total=10)
    asked = [
        lambda: curator.measure(["sex"], budget=pool),
        lambda: curator.measure(["sex"], budget=pool.portion(Fraction(1, 2))),
        lambda: curator.measure(COLUMNS, [2.0, 1.0, 1.0], budget=pool.portion(Fraction(3, 4))),
        lambda: curator.measure(
            PAIRS[:1], None, pool, [Interactions(curator.domain.shape(PAIRS[0]), [(0,)])]
        ),
        lambda: curator.distances([PAIRS], lambda clique: np.asarray(field.marginal(clique).counts), pool),
    ]
    for ask in asked:
        with pytest.raises(BudgetError):
            ask()
    assert not curator.charges
    curator.measure(["sex"], budget=pool.portion(THIRD))  # as much as was promised, and no less


def test_a_certificate_that_promises_more_than_was_drawn_is_refused() -> None:
    curator, pool = opened()
    curator.measure(PAIRS, None, pool, [Interactions(curator.domain.shape(pair), [(0,)]) for pair in PAIRS])
    certificate = curator.certificate()
    assert recompute(certificate) <= 1.0
    for largest in (0.3, 1e-9):
        forged = copy.deepcopy(certificate)
        forged["charges"][0]["losses"][0]["largest"] = largest
        with pytest.raises(ReleaseError, match="largest"):
            recompute(forged)
    for largest in (0, -1, 2, math.nan, "1"):
        forged["charges"][0]["losses"][0]["largest"] = largest
        with pytest.raises(ReleaseError):
            recompute(forged)


def test_a_loss_says_its_promise_and_old_ones_say_none() -> None:
    promised = Gaussian(2.0, None, largest=0.125)
    assert loss_from_dict(promised.to_dict()) == promised
    assert "largest" not in Gaussian(2.0, None).to_dict()
    assert loss_from_dict({"kind": "gaussian", "sigma": 2.0, "weights": None}).largest == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("largest", [0, Fraction(3, 2), 0.5, True, "1/2"])
def test_a_promise_is_an_exact_fraction_of_a_group_whose_weights_are_open(largest: object) -> None:
    with pytest.raises(BudgetError):
        Group("pool", "measure", Fraction(1), largest=largest)  # type: ignore[arg-type]
    with pytest.raises(BudgetError):
        Group("columns", "measure", Fraction(1), weights=(1.0, 1.0), largest=Fraction(1, 2))
    with pytest.raises(BudgetError):
        Gaussian(1.0, (1.0, 1.0), largest=0.5)


# -- what the default mechanism makes of it --------------------------------------------------------------


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40), st.floats(1e-3, 1.0))
def test_cut_weights_hold_the_promise_and_their_order(weights: list[float], largest: float) -> None:
    limited = np.square(cut(weights, largest))
    assert limited.sum() == pytest.approx(1)
    assert limited.max() <= max(largest, 1 / len(weights)) * (1 + 1e-12)
    assert (np.diff(limited[np.argsort(weights, kind="stable")]) >= -1e-12).all()
    free = np.square(weights) / np.square(weights).sum()
    if free.max() <= largest * (1 - 1e-9):
        assert limited == pytest.approx(free)


@pytest.mark.parametrize(("columns", "largest", "times"), [(1, 8, 9), (2, 8, 8), (3, 8, 8), (3, 64, 22)])
def test_who_deserves_more_is_measured_so_often_that_no_answer_has_too_much(
    columns: int, largest: int, times: int
) -> None:
    """One pair may get all there is, in as many answers as it takes: together they have the noise of one."""
    curator, pool = opened(Fraction(1, largest))
    batches = measured_within(
        curator, COLUMNS[:columns], [5.0, 1.0, 1.0][:columns], pool.portion(Fraction(1))
    )
    assert len(batches) == times
    certain = [sum(1 / float(batch[i].stddev) ** 2 for batch in batches) for i in range(columns)]
    assert sum(certain) == pytest.approx(1 / pool.sigma**2, rel=1e-6)
    kept = [25.0, 1.0, 1.0] if largest == 8 else [1.0, 1.0, 1.0]  # beyond some batches weights are cut
    due = [sum(certain) * w / sum(kept[:columns]) for w in kept[:columns]]
    assert certain == pytest.approx(due, rel=1e-6 if largest == 8 else 0.04)
    assert 0.9 < recompute(curator.certificate()) <= 1.0


def test_columns_alone_never_have_to_be_measured_twice_by_the_default() -> None:
    for columns in (1, 2, 5, 16, 100):
        part = GaussianPortion(Gaussian(3.0, None, largest=float(largest_part(columns))), Fraction(4, 5))
        assert part.largest * columns >= 1


def test_what_the_promise_is_worth_to_the_default() -> None:
    """The figures of docs/privacy.md: .2% of rho at epsilon 1, not 3.2%; at 3 exact curves are of use at all."""
    plan = Adaptive().plan(Domain({f"c{i}": 5 for i in range(16)}))

    def rho(epsilon: float, largest: Fraction) -> float:
        promised = [replace(group, largest=largest) if group.name == "measure" else group for group in plan]
        return calibrate(Budget(epsilon, 1e-9), promised).rho

    best = rho(1.0, Fraction(1, 1000))
    assert 1 - rho(1.0, Fraction(1)) / best == pytest.approx(0.032, abs=0.0005)
    assert 1 - rho(1.0, Fraction(1, 16)) / best == pytest.approx(0.002, abs=0.0005)
    assert rho(3.0, Fraction(1)) == pytest.approx(Budget(3.0, 1e-9).rho)
    assert rho(3.0, Fraction(1, 16)) > 1.07 * rho(3.0, Fraction(1))


@given(
    st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.1, 10)), min_size=1, max_size=20),
    st.floats(0.1, 1000),
)
def test_what_is_known_less_is_measured_until_all_are_known_as_wanted(
    columns: list[tuple[float, float]], more: float
) -> None:
    """Columns that were measured beside pairs that are then left get the same in the end, where the rest suffices."""
    known, wanted = np.array(columns).T
    squares = np.square(evened(known, wanted, more))
    assert squares.sum() == pytest.approx(more, rel=1e-6)
    levels = (known + squares) / wanted
    filled = squares > 1e-8 * more
    assert levels[filled] == pytest.approx(levels[filled].min(), rel=1e-6)
    assert (levels[~filled] >= levels[filled].max() * (1 - 1e-6)).all()
