"""Neighbours joined into runs: no run of mere noise, and cuts where a person would make them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.transforms.runs import roundness, runs


def cuts(found: np.ndarray) -> list[int]:
    return [i for i in range(1, len(found)) if found[i] != found[i - 1]]


def test_ages_are_cut_at_fives() -> None:
    found = runs(np.full(100, 80.0), 60.0, threshold=3.0, starts=np.arange(100.0))
    assert cuts(found) == list(range(5, 100, 5))
    few = cuts(runs(np.full(100, 80.0), 60.0, threshold=3.0, most=11, starts=np.arange(100.0)))
    assert len(few) <= 10
    assert all(cut % 5 == 0 for cut in few)


def test_a_code_that_is_no_noise_stays_alone() -> None:
    counts = np.full(60, 20.0)
    counts[37] = 5_000
    found = runs(counts, 20.0, threshold=3.0, starts=np.arange(60.0))
    assert (found == found[37]).sum() == 1


def test_codes_of_which_no_run_can_be_made_are_left_over() -> None:
    assert runs(np.array([900.0, 1, 2, 900]), 10.0, threshold=3.0).tolist() == [0, -1, -1, 1]
    assert runs(np.array([1.0, 2.0]), 10.0, threshold=3.0).tolist() == [-1, -1]


def test_strong_codes_are_kept_one_by_one() -> None:
    assert runs(np.full(50, 100.0), 1.0, threshold=3.0).tolist() == list(range(50))


@given(st.lists(st.floats(-50, 500), min_size=1, max_size=60), st.floats(1, 60), st.integers(1, 20))
def test_runs_are_neighbours_in_order_and_no_more_than_asked_for(
    counts: list[float], stddev: float, most: int
) -> None:
    found = runs(np.array(counts), stddev, threshold=3.0, most=most, starts=np.arange(len(counts) + 0.0))
    named = found[found >= 0]
    assert (np.diff(named) >= 0).all()
    assert set(named.tolist()) == set(range(named.max(initial=-1) + 1))
    assert named.max(initial=-1) < most


def test_how_round_a_number_is() -> None:
    assert roundness(np.array([7.0, 15.0, 20.0, 50.0, 100.0, np.nan])).tolist() == [0, 1, 2, 3, 4, 0]
    assert roundness(np.array([0.1, 0.15, 0.2])).tolist() == [1, 0, 1]
