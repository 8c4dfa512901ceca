"""A cell's likely count is the mean of its posterior, wherever its noise and its prior lie."""

import numpy as np
import pytest

from understudy.mechanisms import posterior_kernel as kernel
from understudy.mechanisms.shrinkage import coarse_to_fine

MEANS = (0.25, 1.0, 4.0)  # of the laws of "anything", beside what was expected
CELLS = [
    (noisy, prior, sigma)
    for sigma in (0.5, 30.0, 200.0)
    for prior in (1e-3, 0.4, 10.0, 5e3)
    for noisy in (-4 * sigma, 0.0, prior, prior + 3 * sigma, 3 * prior)
]


def pulled(noisy: np.ndarray, prior: np.ndarray, sigma: np.ndarray, most: int) -> np.ndarray:
    """What each of so many cells likely holds, each a block of its own."""
    table, alone = prior.copy(), np.zeros(1, np.int32)
    places = np.arange(len(prior), dtype=np.int32)
    kernel.pull(table, noisy, alone, places, np.ones(1), sigma**2, least=1e-3, rounds=30, most=most)
    return table


@pytest.mark.parametrize(("noisy", "prior", "sigma"), CELLS)
def test_a_law_of_anything_has_the_mean_and_chance_of_its_integral(
    noisy: float, prior: float, sigma: float
) -> None:
    chances, means = np.empty(kernel.LAWS), np.empty(kernel.LAWS)
    kernel._laws(noisy, prior, sigma, chances, means)
    for law, ratio in enumerate(MEANS, start=kernel.LAWS - len(MEANS)):
        mean = ratio * prior
        z = noisy / sigma - sigma / mean  # the posterior: a normal of mean z, in sigmas, cut off below zero
        steps = np.linspace(max(z - 12, 0.0), z + 12, 200_001) if z > -6 else np.linspace(0, 60 / -z, 200_001)
        heights = np.exp(-0.5 * (steps - z) ** 2 + 0.5 * min(z, 0.0) ** 2)
        area = np.trapezoid(heights, steps)
        assert means[law] == pytest.approx(sigma * np.trapezoid(steps * heights, steps) / area, rel=1e-3)
        if chances[0] > 0 and z < 30:
            beside_nothing = sigma / mean * area * np.exp(0.5 * max(z, 0.0) ** 2)
            assert chances[law] / chances[0] == pytest.approx(beside_nothing, rel=1e-3)


def test_blocks_of_a_table_that_lies_otherwise_in_memory_are_the_same() -> None:
    rng = np.random.default_rng(3)
    prior = rng.gamma(1.0, 50.0, (12, 70))
    noisy = prior + rng.normal(0, 30, prior.shape)
    straight = coarse_to_fine(noisy, prior, 30.0, alone=[30.0, 30.0])
    turned = coarse_to_fine(np.asfortranarray(noisy), np.asfortranarray(prior), 30.0, alone=[30.0, 30.0])
    np.testing.assert_allclose(straight, turned, rtol=1e-9)


def test_counts_are_as_measured_where_there_is_no_noise() -> None:
    counts = np.random.default_rng(5).integers(1, 1000, 50).astype(float)
    likely = pulled(counts, np.full(50, 20.0), np.full(50, 1e-3), 1000)
    np.testing.assert_allclose(likely, counts, rtol=1e-4)


def test_laws_learned_from_some_cells_are_near_those_of_all() -> None:
    rng = np.random.default_rng(4)
    prior, sigma = np.full(9_000, 20.0), np.full(9_000, 10.0)
    noisy = np.where(rng.random(9_000) < 0.5, 0.0, 20.0) + rng.normal(0, 10, 9_000)
    every, some = (pulled(noisy, prior, sigma, most) for most in (10_000, 1_400))
    assert np.abs(every - some).mean() < 1.0
    assert np.abs(every - noisy).mean() > 3.0
