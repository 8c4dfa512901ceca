"""What a misfit is once the noise of its estimate is taken off."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.errors import ParameterError
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.misfit import Rounded, beyond_blur


def _array(values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("blur", [0, 1, 2, 3, 7, 40, 1001])
def test_one_record_more_never_moves_a_score_by_more_than_one(blur):
    scores = beyond_blur(np.arange(3000), np.full(3000, blur))
    steps = np.diff(scores)
    assert steps.min() >= 0 and steps.max() <= 1


def test_large_misfits_are_as_exact_as_small_ones():
    rng = np.random.default_rng(0)
    for top in (2**20, 2**29 - 1, 2**29 + 5, 2**40, 2**61):
        x, c = rng.integers(0, top, 200), rng.integers(0, top, 200)
        exact = [
            (5 * a - 4 * b) // 5 if 4 * a <= 5 * b else math.isqrt(9 * (a * a - b * b) // 25)
            for a, b in zip(x.tolist(), c.tolist(), strict=True)
        ]
        assert beyond_blur(x, c).tolist() == exact


def test_a_misfit_that_noise_explains_is_worth_less_than_a_smaller_one_that_it_does_not():
    worth = beyond_blur(_array([1000, 900]), _array([1000, 100]))
    assert worth[0] < worth[1]


def test_no_blur_leaves_the_order_as_it_was():
    assert beyond_blur(_array([0, 5, 50, 500]), _array([0, 0, 0, 0])).tolist() == [0, 3, 30, 300]


@pytest.mark.parametrize("blurs", [[-1, 0], [0.5, 0], [1], [True, 0]])
def test_blurs_that_are_not_whole_and_positive_are_refused(blurs):
    with pytest.raises(ParameterError):
        question_checks.blurs([("a",), ("b",)], blurs)


@pytest.mark.parametrize(
    "cells", [[0, 5, 70_000], [-(2**31), 2**31 - 1, 0], [2**31, 1, 2], [0, -(2**31) - 1, 9]]
)
def test_estimates_that_wait_come_back_as_the_same_whole_numbers(cells: list[int]) -> None:
    waiting = Rounded(Domain({"a": 3}), [("a",)], lambda clique: np.array(cells, np.float64))
    found = waiting.take(("a",))
    assert found.dtype == np.int64 and found.tolist() == cells
