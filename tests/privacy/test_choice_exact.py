"""A choice off its law by more than its proof allows would leak which candidate fits the data badly."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from given_words import GivenWords
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling_checks import check_choice_law, softmax

from nightly import many
from understudy.errors import ParameterError
from understudy.privacy.noise import exponential_mechanism
from understudy.privacy.noise.exponential_mechanism import choose
from understudy.privacy.noise.randomness import OperatingSystem, Seeded

ONES = 2**64 - 1


def seeded(seed: int = 0):
    source = Seeded(seed)
    return lambda scores, epsilon, sensitivity: choose(scores, epsilon, sensitivity, source)


@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity"),
    [
        ([0, 0], 1.0, 1),
        ([0, 1], 1.0, 1),
        ([5, 3, 1, 0], 0.5, 1),
        ([5, 3, 1, 0], 0.5, 3),
        ([-100, -90, -95], 0.1, 1),
        (list(range(50)), 0.2, 1),
        ([0, 10**18, 10**18 - 1], 1.0, 1),
        ([-(2**63), 2**63 - 1, 2**63 - 1], 20.0, 1),
        ([0, 10**6], 1e-6, 1),
        ([7] * 100, 20.0, 2),
        ([0] * 1000 + [40], 0.35, 1),
    ],
)
def test_choices_follow_the_exact_law(scores, epsilon, sensitivity):
    check_choice_law(seeded(), scores, epsilon, sensitivity)


def test_choices_from_the_operating_system_follow_the_law():
    source = OperatingSystem()
    check_choice_law(lambda s, e, d: choose(s, e, d, source), [3, 2, 2, 0, -4], 0.8)


def test_the_check_rejects_a_choice_without_its_one_half():
    with pytest.raises(AssertionError, match="another law"):
        check_choice_law(lambda s, e, d: choose(s, 2 * e, d, SOURCE), [3, 2, 2, 0, -4], 0.8)


SOURCE = Seeded(9)


@pytest.mark.parametrize(
    ("scores", "epsilon"),
    [([5, 3, 1, 0], 0.5), ([0, 50, 49, 20], 1.0), ([9, 2, 9, 0], 7.0), (list(range(20)), 1e-6)],
)
def test_words_on_the_edge_of_a_share_fall_on_the_right_side(scores, epsilon):
    """The mpmath edge between two shares, one part in 2^180 to either side, decides as it should."""
    with mpmath.workdps(120):
        edge = mpmath.mpf(0)
        factor = mpmath.mpf(epsilon) / 2
        weights = [mpmath.exp(factor * (s - max(scores))) for s in scores]
        for i, weight in enumerate(weights[:-1]):
            edge += weight / mpmath.fsum(weights)
            for offset, expected in ((-1, i), (1, i + 1)):
                number = int(mpmath.floor(mpmath.ldexp(edge, 256))) + offset * 2**76
                words = [(number >> shift) & ONES for shift in (192, 128, 64, 0)]
                assert choose(np.array(scores), epsilon, 1, GivenWords(words)) == expected


def test_floats_and_integers_agree_on_every_word(monkeypatch):
    rng = np.random.default_rng(4)
    scores = rng.integers(-30, 30, 40)
    fast = [choose(scores, 0.3, 1, Seeded(seed)) for seed in range(300)]
    monkeypatch.setattr(exponential_mechanism, "_by_floats", lambda *_: None)
    slow = [choose(scores, 0.3, 1, Seeded(seed)) for seed in range(300)]
    assert fast == slow


@settings(max_examples=many(500))
@given(
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=30),
    st.integers(-(2**61), 2**61),
    st.floats(1e-6, 20),
    st.integers(0, 2**32),
)
def test_a_constant_added_to_every_score_changes_nothing(scores, constant, epsilon, seed):
    plain = np.array(scores, dtype=np.int64)
    assert choose(plain, epsilon, 1, Seeded(seed)) == choose(plain + constant, epsilon, 1, Seeded(seed))


@settings(max_examples=many(250))
@given(
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30),
    st.floats(1e-6, 20),
    st.integers(0, 2**64 - 1),
)
def test_every_choice_is_the_one_whose_share_holds_the_word(scores, epsilon, word):
    place = choose(np.array(scores, dtype=np.int64), epsilon, 1, GivenWords([word, *[ONES // 3] * 15]))
    shares = softmax(scores, epsilon, 1)
    at = mpmath.mpf(word) / 2**64
    slack = mpmath.mpf(2) ** -50  # mpmath's own rounding outside the sixty digits, and the bits to come
    assert mpmath.fsum(shares[:place]) <= at + slack
    assert at <= mpmath.fsum(shares[: place + 1]) + slack


def test_one_candidate_is_chosen_without_drawing():
    assert choose(np.array([-7]), 1.0, 1, GivenWords([])) == 0


def test_neighbouring_scores_move_no_probability_by_more_than_the_claim():
    rng = np.random.default_rng(2)
    for _ in range(50):
        scores = rng.integers(0, 40, 30)
        moved = scores + rng.integers(-1, 2, 30)
        epsilon = float(rng.uniform(0.01, 5))
        ratios = [
            float(mpmath.log(a / b))
            for a, b in zip(
                softmax(scores.tolist(), epsilon, 1), softmax(moved.tolist(), epsilon, 1), strict=True
            )
        ]
        assert max(ratios) <= epsilon * (1 + 1e-12)
        assert max(ratios) - min(ratios) <= epsilon * (1 + 1e-12)  # the range of the loss is bounded too


@pytest.mark.parametrize("scores", [[], [[1, 2]], 3])
def test_no_candidates_are_refused(scores):
    with pytest.raises(ParameterError, match="scores"):
        choose(np.array(scores, dtype=np.int64), 1.0, 1, OperatingSystem())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint64, np.bool_, object])
def test_scores_that_are_not_exact_are_refused(dtype):
    with pytest.raises(ParameterError, match="not exact"):
        choose(np.array([1, 0], dtype=dtype), 1.0, 1, OperatingSystem())


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, True, "1", None])
def test_an_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        choose(np.array([1, 0]), epsilon, 1, OperatingSystem())


@pytest.mark.parametrize("sensitivity", [0, -1, 1.0, True, 2**63])
def test_an_impossible_sensitivity_is_refused(sensitivity):
    with pytest.raises(ParameterError, match="sensitivity"):
        choose(np.array([1, 0]), 1.0, sensitivity, OperatingSystem())


def test_huge_epsilons_pick_the_best_without_a_warning():
    assert choose(np.array([-(2**63), 2**63 - 1]), 1e308, 1, OperatingSystem()) == 1
