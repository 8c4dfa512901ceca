"""The question of field groups: which cells of a vast histogram are well filled."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from plain_engine import people

from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import BudgetError, DomainError, ParameterError, SizeError
from understudy.privacy import Budget, Curator, Group, Neighbours, Seeded, recompute
from understudy.privacy.accounting.losses import Laplace
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator.thresholded_histogram import (
    gap_scale,
    passing,
    past_threshold,
    price_histogram,
)

BUDGET = Budget(2.0, 1e-9)


def cost_of(epsilon: float, cells: int, threshold: int):
    return price_histogram(
        Allowance(Budget(20.0, 1e-9), Neighbours()), Laplace(epsilon), ("a",), cells, threshold
    )


def dense(counts: np.ndarray, epsilon: float, threshold: int, runs: int, random: np.random.Generator):
    """What noise on every cell would release: how often each cell passes, and its mean when it does."""
    q = math.exp(-epsilon)
    noise = random.geometric(1 - q, (runs, counts.size)) - random.geometric(1 - q, (runs, counts.size))
    noisy = counts + noise
    return noisy, noisy >= threshold


@pytest.mark.parametrize(("epsilon", "threshold"), [(0.5, 3), (0.2, 8), (1.5, 1)])
def test_cells_are_released_as_often_and_as_high_as_if_every_cell_had_its_noise(epsilon, threshold):
    counts = np.zeros(40, np.int64)
    counts[[3, 7, 21]] = [2, 6, 15]
    places = np.flatnonzero(counts)
    cost = cost_of(epsilon, counts.size, threshold)
    runs, source = 4000, Seeded(5)
    passed, sums = np.zeros(counts.size), np.zeros(counts.size)
    for _ in range(runs):
        at, values = past_threshold(places, counts[places], cost, source)
        assert at == sorted(set(at)) and all(value >= threshold for value in values)
        passed[at] += 1
        sums[at] += values
    noisy, kept = dense(counts, epsilon, threshold, 40_000, np.random.default_rng(1))
    expected = kept.mean(axis=0)
    deviation = np.sqrt(expected * (1 - expected) / runs + expected * (1 - expected) / 40_000) + 1e-9
    assert (np.abs(passed / runs - expected) < 5 * deviation).all()
    empty = counts == 0
    mean, wanted = sums[empty].sum() / passed[empty].sum(), noisy[:, empty][kept[:, empty]].mean()
    assert mean == pytest.approx(wanted, rel=0.02)


def test_empty_cells_are_taken_independently():
    cost = cost_of(0.3, 12, 2)
    source = Seeded(9)
    none = np.zeros(0, np.int64)
    runs = np.zeros((4000, 12))
    for run in runs:
        run[past_threshold(none, none, cost, source)[0]] = 1
    correlation = np.corrcoef(runs.T) - np.eye(12)
    assert np.abs(correlation).max() < 5 / math.sqrt(len(runs))


def test_the_chance_of_noise_past_a_threshold_is_right_to_many_digits():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(120):
        for scale, floor in ((0.7, 1), (47.3, 100), (91.0, 2000)):
            q = mpmath.e ** (-1 / mpmath.mpf(scale))
            true = q**floor / (1 + q)
            chance = passing(scale, floor)
            assert abs(mpmath.mpf(chance.numerator) / chance.denominator - true) < mpmath.mpf(2) ** -380
            gap = gap_scale(chance)
            ratio = mpmath.e ** -(mpmath.mpf(gap.denominator) / gap.numerator)
            assert abs((1 - ratio) - true) < mpmath.mpf(2) ** -380


def test_a_histogram_of_a_quadrillion_cells_finds_the_filled_ones():
    domain = Domain({f"c{i}": 1000 for i in range(5)})
    codes = {name: np.repeat([7, 999], [3000, 2000]) for name in domain}
    curator = Curator(Table(domain, codes), BUDGET, source=Seeded(2))
    loss = curator.commit([Group("groups", "laplace", Fraction(1))])["groups"]
    found = curator.histogram(domain.names, loss, 200)
    at = [sum(code * 1000**i for i in range(5)) for code in (7, 999)]
    assert found.places.tolist() == at
    np.testing.assert_allclose(found.counts, [3000, 2000], atol=60 * found.scale)
    assert recompute(curator.certificate()) <= BUDGET.epsilon
    with pytest.raises(BudgetError):
        curator.histogram(domain.names, loss, 200)


def test_an_engine_that_counts_whole_marginals_only_answers_small_cliques():
    curator = Curator(people(), BUDGET, source=Seeded(2))
    loss = curator.commit([Group("groups", "laplace", Fraction(1))])["groups"]
    found = curator.histogram(("sex", "age"), loss, 1)
    (truth,) = people().count([("sex", "age")])
    assert found.places.size > 15
    np.testing.assert_allclose(found.counts, truth.counts.reshape(-1)[found.places], atol=40)


def test_what_cannot_be_released_is_refused_before_anything_is_charged():
    wide = Table(
        Domain({f"c{i}": 1000 for i in range(6)}), {f"c{i}": np.zeros(3, np.uint16) for i in range(6)}
    )
    curator = Curator(wide, BUDGET)
    for clique, loss, threshold, fault in (
        (wide.domain.names, Laplace(0.1), 100, SizeError),  # 10^18 cells
        (wide.domain.names[:4], Laplace(0.1), 1, SizeError),  # noise alone would fill half of 10^12
        (("c0",), Laplace(0.1), 0, ParameterError),
        (("c0",), Laplace(0.1), 2.5, ParameterError),
        (("c0",), BUDGET, 5, BudgetError),
        (("height",), Laplace(0.1), 5, DomainError),
        ((), Laplace(0.1), 5, DomainError),
    ):
        with pytest.raises(fault):
            curator.histogram(clique, loss, threshold)
    assert not curator.charges


def test_cells_counted_sparsely_are_those_of_the_whole_marginal():
    random = np.random.default_rng(0)
    table = Table(Domain({"a": 5, "b": 7}), {"a": random.integers(0, 5, 50), "b": random.integers(0, 7, 50)})
    places, counts = table.count_cells(("b", "a"))
    (whole,) = table.count([("b", "a")])
    assert np.array_equal(np.flatnonzero(whole.counts), places)
    assert np.array_equal(whole.counts.reshape(-1)[places], counts)
