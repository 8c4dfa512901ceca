"""Numbers whose bins are learned keep values that are told apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain import Number, Schema
from understudy.mechanisms import Independent


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
