"""Where a noisy histogram holds more than noise: the bounds that are learned go there, and no further."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from understudy.domain import Integer
from understudy.domain.columns.parts.noisy_counts import NoisyCounts


@pytest.mark.parametrize(
    ("cells", "centre", "extent"),
    [
        ([0, 0, 9, 0, 0], None, (2, 2)),
        ([0, 3, 9, 3, 0], None, (1, 3)),  # a tail that is likely filled, on both sides
        ([3, 3, 9, 3, 3], None, (0, 4)),  # to the very ends
        ([3, 0, 9, 0, 3], None, (2, 2)),  # but over no gap
        ([9, 0, 0, 0, 9], None, (0, 4)),  # between two that are sure all counts
        ([1, 0, 1.1, 0, 1], None, (2, 2)),  # none is sure: the fullest
        ([1.3, 0, 1.1, 0, 1], 3, (2, 2)),  # or one a little less full that is nearer to zero
    ],
)
def test_bounds_reach_as_far_as_records_likely_do(cells, centre, extent) -> None:
    assert NoisyCounts(np.array(cells, float) * 7, 7.0).extent(centre) == extent


def test_records_spread_thinly_over_many_cells_are_found_together() -> None:
    noise = np.random.default_rng(8).normal(0, 10.0, 400)
    spread = noise + np.where((np.arange(400) >= 140) & (np.arange(400) < 206), 15.0, 0.0)  # no cell is sure
    first, last = NoisyCounts(spread, 10.0).densest()
    assert abs(first - 140) <= 12 and abs(last - 205) <= 12
    assert NoisyCounts(np.array([0.0, 1.0, 99.0, -1.0]), 1.0).densest() == (2, 2)


def test_bounds_of_whole_numbers_in_steps_begin_at_a_multiple_of_the_step() -> None:
    column = Integer(step=5)
    grid = column.grid()
    coded = np.bincount(grid.codec().encode(pa.array([-20, 0, 35, 295] * 50)), minlength=grid.size)
    learned = column.with_bounds(grid, NoisyCounts(coded.astype(float), 1.0))
    assert learned.step == 5 and learned.min is not None and learned.min % 5 == 0
    assert learned.min <= -20 and learned.high >= 295
    assert {*learned.codec().decode(np.arange(9), np.random.default_rng(0), "uniform").to_pylist()} <= {
        *range(-50, 300, 5)
    }
