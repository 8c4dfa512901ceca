"""Of a float column that nobody described, how many decimals its values have is learned with its bounds."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain.columns.number import MOST_DECIMALS, NumberGrid
from understudy.privacy import Seeded


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_values_come_back_with_the_decimals_of_the_real_ones(decimals: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(decimals)
    frame = pd.DataFrame({"x": np.round(rng.normal(50, 12, 3000), decimals)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = us.fit(frame, epsilon=2.0, delta=1e-6, source=Seeded(decimals), ledger=tmp_path / "l.db")
        made = release.sample(1000, seed=1)["x"]
    assert made.dtype == np.float64
    assert (made.round(decimals) == made).all()
    assert (made.round(max(0, decimals - 1)) != made).any() or decimals == 0


def test_a_cell_of_the_grid_is_a_function_of_the_number_alone() -> None:
    grid = us.Number().grid()
    assert isinstance(grid, NumberGrid)
    numbers = [3.0, 3.5, 3.25, 3.125, 3.0625, 3.03125, -7.1, 0.0, 1e300, np.nan, np.inf]
    together = grid.codec().encode(pa.array(numbers))
    alone = [int(grid.codec().encode(pa.array([number]))[0]) for number in numbers]
    assert together.tolist() == alone
    steps = grid.ladder.count
    assert [code // steps for code in alone[:6]] == [0, 1, 2, 3, 4, MOST_DECIMALS + 1]
    assert grid.count == (MOST_DECIMALS + 2) * steps


def test_a_declared_precision_is_not_asked_for() -> None:
    assert not isinstance(us.Number(precision=0.5).grid(), NumberGrid)
