"""Noise that is not what the accounting assumes would void every guarantee made with it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sampling_checks import (
    ALPHA,
    check_integers,
    check_law,
    check_support,
    check_tails,
    chi_square,
    unreachable,
)

from understudy.errors import ParameterError
from understudy.privacy.noise.cumulative_table import Law, cumulate, tabulate
from understudy.privacy.noise.discrete_noise import LARGEST_SCALE, discrete_gaussian, discrete_laplace
from understudy.privacy.noise.randomness import OperatingSystem, Seeded

SCALES = [0.3, 0.4, 0.5, 0.7, 1.0, 1.271, 1.5, 2.0, 3.0, 5.0, 9.106]
SCALES += [10.0, 29.275, 100.0, 333.3, 512.0, 512.1, 1000.0, 30_000.0, 1e6]
LAPLACE_SCALES = [0.15, 0.5, 1.0, 3.0, 10.0, 64.0, 64.5, 100.0, 450.0, 1e6]


def gaussian(seed: int = 0):
    source = Seeded(seed)
    return lambda scale, size: discrete_gaussian(scale, size, source)


def laplace(seed: int = 0):
    source = Seeded(seed)
    return lambda scale, size: discrete_laplace(scale, size, source)


@pytest.mark.parametrize("scale", SCALES)
def test_gaussian_draws_follow_the_exact_law_and_no_law_one_percent_away(scale):
    check_law(2, scale, gaussian())
    for off in (0.99, 1.01):
        assert chi_square(2, scale, gaussian()(scale * off, 1_000_000)) < ALPHA


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_laplace_draws_follow_the_exact_law_and_no_law_one_percent_away(scale):
    check_law(1, scale, laplace())
    for off in (0.98, 1.02) if scale > 1 else (0.95, 1.05):
        assert chi_square(1, scale, laplace()(scale * off, 1_000_000)) < ALPHA


@pytest.mark.parametrize("scale", [0.5, 10.0, 700.0])
def test_draws_from_the_operating_system_follow_the_law(scale):
    source = OperatingSystem()
    check_law(2, scale, lambda s, n: discrete_gaussian(s, n, source))
    check_law(1, scale, lambda s, n: discrete_laplace(s, n, source))


@pytest.mark.parametrize("scale", [1.0, 10.0, 700.0])
def test_tails_are_not_cut(scale):
    check_tails(2, scale, gaussian())
    check_tails(1, scale, laplace())


@pytest.mark.parametrize("scale", [0.05, 1.0, 10.0, 700.0, 1e6])
def test_no_output_is_impossible_under_a_neighbour(scale):
    for sampler in (gaussian(), laplace()):
        check_integers(scale, sampler)
        check_support(scale, sampler)


def test_the_support_check_finds_what_float_noise_gives_away():
    outputs = np.random.default_rng(0).normal(0, 10, 1_000_000)
    assert 0.01 < unreachable(outputs) / outputs.size < 0.1


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_every_drawn_number_and_its_neighbours_have_positive_probability(scale):
    law = Law(2, 1 / (2 * Fraction(scale) ** 2), doubled=True)
    cumulative, _ = cumulate(law)
    assert all(np.diff(np.array(cumulative, dtype=object)) > 0)
    reach = int(np.abs(discrete_gaussian(scale, 1_000_000, OperatingSystem())).max())
    assert reach + 1 < len(cumulative)
    assert tabulate(law).thresholds.size - 1 <= len(cumulative)


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace])
@pytest.mark.parametrize("scale", [0.05, 0.8, 65.0, 1e6, LARGEST_SCALE])
@pytest.mark.parametrize("size", [0, 1, 2, 65_537])
def test_as_many_draws_come_as_were_asked_for(sampler, scale, size):
    drawn = sampler(scale, size, Seeded(3))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("scale", [1.0, 10.0, 700.0])
def test_signs_are_even_and_zero_is_counted_once(scale):
    drawn = discrete_gaussian(scale, 1_000_000, Seeded(5))
    positive, negative = int((drawn > 0).sum()), int((drawn < 0).sum())
    assert abs(positive - negative) < 6 * (positive + negative) ** 0.5


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace])
@pytest.mark.parametrize("scale", [0, -1.0, float("nan"), float("inf"), 2.0**51, True, "1", None])
def test_a_scale_that_protects_nobody_is_refused(sampler, scale):
    with pytest.raises(ParameterError, match="noise scale"):
        sampler(scale, 1, OperatingSystem())


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_a_size_that_is_no_size_is_refused(size):
    with pytest.raises(ParameterError, match="number of draws"):
        discrete_gaussian(1.0, size, OperatingSystem())


def test_tiny_and_numpy_scales_are_taken_as_they_are():
    assert not discrete_gaussian(5e-324, 100, OperatingSystem()).any()
    drawn = discrete_gaussian(np.float64(3.0), 1000, Seeded(1))
    assert np.array_equal(drawn, discrete_gaussian(3.0, 1000, Seeded(1)))
    for same in (3, np.float32(3.0), np.int64(3), Fraction(3)):
        assert np.array_equal(drawn, discrete_gaussian(same, 1000, Seeded(1)))
