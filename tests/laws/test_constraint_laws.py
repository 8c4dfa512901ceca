"""For any columns, codes and constraints, every synthetic record holds every constraint."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.data.forms.table_form import TableForm
from understudy.domain import Boolean, Category, Column, Date, Integer, Number, Schema, Time
from understudy.domain.condition_truth import RecordValues, truth
from understudy.domain.conditions import parse
from understudy.domain.ordered_differences import through_differences
from understudy.model import MarkovField
from understudy.model.tree.junction_tree import build_tree
from understudy.pipeline.generation import records
from understudy.transforms.compress import compress

FIRST, LAST = date(2020, 1, 1), date(2020, 12, 31)
MISSING = st.sampled_from([None, False])


def dates(missing: Any) -> st.SearchStrategy[Column]:
    form = st.sampled_from([None, "%d/%m/%Y"])
    every = st.sampled_from(["day", "month", "quarter"])
    return st.builds(Date, st.just(FIRST), st.just(LAST), every=every, missing=missing, format=form)


def numbers(missing: Any) -> st.SearchStrategy[Column]:
    whole = st.builds(Integer, st.just(0), st.just(20), bins=st.sampled_from([None, 3, 21]), missing=missing)
    form = st.sampled_from([None, "1.234,50"])
    cents = st.builds(
        Number,
        *(st.just(0.0), st.just(9.0)),
        bins=st.integers(1, 4),
        precision=st.just(0.01),
        missing=missing,
        format=form,
    )
    return whole | cents


@st.composite
def tables(draw: st.DrawFn) -> Schema:
    missing = draw(MISSING)
    same = st.just(missing)
    columns: dict[str, Column] = {
        "came": draw(dates(same)),
        "seen": draw(dates(same)),
        "out": draw(dates(same)),
        "a": draw(numbers(same)),
        "b": draw(numbers(same)),
        "sum": Number(0.0, 30.0, bins=3, missing=missing, format=draw(st.sampled_from([None, "0,500"]))),
        "double": Number(-1.0, 60.0, bins=3, missing=missing),
        "age": Integer(0, 120, missing=missing),
        "city": Category(("Boston", "Salem", "Keene"), outside="other", missing=missing),
        "state": Category(("MA", "NH", "VT"), missing=missing),
        "opens": Time(time(6), time(22), missing=missing),
        "shuts": Time(time(6), time(22), every="minute", missing=missing),
        "flag": Boolean(missing=missing),
    }
    offered = [
        {"order": "came <= seen <= out"},
        {"order": "shuts > opens"},
        {"derive": "sum = a + 1.5 * b"},
        {"derive": "double = 2 * sum - 1"},
        {"derive": "age = years(came, 2021-06-01)"},
        {
            "column": "city",
            "determines": "state",
            "values": [["Boston", "MA"], ["Salem", "MA"], ["Keene", "NH"]],
        },
        {"if": "a < 3", "then": "flag = true"},
        {"never": "state = 'VT' and b > 5"},
        {"if": "sum > 25", "then": "flag = false"},
    ]
    if missing is None:
        offered.append({"together": ["a", "b", "flag"]})
    rules = [rule for rule in offered if draw(st.booleans())]
    schema = Schema(columns, constraints=rules)
    return through_differences(schema) if draw(st.booleans()) else schema


@settings(max_examples=many(150))
@given(tables(), st.integers(0, 10_000), st.sampled_from(["uniform", "midpoint"]), st.integers(1, 80))
def test_every_record_holds_every_constraint(schema: Schema, seed: int, within: Any, rows: int) -> None:
    table = _drawn(schema, seed, within, rows)
    assert table.num_rows == rows
    assert set(table.column_names) == set(schema.columns)
    view = RecordValues(schema.columns, table)
    for rule in schema.rules:
        for condition in rule.conditions():
            assert not truth(condition, view).false.any(), str(rule)
    plain = {name: _plain(schema[name], table[name].combine_chunks()) for name in schema.columns}
    names = {rule.computed for rule in schema.rules}
    for place in range(rows):
        cell = {name: column[place] for name, column in plain.items()}
        if "sum" in names and None not in (cell["a"], cell["b"]):
            assert abs(cell["sum"] - (cell["a"] + 1.5 * cell["b"])) < 1e-9
            assert 0 <= cell["sum"] <= 30
        if "sum" in names and None in (cell["a"], cell["b"]):
            assert cell["sum"] is None
        if "double" in names and cell["sum"] is not None:
            assert abs(cell["double"] - (2 * cell["sum"] - 1)) < 1e-9
        if "age" in names and cell["came"] is not None:
            day = (
                cell["came"] if isinstance(cell["came"], date) else date.fromisoformat(str(cell["came"])[:10])
            )
            assert cell["age"] == 2021 - day.year - ((day.month, day.day) > (6, 1))


def _plain(column: Column, cells: pa.Array) -> list[Any]:
    values = column.plain_values(cells).to_pylist()
    if column.compared_as != "number" or column.type == "integer":
        return values
    return [None if value is None else float(value) for value in values]


def _drawn(schema: Schema, seed: int, within: Any, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    domain = schema.domain()
    noisy = {name: rng.integers(0, 100, size) for name, size in domain.items()}
    compression = compress(noisy, dict.fromkeys(domain, 30.0))
    small = compression.domain(domain)
    tree = build_tree(small, [(name,) for name in small])
    tables = [rng.random(small.shape(clique)) + 0.01 for clique in tree.cliques]
    field = MarkovField(tree, tables, 100.0)
    codes = dict(field.sample(rows, seed=seed).items())
    return records(codes, schema, compression, (), rng, within, TableForm(), field)


def test_condition_that_holds_by_chance_alone_is_found() -> None:
    schema = Schema(
        {"a": Integer(0, 999, missing=False), "b": Integer(0, 999, missing=False)},
        constraints=[{"never": "a != 7"}, {"order": "b < a"}],
    )
    table = _drawn(schema, 1, "uniform", 40)
    view = RecordValues(schema.columns, table)
    assert not truth(parse("a != 7 or b >= 7"), view).true.any()
