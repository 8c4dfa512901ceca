"""A table further from its law than it says, or a word decided wrongly, would cost privacy unseen."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from given_words import GivenWords

from understudy.privacy.noise import discrete_noise
from understudy.privacy.noise.cumulative_table import PRECISION, Law, cumulate, tabulate
from understudy.privacy.noise.discrete_noise import discrete_gaussian, laplace_error, table_error
from understudy.privacy.noise.exp_bounds import below_exp, exp_bounds, exp_floats, exp_unit
from understudy.privacy.noise.randomness import Seeded

ONES = 2**64 - 1


def gaussian_law(scale: float) -> Law:
    return Law(2, 1 / (2 * Fraction(scale) ** 2), doubled=True)


def distance(law: Law) -> mpmath.mpf:
    """The true total variation distance between a table and its law, to a hundred digits."""
    cumulative, _ = cumulate(law)
    tabulated = [b - a for a, b in zip([0, *cumulative], cumulative, strict=False)]
    rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator
    copies = 2 if law.doubled else 1
    reach = 3 * len(cumulative) + 5
    exact = [(copies if k else 1) * mpmath.exp(-rate * k**law.power) for k in range(reach)]
    total = mpmath.fsum(exact)
    ours = [mpmath.mpf(t) / 2**PRECISION for t in tabulated] + [mpmath.mpf(0)] * (reach - len(cumulative))
    return mpmath.fsum(abs(a - b / total) for a, b in zip(ours, exact, strict=True)) / 2


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 1.271, 3.0, 10.0, 35.814, 100.0])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("doubled", [True, False])
def test_the_stated_error_covers_the_true_distance(scale, power, doubled):
    if power == 1 and scale > 10:
        scale /= 10
    rate = 1 / (2 * Fraction(scale) ** 2) if power == 2 else 1 / Fraction(scale)
    law = Law(power, rate, doubled)
    with mpmath.workdps(110):
        assert (
            0 < distance(law) <= mpmath.mpf(tabulate(law).error.numerator) / tabulate(law).error.denominator
        )
    assert tabulate(law).error < Fraction(1, 2**230)


@pytest.mark.parametrize("scale", [600.0, 1111.1])
def test_the_stated_error_covers_blocks(scale):
    law, width = discrete_noise._plan(2, Fraction(scale))
    cumulative, _ = cumulate(law)
    assert width > 1
    with mpmath.workdps(110):
        rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator / width**2
        ours, exact = [], []
        for a, (before, after) in enumerate(zip([0, *cumulative], cumulative, strict=False)):
            share = mpmath.mpf(after - before) / 2**PRECISION
            for k in range(a * width, (a + 1) * width):
                ours.append(share * mpmath.exp(-rate * (k**2 - (a * width) ** 2)))
                exact.append(mpmath.exp(-rate * k**2))
        for law_of in (ours, exact):
            law_of[0] /= 2  # zero with a negative sign is refused
        accepted, total = mpmath.fsum(ours), mpmath.fsum(exact)
        assert accepted / width >= 0.25  # what the proof of the factor eight rests on
        true = mpmath.fsum(abs(a / accepted - b / total) for a, b in zip(ours, exact, strict=True)) / 2
        true += mpmath.exp(-rate * len(exact) ** 2) * scale  # the tail, generously
        assert true <= float(table_error(scale))


@pytest.mark.parametrize("scale", [0.05, 1.0, 1000.0, 1e6, 2.0**50])
def test_errors_are_far_below_any_delta_and_exact_as_floats(scale):
    for error in (table_error(scale), laplace_error(scale)):
        assert 0 < error < Fraction(1, 2**230)
        assert Fraction(float(error)) == error


@pytest.mark.parametrize("scale", [0.7, 3.0, 10.0])
def test_words_on_a_threshold_are_decided_by_their_further_bits(scale):
    law = gaussian_law(scale)
    cumulative, _ = cumulate(law)
    for k, threshold in list(enumerate(cumulative))[:-1:3]:
        leading = threshold >> (PRECISION - 63)
        rest = threshold & ((1 << (PRECISION - 63)) - 1)
        for offset, expected in ((-1, k), (0, k + 1), (1, k + 1)):
            bits = rest + offset  # 193 bits, as three words and one more bit
            words = [(bits >> shift) & ONES for shift in (129, 65, 1)] + [(bits & 1) << 63]
            if cumulative[k + 1] - threshold > 1 and bits >= 0:
                # Thresholds deep in the tail differ in their last bits only: all 256 must count.
                drawn = discrete_gaussian(scale, 1, GivenWords([leading << 1, *words]))
                assert drawn[0] == expected


def test_words_next_to_a_threshold_need_no_further_bits():
    thresholds = tabulate(gaussian_law(3.0)).thresholds
    for k in range(0, 10):
        first = int(thresholds[k])
        assert discrete_gaussian(3.0, 1, GivenWords([(first - 1) << 1]))[0] == k
        assert discrete_gaussian(3.0, 1, GivenWords([(first - 1) << 1 | 1]))[0] == -k
        assert discrete_gaussian(3.0, 1, GivenWords([(first + 1) << 1]))[0] == k + 1


def test_the_integer_bounds_hold_the_exponential():
    rng = np.random.default_rng(0)
    with mpmath.workdps(250):
        for bits in (8, 64, 128, 320, 700):
            for value in [0, 1e-300, 1e-9, *rng.uniform(0, 3, 20), *rng.uniform(0, 500, 20), 1e19]:
                x = Fraction(value)
                lower, upper = exp_bounds(x, bits)
                exact = mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), bits)
                assert lower <= exact <= upper
                assert upper - lower <= 2


def test_the_float_exponentials_keep_their_word():
    x = np.concatenate([np.linspace(0, 64, 4001), np.random.default_rng(1).uniform(0, 64, 4000)])
    with mpmath.workdps(40):
        for ours, argument in zip(exp_floats(x), x, strict=True):
            assert abs(ours / mpmath.exp(-mpmath.mpf(argument)) - 1) < 2.0**-40
        for ours, argument in zip(exp_unit(x / 64), x / 64, strict=True):
            assert abs(ours / mpmath.exp(-mpmath.mpf(argument)) - 1) < 2.0**-46


def test_a_coin_on_the_edge_is_decided_by_as_many_bits_as_it_takes():
    x = Fraction(1, 3)
    lower, upper = exp_bounds(x, 640)
    agreed = lower >> 512
    assert agreed == upper >> 512  # 128 bits that both bounds share
    word, following = agreed >> 64, agreed & ONES
    assert below_exp(x, word, GivenWords([following, 0, 0]))
    assert not below_exp(x, word, GivenWords([following, ONES, ONES]))
    assert below_exp(x, word - 1, GivenWords([]))
    assert not below_exp(x, word + 1, GivenWords([]))


def test_coins_that_floats_cannot_decide_follow_the_same_law(monkeypatch):
    usual = discrete_gaussian(900.0, 3000, Seeded(11))
    monkeypatch.setattr(discrete_noise, "FLOAT_ERROR", 1.0)  # floats decide nothing: every coin in integers
    again = discrete_gaussian(900.0, 3000, Seeded(11))
    assert np.array_equal(usual, again)
