"""Where a noisy histogram holds more than noise: the bounds that are learned go there, and no further."""

from __future__ import annotations

import numpy as np
import pytest

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
