"""Where a noisy histogram holds more than noise: the bounds that are learned go there, and no further."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain.number import Number
from understudy.domain.schema import Schema
from understudy.mechanisms import Independent
from understudy.pipeline.learning import _extent


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
    assert _extent(np.array(cells, float) * 7, 7.0, centre) == extent


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_learned_numbers_are_told_apart_within_their_bins(tmp_path, size) -> None:
    """A precision coarser than the bins would move every synthetic number to another one."""
    table = pa.table({"v": np.random.default_rng(0).gamma(2.0, size, 4000)})
    schema = Schema({"v": Number()}, name="people")
    release = us.fit(
        table, schema, epsilon=2.0, delta=1e-6, mechanism=Independent(), ledger=tmp_path / "ledger"
    )
    column = release.schema.columns["v"]
    assert column.precision <= min(np.diff(column.edges)) / 10
