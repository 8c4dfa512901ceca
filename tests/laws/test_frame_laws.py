"""A cell of a frame reads the same alone and beside any other, and no cell makes a frame unreadable.

Otherwise one record could change how all others of its column are coded.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import understudy as us
from nightly import many
from understudy.data import read
from understudy.data.files.frames import untyped
from understudy.domain.cell_text import cell_text


class Rude:
    """An object that raises whatever it is asked."""

    def __str__(self) -> str:
        raise RuntimeError("canary")

    def __hash__(self) -> int:
        raise RuntimeError("canary")

    __repr__ = __float__ = __bool__ = __str__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("canary")


class Faceless(Rude):
    """One that even hides what it is."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("canary")

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


class Colour(enum.Enum):
    RED = 1


TEXTS: list[tuple[Any, str | None]] = [
    (None, None), (float("nan"), None), (pd.NaT, None), (pd.NA, None), (np.datetime64("NaT", "s"), None),
    (Decimal("NaN"), None), (Decimal("sNaN"), None), (np.float32("nan"), None), (np.timedelta64("NaT", "s"), None),
    (True, "true"), (np.bool_(False), "false"), (1, "1"), (np.int8(-3), "-3"), (2**70, str(2**70)),
    (10**5000, "inf"), (-(10**5000), "-inf"), (1.0, "1"), (np.float64(2), "2"), (0.5, "0.5"), (-0.0, "0"),
    (float("inf"), "inf"), (np.float32(0.5), "0.5"), (np.longdouble("1.5"), "1.5"), (np.float64("inf"), "inf"),
    (Decimal("1.50"), "1.50"), (Decimal("1E+3"), "1E+3"), (Fraction(1, 3), "1/3"), (1 + 2j, "(1+2j)"),
    ("x", "x"), ("", ""), (np.str_("y"), "y"), ("half \ud800 é", "half ? é"), (b"caf\xc3\xa9 \xff", "café �"),
    (date(2020, 1, 2), "2020-01-02"), (datetime(2020, 1, 2, 3), "2020-01-02 03:00:00"), (time(3, 4), "03:04:00"),
    (datetime(9999, 12, 31, tzinfo=UTC), "9999-12-31 00:00:00+00:00"), (np.datetime64("2020-01"), "2020-01"),
    (pd.Timestamp(2020, 1, 2), "2020-01-02 00:00:00"), (pd.Timestamp.max, str(pd.Timestamp.max)),
    (pd.Period("2020-01"), "2020-01"), (pd.Interval(0, 1), "(0, 1]"), (timedelta(days=1), "1 day, 0:00:00"),
    (UUID(int=1), str(UUID(int=1))), (Colour.RED, "RED"), ([1, 2], None), ({"a": 1}, None), ({1}, None),
    (object(), None), (Rude(), None), (Faceless(), None), (len, None), (np.array([1]), None), (pd.DataFrame(), None),
]  # fmt: skip
CELLS = [cell for cell, _ in TEXTS]


def objects(*cells: Any) -> Any:
    column = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        column[place] = cell
    return column


SOURCES: dict[str, Callable[..., Any]] = {
    "pandas": lambda *cells: pd.DataFrame({"a": pd.Series(objects(*cells), dtype=object)}),
    "a pandas series": lambda *cells: pd.Series(objects(*cells), dtype=object, name="a"),
    "a list": lambda *cells: {"a": list(cells)},
    "a NumPy array": lambda *cells: {"a": objects(*cells)},
    # Polars itself unpacks an Enum, or does not, by the first cell: so it is given something else first.
    "Polars": lambda *cells: pl.DataFrame({"a": pl.Series("a", [0, *cells], dtype=pl.Object)}).slice(1),
}


@pytest.mark.parametrize("source", SOURCES)
def test_an_object_has_one_text_and_none_is_refused(source: str) -> None:
    for cell, text in TEXTS:
        table = SOURCES[source](cell)
        assert read(table)["a"].to_pylist() == [text]
        assert untyped(table) == {"a"}


@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=many(150))
@given(data=st.data())
def test_an_object_has_the_same_text_beside_any_other(source: str, data: st.DataObject) -> None:
    places = st.sampled_from(range(len(CELLS)))  # Hypothesis looks at what it draws, which some cells forbid
    others = st.one_of(st.text(), st.floats(), st.integers(), st.binary(), st.datetimes())
    drawn = data.draw(st.lists(st.tuples(st.booleans(), places, others), min_size=1, max_size=5))
    cells = [CELLS[place] if listed else other for listed, place, other in drawn]
    table = read(SOURCES[source](*cells))
    assert table["a"].to_pylist() == [cell_text(cell) for cell in cells]
    assert table.schema.field("a").type == pa.large_string()


def test_an_odd_cell_changes_neither_the_type_nor_the_text_of_others() -> None:
    columns = [
        ["a", None],
        [1.0, None],
        [True, None],
        [date(2020, 1, 1), None],
        [1, 2**70],
        [Decimal(1), None],
    ]
    for others in columns:
        before = read(SOURCES["pandas"](*others))
        for odd in CELLS:
            after = read(SOURCES["pandas"](*others, odd))
            assert before.schema == after.schema
            assert after["a"].to_pylist()[: len(others)] == before["a"].to_pylist()


def test_categories_are_text_whatever_type_pandas_gives_their_list() -> None:
    for values in ([1.0, 2.0], [True, False], ["1", "x"], [1, "x"], pd.cut([1, 5], [0, 2, 9])):
        series = pd.Series(values).astype("category")
        frame = pd.DataFrame({"a": series})
        assert read(frame)["a"].to_pylist() == [cell_text(value) for value in series]
        ordered = series.cat.ordered
        assert read(frame).schema.field("a").type == pa.dictionary(pa.int32(), pa.large_string(), ordered)
        assert untyped(frame) == {"a"}


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pd.Series([1, 2]), pa.int64()),
        (pd.Series([1.5, None]), pa.float64()),
        (pd.Series(np.array([1, 2], np.longdouble)), pa.float64()),
        (pd.Series([True, None], dtype="boolean"), pa.bool_()),
        (pd.Series([1, None], dtype="UInt8"), pa.uint8()),
        (pd.Series([1, None], dtype="Float32"), pa.float32()),
        (pd.Series([datetime(2020, 1, 1), None], dtype="datetime64[us]"), pa.timestamp("us")),
        (pd.Series([datetime(2020, 1, 1)], dtype="datetime64[s, UTC]"), pa.timestamp("s", "UTC")),
        (pd.Series([timedelta(1), None], dtype="timedelta64[ns]"), pa.duration("ns")),
        (pd.Series([0, 1], dtype="Sparse[int64]"), pa.int64()),
        (pd.Series([1, None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))), pa.decimal128(5, 2)),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_a_pandas_type_that_arrow_has_is_kept(series: pd.Series, kind: pa.DataType) -> None:
    frame = series.to_frame("a")
    assert read(frame).schema.field("a").type == kind
    assert untyped(frame) == frozenset()


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["x", None], dtype="str"),
        pd.Series(["x", None], dtype="string"),
        pd.Series(["\ud800", None], dtype="string[python]"),
        pd.Series([pd.Period("2020-01", "W"), None], dtype="period[W]"),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series([1j, 2]),
    ],
    ids=lambda value: str(value.dtype),
)
def test_a_pandas_type_that_arrow_has_not_comes_as_text(series: pd.Series) -> None:
    frame = series.to_frame("a")
    assert read(frame)["a"].to_pylist() == [cell_text(cell) for cell in series]
    assert untyped(frame) == {"a"}


def test_polars_categories_are_plain_text() -> None:
    frame = pl.DataFrame(
        {
            "c": pl.Series(["x", None], dtype=pl.Categorical),
            "e": pl.Series(["y", None], dtype=pl.Enum(["x", "y"])),
            "wide": pl.Series([2**100, None], dtype=pl.Int128),
        }
    )
    assert read(frame).to_pylist() == [
        {"c": "x", "e": "y", "wide": str(2**100)},
        dict.fromkeys(("c", "e", "wide")),
    ]
    listed = pa.dictionary(pa.int32(), pa.large_string(), ordered=True)
    assert read(frame).schema.types == [pa.large_string(), listed, pa.large_string()]
    assert untyped(frame) == {"wide"}
    assert us.data.count_values(read(frame)["c"]) == {"x": 1}


def test_unions_and_lists_of_arrow_are_refused_by_their_type() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    for column in (union, pa.array([[1], [2]])):
        with pytest.raises(us.errors.ParameterError, match="'a'"):
            read(pa.table({"a": column}))


def test_one_odd_record_moves_one_count_of_an_object_column() -> None:
    """The breach: 1.0 was "1", and became "1.0" for one record's sake."""
    from understudy.domain import Category, Schema
    from understudy.transforms import Encoder

    schema = Schema({"a": Category(("1", "2", "true"), outside="other")})
    cells = [1.0] * 1000 + [2.0] * 1000 + [True] * 1000
    counts = []
    for odd in ([], ["x"]):
        coded = Encoder(schema).forward(read(SOURCES["pandas"](*cells, *odd)))["a"]
        counts.append(np.bincount(coded, minlength=schema["a"].size))
    assert np.abs(counts[1] - counts[0]).sum() == 1
