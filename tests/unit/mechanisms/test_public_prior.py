"""A public table helps where it is like the private one, and does no harm where it is not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import understudy as us
from nightly import NIGHTLY
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.mechanisms.public.public_prior import FAR, NEAR, raked, supposed
from understudy.mechanisms.registry import describe
from understudy.pipeline.charged import check_charged
from understudy.privacy import Seeded, recompute

NAMES = "abcdef"
PAIRS = list(itertools.combinations(NAMES, 2))


@cache
def moods(rows: int, seed: int, turn: bool = False) -> Table:
    """Columns of four codes that all lean on one hidden thing; turned, half of them lean the other way."""
    rng = np.random.default_rng(seed)
    mood = rng.random(rows)
    codes = {}
    for place, name in enumerate(NAMES):
        leaning = 1 - mood if turn and place % 2 else mood
        codes[name] = np.clip((leaning * 3 + rng.random(rows)).astype(np.int64), 0, 3)
    return Table(Domain(dict.fromkeys(NAMES, 4)), codes)


Recipe = Callable[[Table | None], us.Mechanism]
RECIPES: dict[str, Recipe] = {
    "adaptive": lambda public: us.Adaptive(public=public),
    "aim": lambda public: us.AIM(2, public=public),
    "mst": lambda public: us.MST(public=public),
    "mst, as in the paper": lambda public: us.MST(
        one_way=1, select=1, two_way=1, shrink=False, sharpen=False, runs=False, public=public
    ),
    "mst, forced": lambda public: us.MST([("a", "b", "c")], public=public),
    "independent": lambda public: us.Independent(public=public),
    "fixed": lambda public: us.Fixed([("a", "b"), ("c", "d", "e")], public=public),
}


@pytest.fixture(params=RECIPES, name="recipe")
def _recipe(request: pytest.FixtureRequest) -> Recipe:
    return RECIPES[request.param]


@cache  # several tests look at the same runs
def fitted(
    recipe: Recipe, public: Table | None, epsilon: float = 0.3, seed: int = 1
) -> tuple[us.Curator, us.Fit]:
    curator = us.Curator(moods(1_500, 0), us.Budget(epsilon, 1e-9), source=Seeded(seed))
    return curator, recipe(public)(curator, curator.domain, curator.budget)


def error(fit: us.Fit) -> float:
    """The mean total variation of all pairs."""
    found = []
    for real in moods(1_500, 0).count(PAIRS):
        made = fit.compression.spread(fit.field.marginal(real.clique), Domain(dict.fromkeys(NAMES, 4))).counts
        found.append(np.abs(made / made.sum() - real.counts / real.counts.sum()).sum() / 2)
    return float(np.mean(found))


def test_a_table_like_the_private_one_helps_and_one_unlike_it_does_no_harm(recipe: Recipe) -> None:
    runs = range(2)
    without = np.mean([error(fitted(recipe, None, seed=seed)[1]) for seed in runs])
    right = np.mean([error(fitted(recipe, moods(4_000, 7), seed=seed)[1]) for seed in runs])
    wrong = np.mean([error(fitted(recipe, moods(4_000, 7, turn=True), seed=seed)[1]) for seed in runs])
    assert right < 0.75 * without
    assert wrong < 1.3 * without  # by another tree, drawn with other noise: two runs differ by as much


def test_a_run_says_whether_its_public_table_was_of_use(recipe: Recipe) -> None:
    (right, *_), (wrong, *_) = (
        fitted(recipe, moods(4_000, 7, turn=turn), epsilon=2.0)[1].decisions for turn in (False, True)
    )
    assert "was nearer" in right
    assert "was not found nearer" in wrong
    assert not any("public" in line for line in fitted(recipe, None, seed=1)[1].decisions)


@pytest.mark.parametrize("epsilon", [0.05, 2.0] if NIGHTLY else [2.0])
def test_every_answer_was_paid_for_and_the_claim_holds(recipe: Recipe, epsilon: float) -> None:
    for public in (moods(4_000, 7, turn=True), moods(0, 7)):
        curator, fit = fitted(recipe, public, epsilon=epsilon)
        check_charged(curator.certificate(), fit.measurements, fit.field, fit.compression)
        assert recompute(curator.certificate()) <= epsilon
        asked = [charge["question"] for charge in curator.certificate()["charges"]]
        assert asked.count("distance") == 2


@pytest.mark.parametrize("turn", [False, True])
def test_what_is_no_nearer_than_independence_is_not_supposed(turn: bool) -> None:
    curator = us.Curator(moods(1_500, 0), us.Budget(1.0, 1e-9), source=Seeded(2))
    half = Fraction(1, 4)
    losses = curator.commit(
        [
            us.Group("alone", "measure", 2 * half, weights=(1.0,) * 6),
            us.Group(NEAR, "measure", half),
            us.Group(FAR, "measure", half),
        ]
    )
    alone = curator.measure([(name,) for name in NAMES], budget=losses["alone"])
    start = us.estimate(curator.domain, alone)
    found = supposed(moods(4_000, 7, turn), curator, start, alone, losses, cell_limit=10**5)
    assert (found is None) is turn
    if found is not None:
        assert found.tables and all(len(table.clique) > 1 for table in found.tables)


def test_a_table_is_brought_to_the_sums_of_its_columns() -> None:
    rng = np.random.default_rng(3)
    sums = [rng.random(3) + 0.1, rng.random(4) + 0.1, rng.random(2) + 0.1]
    sums = [100 * each / each.sum() for each in sums]
    found = raked(rng.random((3, 4, 2)), sums)
    for axis, wanted in enumerate(sums):
        np.testing.assert_allclose(found.sum(axis=tuple({0, 1, 2} - {axis})), wanted, rtol=1e-3)
    empty = raked(np.zeros((3, 4)), sums[:2])
    np.testing.assert_allclose(empty, np.multiply.outer(sums[0], sums[1]) / 100, rtol=1e-6)


def test_without_a_public_table_nothing_is_asked_of_one(recipe: Recipe) -> None:
    domain = moods(3, 0).domain
    asked = {group.name for group in recipe(moods(3, 0)).plan(domain)}
    assert asked - {group.name for group in recipe(None).plan(domain)} == {NEAR, FAR}
    assert sum(group.share for group in recipe(moods(3, 0)).plan(domain)) == 1


def test_a_public_table_of_other_codes_is_refused_before_anything_is_spent(recipe: Recipe) -> None:
    other = Table(Domain({**dict.fromkeys(NAMES, 4), "a": 5}), dict.fromkeys(NAMES, np.zeros(3, np.int64)))
    with pytest.raises(ParameterError, match="other columns or codes"):
        recipe(other).plan(moods(3, 0).domain)


def test_the_public_table_is_no_part_of_the_certificate(recipe: Recipe) -> None:
    assert "public" not in describe(recipe(moods(3, 0)))


def test_codes_that_were_learned_otherwise_leave_the_public_table_aside(recipe: Recipe) -> None:
    """After types and bounds were paid for it is too late to refuse: the run goes on without it."""
    curator = us.Curator(moods(1_500, 0), us.Budget(1.0, 1e-9), source=Seeded(2))
    other = Table(Domain({**dict.fromkeys(NAMES, 4), "a": 5}), dict.fromkeys(NAMES, np.zeros(3, np.int64)))
    losses = curator.commit(recipe(moods(3, 0)).plan(curator.domain))
    fit = recipe(other)(curator, curator.domain, losses)
    assert isinstance(fit.measurements[0], Measurement)
