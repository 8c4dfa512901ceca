"""Conditions in values: what they read as, what they mean on records, and that codes never contradict records."""

from __future__ import annotations

import tracemalloc
from datetime import date, datetime, time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Time, Untyped
from understudy.domain.condition_truth import CodeCells, RecordValues, check, truth
from understudy.domain.conditions import (
    And,
    Compares,
    Condition,
    IsMissing,
    Membership,
    Not,
    Or,
    Reference,
    columns_of,
    conjuncts,
    parse,
)
from understudy.errors import ParameterError

COLUMNS: dict[str, Column] = {
    "age": Integer(0, 99, bins=7),
    "sex": Category(("F", "M", "it's")),
    "grade": Category(("low", "mid", "high"), ordered=True, outside="other"),
    "grade after": Category(("low", "mid", "high"), ordered=True),
    "level": Category((1, 2, 5)),
    "pay": Number(-10.0, 90.0, bins=4, special=(0.0, 999.0), precision=0.5),
    "born": Date(date(1990, 1, 1), date(1994, 5, 17), every="quarter"),
    "seen": Datetime(datetime(1990, 3, 1), datetime(1994, 5, 17), every="month"),
    "opens": Time(time(6), time(22), every="hour"),
    "closed": Boolean(missing=False),
    "city": Category(discover=True),
}


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("age < 15", Compares("age", "<", 15)),
        ("15 > age", Compares("age", "<", 15)),
        ("AGE == -1.5e2", Compares("AGE", "=", -150.0)),
        ("\"first name\" <> 'it''s'", Compares("first name", "!=", "it's")),
        ("born >= 1990-02-03", Compares("born", ">=", "1990-02-03")),
        ("opens < 08:30", Compares("opens", "<", "08:30")),
        ("admitted <= discharged", Compares("admitted", "<=", Reference("discharged"))),
        ("a in ('x', 2, true)", Membership("a", ("x", 2, True))),
        ("a NOT IN ('x')", Not(Membership("a", ("x",)))),
        ("a is not null", Not(IsMissing("a"))),
        ("a between 1 and 2 and b = 1", And((parse("a >= 1 and a <= 2"), Compares("b", "=", 1)))),
        ("not a = 1 or b = 2 and c = 3", Or((parse("not a = 1"), parse("b = 2 and c = 3")))),
        ("(a = 1 or b = 2) and c = 3", And((parse("a = 1 or b = 2"), Compares("c", "=", 3)))),
    ],
)
def test_condition_reads_as_it_is_written(text: str, tree: Condition) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age",
        "age <",
        "age < < 3",
        "3 < 4",
        "a in ()",
        "a in (b)",
        "a is 3",
        "a not 3",
        "(a = 1",
        "a = 1)",
        "a = 1 b",
        "a = 'x",
        "a ~ 3",
        "a between 1",
        "not",
        "(" * 400 + "a = 1" + ")" * 400,
        "not " * 400 + "a = 1",
        3,
        "a = " + "9" * 16_000,  # more digits than Python makes a number of
        "a = -" + "9" * 500 + ".5",
    ],
)
def test_what_is_no_condition_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        parse(text)
    assert refused.value.hint


@pytest.mark.parametrize("quoted", ["a = '{}'", '"{}" = 1'])
def test_long_text_takes_little_more_memory_than_itself(quoted: str) -> None:
    text = quoted.format("b" * 500_000 + 2 * quoted[quoted.index("{") - 1])
    tracemalloc.start()
    try:
        parse(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "height < 3",
        "sex < 'M'",
        "sex = 'X'",
        "age = 'old'",
        "born = '3 May'",
        "opens = 'noon'",
        "closed = 'perhaps'",
        "age = sex",
        "born = opens",
        "sex < sex",
        "grade < grade",
        "answer = 3",
        "grade < 'medium'",
    ],
)
def test_comparison_without_meaning_is_refused(text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check(parse(text), {**COLUMNS, "answer": Untyped(), "grade": Category(("b", "a"))})
    assert refused.value.hint


def test_missing_cell_is_neither_true_nor_false() -> None:
    table = pa.table({"age": [3, None, 40], "sex": ["F", None, None]})
    for text, true, false in (
        ("age < 15", [1, 0, 0], [0, 0, 1]),
        ("not age < 15", [0, 0, 1], [1, 0, 0]),
        ("age is missing", [0, 1, 0], [1, 0, 1]),
        ("age < 15 or sex = 'F'", [1, 0, 0], [0, 0, 0]),
        ("age < 15 and sex = 'F'", [1, 0, 0], [0, 0, 1]),
        ("sex in ('F', 'M')", [1, 0, 0], [0, 0, 0]),
        ("sex not in ('F', 'M')", [0, 0, 0], [1, 0, 0]),
    ):
        found = truth(parse(text), RecordValues(COLUMNS, table))
        assert found.true.tolist() == list(map(bool, true)), text
        assert found.false.tolist() == list(map(bool, false)), text


def test_values_are_compared_by_the_type_of_their_column() -> None:
    table = pa.table(
        {
            "grade": ["low", "mid", "high", "other"],
            "grade after": ["mid", "mid", "low", "low"],
            "born": pa.array([date(1990, 1, 1), date(1990, 1, 2), None, date(1991, 1, 1)]),
            "seen": pa.array([datetime(1990, 1, 1), datetime(1990, 1, 2, 8), None, datetime(1990, 5, 1)]),
            "opens": pa.array([time(8), time(9), None, time(10)], pa.time32("s")),
            "closed": [True, False, None, True],
            "level": [1, 2, 5, None],
        }
    )
    for text, expected in (
        ("grade >= 'mid'", [0, 1, 1, 0]),
        ('grade <= "grade after"', [1, 1, 0, 0]),
        ("grade = 'other'", [0, 0, 0, 1]),
        ("born <= '1990-01-02'", [1, 1, 0, 0]),
        ("seen <= 1990-01-02", [1, 0, 0, 0]),
        ("born = seen", [1, 0, 0, 0]),
        ("opens >= 08:30", [0, 1, 0, 1]),
        ("closed = true", [1, 0, 0, 1]),
        ("level in (1, 5)", [1, 0, 1, 0]),
    ):
        condition = parse(text)
        check(condition, COLUMNS)
        assert truth(condition, RecordValues(COLUMNS, table)).true.tolist() == list(map(bool, expected)), text


LEAVES = st.one_of(
    st.builds(Compares, st.just("age"), st.sampled_from(["=", "<", ">="]), st.integers(-5, 110)),
    st.builds(Compares, st.just("pay"), st.sampled_from(["!=", "<=", ">"]), st.floats(-20, 120)),
    st.builds(Compares, st.just("pay"), st.sampled_from(["=", "<=", ">"]), st.just(Reference("age"))),
    st.builds(Compares, st.just("grade"), st.sampled_from(["=", "<", ">="]), st.sampled_from(["low", "mid"])),
    st.builds(Compares, st.just("born"), st.sampled_from(["<=", ">"]), st.just(Reference("seen"))),
    st.builds(Compares, st.just("seen"), st.sampled_from(["<", ">="]), st.dates(date(1990, 1, 1)).map(str)),
    st.builds(Compares, st.just("opens"), st.sampled_from(["<", "="]), st.sampled_from(["08:00", "12:30"])),
    st.builds(Compares, st.just("closed"), st.just("="), st.booleans()),
    st.builds(Membership, st.just("sex"), st.lists(st.sampled_from(["F", "it's"]), min_size=1).map(tuple)),
    st.builds(Membership, st.just("level"), st.lists(st.integers(0, 6), min_size=1).map(tuple)),
    st.builds(IsMissing, st.sampled_from(["grade", "pay", "closed"])),
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        parts.map(Not),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: And(tuple(found))),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: Or(tuple(found))),
    ),
    max_leaves=4,
)


@given(CONDITIONS)
def test_text_of_a_condition_says_the_same_again(condition: Condition) -> None:
    read = parse(str(condition))
    assert parse(str(read)) == read
    table = _decoded(np.random.default_rng(0), 50)
    for one, other in zip(_three(read, table), _three(condition, table), strict=True):
        np.testing.assert_array_equal(one, other)


@given(CONDITIONS, st.integers(0, 1000))
def test_codes_never_contradict_records(condition: Condition, seed: int) -> None:
    check(condition, COLUMNS)
    rng = np.random.default_rng(seed)
    codes = _codes(rng, 60)
    clique = columns_of(condition)
    cells = CodeCells(COLUMNS, clique)
    told = truth(condition, cells)
    seen = truth(condition, RecordValues(COLUMNS, _values(codes, rng)))
    assert ((seen.true.astype(int) + seen.false + seen.unknown) == 1).all()  # of a record one is so
    where = tuple(codes[name] for name in clique)
    for may, does in ((told.true, seen.true), (told.false, seen.false), (told.unknown, seen.unknown)):
        assert np.broadcast_to(may, cells.shape)[where][does].all()


def test_conjuncts_and_columns_of_a_condition() -> None:
    condition = parse("a = 1 and (b = 2 and (c < d or a = 3))")
    assert list(map(str, conjuncts(condition))) == ["a = 1", "b = 2", "c < d or a = 3"]
    assert columns_of(condition) == ("a", "b", "c", "d")


def _codes(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    return {name: rng.integers(0, column.size, rows) for name, column in COLUMNS.items() if name != "city"}


def _values(codes: dict[str, np.ndarray], rng: np.random.Generator) -> pa.Table:
    return pa.table(
        {name: COLUMNS[name].codec().decode(found, rng, "uniform") for name, found in codes.items()}
    )


def _decoded(rng: np.random.Generator, rows: int) -> pa.Table:
    return _values(_codes(rng, rows), rng)


def _three(condition: Condition, table: pa.Table) -> tuple[np.ndarray, ...]:
    found = truth(condition, RecordValues(COLUMNS, table))
    return found.true, found.false, found.unknown
