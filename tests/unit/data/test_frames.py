"""The same kind of table comes back as went in."""

import subprocess
import sys
from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.data import frame_kind, like, read
from understudy.data.files.frames import with_form
from understudy.data.forms.table_form import TableForm
from understudy.errors import ParameterError

TABLE = pa.table(
    {
        "i": [1, None],
        "whole": [1, 2],
        "f": [1.5, None],
        "s": ["x", None],
        "b": [True, None],
        "d": [date(2020, 1, 2), None],
    }
)


def test_pandas_in_is_pandas_out_with_missing_values_that_change_no_type() -> None:
    frame = like(TABLE, frame_kind(pd.DataFrame()))
    assert isinstance(frame, pd.DataFrame)
    assert frame.dtypes.astype(str).tolist() == [
        "Int64",
        "int64",
        "float64",
        "str",
        "boolean",
        "datetime64[ms]",
    ]
    assert frame.isna().sum().tolist() == [1, 0, 1, 1, 1, 1]
    assert read(frame).column_names == TABLE.column_names
    assert read(frame)["i"].to_pylist() == [1, None]


def test_polars_in_is_polars_out() -> None:
    frame = like(TABLE, frame_kind(pl.DataFrame()))
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dicts() == TABLE.to_pylist()
    assert read(frame).to_pylist() == TABLE.to_pylist()
    assert read(frame.lazy()).to_pylist() == TABLE.to_pylist()


def test_arrow_in_is_arrow_out() -> None:
    assert frame_kind(TABLE) == frame_kind(TABLE.to_batches()[0]) == "arrow"
    assert like(TABLE, "arrow") is TABLE


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_table_without_records_or_columns_keeps_its_shape(kind: str) -> None:
    empty = like(TABLE.slice(0, 0), kind)
    assert read(empty).num_rows == 0
    assert read(empty).column_names == TABLE.column_names
    assert read(like(pa.table({}), kind)).num_columns == 0


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ParameterError, match="'excel'"):
        like(TABLE, "excel")


def test_a_pandas_column_of_mixed_types_is_read_as_text() -> None:
    table = read(pd.DataFrame({"o": [1, "canary", None, 2.5], "huge": [2**70, 1, None, 0]}))
    assert table["o"].to_pylist() == ["1", "canary", None, "2.5"]
    assert table["huge"].to_pylist() == [str(2**70), "1", None, "0"]


def test_pandas_categories_and_labels_that_are_numbers_are_read() -> None:
    table = read(pd.DataFrame({0: pd.Categorical(["x", None, "y"]), "n": [float("nan"), 1, 2]}))
    assert table.column_names == ["0", "n"]
    assert table["0"].to_pylist() == ["x", None, "y"]
    assert table["n"].to_pylist() == [None, 1.0, 2.0]


def test_a_pandas_index_is_no_column() -> None:
    assert read(pd.DataFrame({"a": [1, 2]}, index=["canary", "b"])).column_names == ["a"]


def test_two_pandas_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="two columns named 'a'"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("thing", [7, None, object(), [1, 2], b"a,b"])
def test_things_that_are_no_table_are_refused_without_showing_them(thing: object) -> None:
    with pytest.raises(ParameterError, match="cannot be read"):
        read(thing)


def test_nested_columns_of_frames_are_refused() -> None:
    with pytest.raises(ParameterError, match="'x'"):
        read(pl.DataFrame({"x": [[1], [2]]}))


def test_reading_a_file_needs_neither_pandas_nor_polars() -> None:
    code = "import sys, understudy.data; assert not {'pandas', 'polars', 'numba', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_that_pandas_numbered_come_back_by_their_numbers() -> None:
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=[0, 2020])
    assert list(like(*with_kind(frame)).columns) == [0, 2020]
    assert list(like(*with_kind(frame.rename(columns={0: "x"}))).columns) == ["x", "2020"]


def with_kind(frame: pd.DataFrame) -> tuple[pa.Table, str, TableForm]:
    table, form = with_form(frame)
    return table, "pandas", form
