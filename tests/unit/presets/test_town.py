"""The demo's town: typed, dependent, seeded, and described by its own schema."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from understudy.domain import Schema
from understudy.errors import ParameterError
from understudy.presets import town


@pytest.fixture(scope="module")
def people():
    return town.simulate(20_000, seed=5)


def test_the_schema_reads_and_describes_every_column_in_order(people):
    schema = Schema.from_toml(town.SCHEMA)
    assert list(schema.columns) == people.column_names
    assert schema.name == "town"
    assert not schema.unlearned
    assert 12 <= len(schema.columns) <= 15


def test_no_value_lies_outside_the_schema(people):
    schema = Schema.from_toml(town.SCHEMA)
    for name, column in schema.columns.items():
        found = pc.drop_null(people[name].combine_chunks())
        if column.type == "category":
            assert set(found.to_pylist()) <= set(column.values), name
        elif column.type in ("integer", "number", "date"):
            assert pc.min(found).as_py() >= column.min, name
            assert pc.max(found).as_py() <= column.max, name
        if name in ("district", "age", "car", "job"):
            assert people[name].null_count == 0


def test_columns_come_in_every_kind_of_type(people):
    kinds = {str(field.type) for field in people.schema}
    assert kinds == {"string", "int64", "date32[day]", "double", "bool"}
    assert (
        people["hours"].null_count
        == pc.sum(pc.less(pc.index_in(people["job"], pa.array(town.JOBS)), 4)).as_py()
    )
    assert people["income"].null_count > 0


def test_the_date_of_birth_agrees_with_the_age(people):
    for born, age in zip(people["born"].to_pylist()[:3000], people["age"].to_pylist()[:3000], strict=True):
        on = datetime.date(2025, 12, 31)
        assert born <= on
        assert on.year - born.year - ((on.month, on.day) < (born.month, born.day)) == age


def test_columns_depend_on_each_other_as_in_life(people):
    age, income = people["age"].to_numpy(), people["income"].to_numpy()
    job = np.array(people["job"].to_pylist())
    known = np.isfinite(income)
    assert np.mean(income[known] == 0) > 0.15  # a mass at 0
    assert np.median(income[known & (job == "medicine")]) > 2 * np.median(income[known & (job == "shop")])
    assert set(job[age < 16]) == {"child"}
    assert (job[age > 80] == "retired").mean() > 0.9
    rent, home = people["rent"].to_numpy(), np.array(people["home"].to_pylist(), dtype=object)
    assert np.isnan(rent[home == "owned"]).all()
    assert np.isfinite(rent[home == "rented"]).all()
    marital = np.array(people["marital"].to_pylist())
    assert (marital[age < 18] == "single").all()


def test_the_same_seed_gives_the_same_town():
    assert town.simulate(300, seed=1).equals(town.simulate(300, seed=1))
    assert not town.simulate(300, seed=1).equals(town.simulate(300, seed=2))


@pytest.mark.parametrize("rows", [0, 1])
def test_a_town_may_be_tiny(rows):
    assert town.simulate(rows).num_rows == rows


def test_a_town_of_minus_one_is_refused():
    with pytest.raises(ParameterError, match="-1 people"):
        town.simulate(-1)
