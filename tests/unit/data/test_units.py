"""What one person contributes is bounded, whatever the others do."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Table, bound, count_values
from understudy.errors import ParameterError


def test_the_first_records_of_every_unit_are_kept() -> None:
    units = pa.chunked_array([["a", "b", "a"], ["a", "b", "c"]])
    assert bound(units, 2).tolist() == [True, True, True, False, True, True]
    assert bound(units, 1).tolist() == [True, True, False, False, False, True]


def test_records_without_a_unit_are_dropped() -> None:
    for units in ([None, "a", None], [None, 1, None]):
        assert bound(pa.array(units), 5).tolist() == [False, True, False]
    assert bound(np.array([np.nan, 1.0, np.nan]), 5).tolist() == [False, True, False]
    assert bound(pa.array([1.0, float("nan")]), 5).tolist() == [True, False]
    assert bound(pa.nulls(3), 5).tolist() == [False] * 3
    assert bound(pd.Series(["a", None, "a"], dtype="category"), 1).tolist() == [True, False, False]


def test_no_records_are_no_records() -> None:
    assert bound(pa.array([], pa.string()), 3).tolist() == []


@pytest.mark.parametrize("most", [0, -1, 1.5, True, None, "2"])
def test_an_impossible_bound_is_refused(most: object) -> None:
    with pytest.raises(ParameterError, match="max_records_per_unit"):
        bound([1, 2], most)  # type: ignore[arg-type]


@given(units=st.lists(st.none() | st.integers(0, 5), max_size=40), most=st.integers(1, 4))
def test_one_units_presence_never_changes_which_records_of_others_are_kept(
    units: list[int | None], most: int
) -> None:
    kept = bound(pa.array(units, pa.int64()), most)
    for unit in set(units):
        mine = np.array([other == unit for other in units], bool)
        assert kept[mine].sum() <= most
        without = bound(pa.array([other for other in units if other != unit], pa.int64()), most)
        assert without.tolist() == kept[~mine].tolist()


def test_a_table_is_bounded_by_its_units() -> None:
    table = Table({"x": 3}, {"x": [0, 1, 2, 2]}).bound(["a", "a", "b", None], 1)
    assert table.columns["x"].tolist() == [0, 2]
    with pytest.raises(ParameterError, match="one unit a record"):
        table.bound(["a"], 1)


def test_values_of_an_open_category_are_counted_without_missing_ones() -> None:
    assert count_values(pa.chunked_array([["x", None], ["y", "x", ""]])) == {"x": 2, "y": 1, "": 1}
    assert count_values(pa.array([1, 1, None])) == {1: 2}
    assert count_values(pa.array([1.5, 2.0, float("nan")])) == {"1.5": 1, "2": 1}
    assert count_values(pa.array(["x", "x"]).dictionary_encode()) == {"x": 2}
    assert count_values(pa.nulls(4)) == {}
    assert count_values(pa.array([], pa.string())) == {}
    assert count_values(pa.array([True, False, True])) == {True: 2, False: 1}
