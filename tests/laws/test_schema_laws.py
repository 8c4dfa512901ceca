"""A schema survives its file, and a value survives its code, whatever the column."""

from __future__ import annotations

import string
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Schema
from understudy.errors import SizeError
from understudy.transforms import Encoder

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = texts.filter(bool)
comments = st.text(string.ascii_letters + " #[]\"'é\n\t\r\x00\x85\u2028", max_size=20)
whole = st.integers(-(2**40), 2**40)
numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: x + 0.0)


@st.composite
def kept(draw: st.DrawFn, column: Column) -> Column:
    """The column with any of the fields that all columns have."""
    missing = draw(
        st.one_of(
            st.sampled_from([None, True, False]),
            st.lists(texts.map("missing ".__add__), min_size=1, max_size=3, unique=True).map(tuple),
        )
    )
    rules = [None, "other"] + ["clip"] * column.bounded + ["missing"] * (missing is not False)
    return replace(
        column,
        missing=missing,
        outside=draw(st.sampled_from(rules)),
        ordered=draw(st.booleans()),
        description=draw(texts),
        comment=draw(comments),
    )


@st.composite
def categories(draw: st.DrawFn) -> Column:
    kinds = [texts, st.integers(-(2**63), 2**63 - 1), numbers, st.booleans()]
    values = draw(st.lists(draw(st.sampled_from(kinds)), min_size=1, max_size=6, unique=True))
    return draw(kept(Category(tuple(values))))


@st.composite
def integers(draw: st.DrawFn) -> Column:
    low = draw(whole)
    high = low + draw(st.integers(1, 5000))
    step = draw(st.integers(1, 3).filter(lambda s: (high - low) // s >= 1))
    count = (high - low) // step + 1
    bins = draw(st.integers(1, min(count, 50)) | (st.none() if count <= 1000 else st.nothing()))
    special = draw(st.lists(whole, max_size=2, unique=True))
    return draw(kept(Integer(low, high, step, bins, special=tuple(special))))


@st.composite
def reals(draw: st.DrawFn) -> Column:
    edges = tuple(sorted(draw(st.lists(numbers, min_size=2, max_size=6, unique=True))))
    special = tuple(draw(st.lists(numbers, max_size=2, unique=True)))
    precision = draw(st.none() | st.sampled_from([100.0, 10.0, 1.0, 0.5, 0.1, 0.01, 0.001, 1e-6]))
    if edges[-1] - edges[0] > 1e-3 and draw(st.booleans()):
        column = Number(
            edges[0], edges[-1], bins=draw(st.integers(1, 40)), special=special, precision=precision
        )
    else:
        column = Number(edges=edges, special=special, precision=precision)
    return draw(kept(column))


@st.composite
def times(draw: st.DrawFn) -> Column:
    if draw(st.booleans()):
        low, high = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2, unique=True)))
        every = draw(st.sampled_from([None, "year", "quarter", "month", "week"]))
        if every is None and (high - low).days > 100_000:
            every = "day" if (high - low).days < 900_000 else "week"
        return draw(kept(Date(low, high, every)))
    zone = draw(st.sampled_from([None, UTC]))
    bounds = st.datetimes(datetime(1900, 1, 1), datetime(2030, 1, 1))
    low, high = sorted(draw(st.lists(bounds, min_size=2, max_size=2, unique=True)))
    every = draw(st.sampled_from(["year", "quarter", "month", "week", "day"]))
    if (high - low).days < 5:
        every = draw(st.sampled_from(["hour", "minute", "second"]))
    return draw(kept(Datetime(low.replace(tzinfo=zone), high.replace(tzinfo=zone), every)))


columns = st.one_of(categories(), integers(), reals(), times(), kept(Boolean()))


def schemas() -> st.SearchStrategy[Schema]:
    return st.builds(
        Schema,
        st.dictionaries(names, columns | st.just(Category(discover=True)), max_size=4),
        name=st.none() | names,
        rows=st.none() | st.integers(0, 10**12),
        unit=st.none() | names,
        comment=comments,
    )


@given(schemas())
@settings(max_examples=many(375))
def test_a_schema_reads_back_from_its_file_as_it_was(schema: Schema) -> None:
    text = schema.to_toml()
    assert Schema.from_toml(text) == schema
    assert Schema.from_toml(text).to_toml() == text


@given(columns, st.integers(0, 2**32 - 1), st.sampled_from(["uniform", "midpoint"]))
@settings(max_examples=many(750))
def test_a_code_decoded_and_encoded_again_is_the_same_code(column: Column, seed: int, within: str) -> None:
    """So a decoded value lies in its own bin, at its own type, and slots stay slots."""
    encoder = Encoder(Schema({"x": column}))
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, column.size, 200).astype(np.uint32)
    table = encoder.reverse({"x": codes}, rng, within=within)
    assert table["x"].type == encoder.codecs["x"].arrow_type
    again = encoder.forward(table)["x"]
    assert again.dtype == np.min_scalar_type(column.size - 1)
    null = np.array(table["x"].is_null().to_pylist())
    assert (null == (codes >= column.count)).all() or (isinstance(column, Category) and column.kind == "text")
    same = (again == codes) | _unreachable(column, codes, null)
    assert same.all(), (column, codes[~same][:5], again[~same][:5], table["x"].to_pylist()[:5])


def _unreachable(column: Column, codes: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Codes that no value has: slots that are written as null, and bins of nothing but reserved values."""
    excused = null.copy()
    special = np.array(getattr(column, "special", ()), dtype=np.float64)
    if isinstance(column, Integer):
        starts = np.array(column.starts)
        only = [np.isin(np.arange(a, b, column.step), special).all() if b - a < 99 else False
                for a, b in pairwise(starts)]  # fmt: skip
        excused |= np.isin(codes, np.flatnonzero(only))
    if isinstance(column, Number):  # a bin in which the only number of that precision is a special one
        cuts = np.array(column.cuts)
        held = [((special >= a) & (special <= b)).any() for a, b in pairwise(cuts)]
        excused |= np.isin(codes, np.flatnonzero(held))
    return excused


@given(categories(), st.data())
@settings(max_examples=many(250))
def test_a_listed_value_comes_back_exactly(column: Category, data: st.DataObject) -> None:
    assume(column.values != ("",))  # a list of which nothing was learned: its cells are empty
    values = data.draw(st.lists(st.sampled_from(column.values or ()), min_size=1, max_size=9))
    encoder = Encoder(Schema({"x": column}))
    back = encoder.reverse(encoder.forward(pa.table({"x": values})))
    assert back["x"].to_pylist() == values
    assert {type(v) for v in back["x"].to_pylist()} == {type(v) for v in values}


@given(integers(), st.data())
@settings(max_examples=many(250))
def test_a_whole_number_comes_back_from_its_own_bin(column: Integer, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(column.low, column.high), min_size=1, max_size=9))
    encoder = Encoder(Schema({"x": column}))
    codes = encoder.forward(pa.table({"x": values}))["x"]
    back = encoder.reverse({"x": codes})["x"].to_pylist()
    starts = np.array(column.starts)
    for before, code, after in zip(values, codes, back, strict=True):
        if before in column.special:
            assert after == before
            continue
        assert starts[code] <= before < starts[code + 1] or code == column.groups - 1
        assert starts[code] <= after < starts[code + 1]
        assert (after - column.low) % column.step == 0
        if column.one_by_one and column.step == 1:
            assert after == before


@given(reals(), st.data())
@settings(max_examples=many(250))
def test_a_number_comes_back_from_its_own_bin_at_its_precision(column: Number, data: st.DataObject) -> None:
    cuts = column.cuts
    values = data.draw(st.lists(st.floats(cuts[0], cuts[-1]), min_size=1, max_size=9))
    encoder = Encoder(Schema({"x": column}))
    codes = encoder.forward(pa.table({"x": values}))["x"]
    back = encoder.reverse({"x": codes})["x"].to_pylist()
    for before, code, after in zip(values, codes, back, strict=True):
        if before in column.special:
            assert after == before
            continue
        assert cuts[code] <= before <= cuts[code + 1]
        assert cuts[code] <= after <= cuts[code + 1]
        if column.precision is not None and any(_fits(cuts[code], cuts[code + 1], column.precision)):
            assert after == _on_step(after / column.precision, column.precision)


def _on_step(places: float, step: float) -> float:
    return round(places) / round(1 / step) if step < 1 else round(places) * step


def _fits(low: float, high: float, step: float) -> list[bool]:
    near = [_on_step(low / step + shift, step) for shift in (-1, 0, 1)]
    return [low <= value < high for value in near]


@given(times(), st.data())
@settings(max_examples=many(250))
def test_a_moment_comes_back_from_its_own_period(column: Date | Datetime, data: st.DataObject) -> None:
    naive = [
        bound.replace(tzinfo=None) if isinstance(bound, datetime) else bound
        for bound in (column.min, column.max)
    ]
    pool = st.dates(*naive) if isinstance(column, Date) else st.datetimes(*naive)
    values = data.draw(st.lists(pool, min_size=1, max_size=9))
    kind = pa.date32() if isinstance(column, Date) else pa.timestamp("us")
    encoder = Encoder(Schema({"x": column}))
    codes = encoder.forward(pa.table({"x": pa.array(values, kind)}))
    back = encoder.reverse(codes)
    assert (encoder.forward(back)["x"] == codes["x"]).all()
    assert all(column.min <= moment <= column.max for moment in back["x"].to_pylist())
    as_text = pa.table({"x": [value.isoformat() for value in values]})
    assert (encoder.forward(as_text)["x"] == codes["x"]).all()
    if column.granularity == "day" and isinstance(column, Date):
        assert back["x"].to_pylist() == values


odd = ["1e400", "-1e400", "0x10", "1_000", "inf", "nan", "", " 7 ", "1" * 5000, "1e" + "9" * 50]
anything = st.one_of(
    st.none(),
    texts,
    st.integers().map(str),
    st.floats().map(repr),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(odd),
)


@given(columns, st.lists(anything, max_size=12))
@settings(max_examples=many(500))
def test_no_text_whatever_raises_or_leaves_the_domain(column: Column, cells: list[str | None]) -> None:
    encoder = Encoder(Schema({"x": column}))
    codes = encoder.forward(pa.table({"x": pa.array(cells, pa.string())}))["x"]
    assert len(codes) == len(cells)
    assert (codes < column.size).all()
    assert all(code == column.null_code for cell, code in zip(cells, codes, strict=True) if cell is None)


def test_a_column_too_large_for_memory_is_refused_from_its_description_alone() -> None:
    for make in (
        lambda: Integer(0, 10**7, bins=10**7),
        lambda: Number(0, 1, bins=2 * 10**6),
        lambda: Date(date(1, 1, 1), date(9999, 1, 1)),
        lambda: Category(tuple(range(10**6 + 1))),
    ):
        try:
            make()
        except SizeError:
            continue
        raise AssertionError("accepted")
