"""Codes in memory, checked once."""

import numpy as np
import pyarrow as pa
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.domain.codes import code_type
from understudy.errors import DomainError, ParameterError, SizeError


def test_codes_are_kept_in_the_smallest_type_and_cannot_be_changed() -> None:
    table = Table(
        {"a": 256, "b": 257, "c": 70_000}, {"a": [0, 255], "b": [0, 256], "c": np.array([0, 69_999])}
    )
    assert [str(codes.dtype) for codes in table.columns.values()] == ["uint8", "uint16", "uint32"]
    with pytest.raises(ValueError, match="read-only"):
        table.columns["a"][0] = 1
    assert [str(code_type(size)) for size in (1, 2, 256, 257, 2**16, 2**32, 2**32 + 1)] == [
        "uint8", "uint8", "uint8", "uint16", "uint16", "uint32", "uint64",
    ]  # fmt: skip


def test_the_callers_own_array_stays_writable() -> None:
    mine = np.array([0, 1], np.uint8)
    Table({"a": 2}, {"a": mine})
    mine[0] = 1


@pytest.mark.parametrize("codes", [[0, 3], [-1, 0], [0.5, 1.0], ["x", "y"], [[0, 1]], [None, 1], [2**70, 1]])
def test_codes_out_of_place_are_refused_by_column_and_not_by_value(codes: list) -> None:
    with pytest.raises(ParameterError, match="'secret'") as caught:
        Table({"secret": 3}, {"secret": np.array(codes)})
    assert "-1" not in str(caught.value)
    assert "1180591620717411303424" not in str(caught.value)


def test_columns_and_domain_must_agree() -> None:
    with pytest.raises(DomainError, match="'b'"):
        Table({"a": 2, "b": 2}, {"a": [0]})
    with pytest.raises(DomainError, match="'b'"):
        Table({"a": 2}, {"a": [0], "b": [0]})
    with pytest.raises(ParameterError, match="'b'"):
        Table({"a": 2, "b": 2}, {"a": [0], "b": [0, 1]})


def test_arrow_arrays_and_lists_are_codes() -> None:
    table = Table({"a": 3, "b": 2}, {"a": pa.array([2, 1], pa.uint8()), "b": [1, 0]})
    assert len(table) == 2
    assert table.project(["b"]).domain == Domain({"b": 2})


def test_a_table_says_nothing_of_its_records() -> None:
    assert repr(Table({"a": 3}, {"a": [1, 2]})) == "Table(1 columns)"


def test_a_table_without_columns_still_has_records() -> None:
    assert len(Table({}, {}, rows=4)) == 4
    assert Table({}, {}, rows=4).count([()])[0].counts == 4


def test_the_limit_on_results_is_the_tables_own() -> None:
    table = Table({"a": 10, "b": 10}, {"a": [1], "b": [2]}, limit=800)
    assert table.count([("a", "b")])[0].total == 1
    with pytest.raises(SizeError, match="the limit is 800"):
        table.count([("a", "b"), ()])
    with pytest.raises(SizeError):
        table.recode({"a": np.arange(10) * 10}).count([("a", "b")])
