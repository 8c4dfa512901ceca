"""Constraints from a schema to records: learned around, held by model and records, on every way a sample takes."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.errors import SchemaError
from understudy.pipeline.drawing.sample_folder import sample_to_folder
from understudy.privacy import Seeded

START = date(2024, 1, 1)
COLUMNS = {
    "age": us.Integer(0, 99, bins=20, missing=False),
    "marital": us.Category(("single", "married", "widowed"), missing=False),
    "admitted": us.Date(START, date(2024, 12, 31), every="month", missing=False),
    "discharged": us.Date(START, date(2024, 12, 31), every="month", missing=False),
    "net": us.Number(0.0, 100.0, bins=8, precision=0.01, missing=False),
    "tax": us.Number(0.0, 50.0, bins=8, precision=0.01, missing=False),
    "gross": us.Number(missing=False),
    "city": us.Category(("Boston", "Salem", "Keene", "Dover"), missing=False),
    "state": us.Category(("MA", "NH"), missing=False),
}
RULES: list[dict[str, Any]] = [
    {"if": "age < 15", "then": "marital = 'single'"},
    {"order": "admitted <= discharged"},
    {"derive": "gross = net + tax"},
    {"column": "city", "determines": "state"},
]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = 3000
    age = rng.integers(0, 100, rows)
    admitted = rng.integers(0, 300, rows)
    city = rng.integers(0, 4, rows)
    net, tax = rng.integers(0, 10_000, rows), rng.integers(0, 5_000, rows)
    return pd.DataFrame(
        {
            "age": age,
            "marital": np.where(
                age < 15, "single", np.array(["married", "widowed"])[rng.integers(0, 2, rows)]
            ),
            "admitted": [START + timedelta(int(day)) for day in admitted],
            "discharged": [START + timedelta(int(d)) for d in admitted + rng.integers(0, 60, rows)],
            "net": net / 100,
            "tax": tax / 100,
            "gross": (net + tax) / 100,
            "city": np.array(["Boston", "Salem", "Keene", "Dover"])[city],
            "state": np.array(["MA", "MA", "NH", "NH"])[city],
        }
    )


def fitted(people: pd.DataFrame, tmp_path: Path, rules: Any = RULES, mechanism: str = "mst") -> us.Release:
    schema = us.Schema(COLUMNS, name="people", constraints=rules)
    return us.fit(
        people,
        schema,
        epsilon=3.0,
        delta=1e-6,
        mechanism=mechanism,
        ledger=tmp_path / "ledger",
        source=Seeded(1),
    )


def breaks(frame: pd.DataFrame) -> dict[str, int]:
    return {
        "age": int(((frame.age < 15) & (frame.marital != "single")).sum()),
        "order": int((pd.to_datetime(frame.admitted) > pd.to_datetime(frame.discharged)).sum()),
        "sum": int((abs(frame.gross - frame.net - frame.tax) > 1e-9).sum()),
        "city": int((frame.groupby("city").state.nunique() > 1).sum()),
    }


NONE = {"age": 0, "order": 0, "sum": 0, "city": 0}


@pytest.mark.parametrize("mechanism", ["mst", "independent"])
def test_every_way_of_sampling_holds_the_constraints(
    people: pd.DataFrame, tmp_path: Path, mechanism: str
) -> None:
    release = fitted(people, tmp_path, mechanism=mechanism)
    whole = release.sample(2000, seed=1)
    assert breaks(whole) == NONE
    assert list(whole.columns) == list(people.columns)
    chunks = pd.concat([part.to_pandas() for part in release.sample_chunks(1000, seed=2, chunk=300)])
    assert breaks(chunks) == NONE
    sample_to_folder(release, tmp_path / "parts", 500, seed=3)
    assert breaks(pq.read_table(tmp_path / "parts").to_pandas()) == NONE
    release.save(tmp_path / "people.release")
    again = us.load(tmp_path / "people.release")
    assert breaks(again.sample(500, seed=4).to_pandas()) == NONE
    assert again.schema == release.schema
    assert again.verify().holds


def test_derived_column_is_never_learned(people: pd.DataFrame, tmp_path: Path) -> None:
    release = fitted(people, tmp_path)
    assert "gross" not in release.domain
    assert "gross" not in str(release.certificate["charges"])


def test_determined_column_follows_what_the_model_found(people: pd.DataFrame, tmp_path: Path) -> None:
    release = fitted(people, tmp_path)
    rule = release.schema.rules[3]
    assert isinstance(rule, us.Determines)
    assert dict(rule.pairs) == {"Boston": "MA", "Salem": "MA", "Keene": "NH", "Dover": "NH"}


def test_determined_column_that_was_not_measured_with_the_other_is_said_to_be_a_guess(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    with pytest.warns(us.MisfitWarning, match="'city' determines it"):
        alone = fitted(people, tmp_path, mechanism="independent")
    assert any("is a guess" in text for text in alone.certificate["warnings"])
    together = fitted(people, tmp_path / "other")
    assert not any("is a guess" in text for text in together.certificate["warnings"])


def test_model_holds_what_it_can_and_keeps_its_marginals(people: pd.DataFrame, tmp_path: Path) -> None:
    release = fitted(people, tmp_path)
    held = {said["rule"]: said["held"] for said in release.certificate["constraints"]}
    assert held["if age < 15 then marital = 'single'"].startswith("the model")
    assert held["admitted <= discharged"].startswith("the model")
    assert held["gross = net + tax"] == "working it out"
    pair = release.marginal(("age", "marital")).counts
    assert pair[:3, 1:].sum() < 1e-6  # 0..14 in bins of five
    ages = np.bincount(people.age // 5, minlength=20)
    assert np.abs(pair.sum(axis=1) - ages).sum() / 2 < 0.1 * len(people)
    by_values = fitted(people, tmp_path, [{"order": "admitted <= discharged", "by": "values"}])
    months = by_values.marginal(("admitted", "discharged")).counts
    assert np.tril(months[:12, :12], -1).sum() < 1.0  # of a record: rare months that were merged share theirs


def test_real_records_that_break_a_constraint_are_counted_with_noise_only(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    spoiled = people.copy()
    spoiled.loc[spoiled.age < 15, "marital"] = "married"
    found = fitted(spoiled, tmp_path, RULES[:1])
    said = found.certificate["constraints"][0]
    young = int((people.age < 15).sum())
    assert abs(said["broken"] - young) < 6 * said["stddev"]
    assert breaks(found.sample(1000, seed=1))["age"] == 0


def test_count_that_is_asked_for_is_charged_and_close(people: pd.DataFrame, tmp_path: Path) -> None:
    spoiled = people.copy()
    spoiled.loc[:99, "discharged"] = START
    rules = [{"order": "admitted <= discharged", "count": True}, {**RULES[0], "count": True}]
    found = fitted(spoiled, tmp_path, rules, "independent")
    months = pd.to_datetime(spoiled.admitted).dt.month > pd.to_datetime(spoiled.discharged).dt.month
    order, young = found.certificate["constraints"]
    assert abs(order["broken"] - months.sum()) < 6 * order["stddev"]
    assert abs(young["broken"]) < 6 * young["stddev"]
    assert young["stddev"] < 200
    assert [stage["share"] for stage in found.spent if stage["stage"] == "constraints"] == [0.01]
    assert found.verify().holds


def test_plan_says_which_way_each_is_held() -> None:
    schema = us.Schema(COLUMNS, constraints=RULES, rows=3000)
    said = us.plan(schema, epsilon=1.0, delta=1e-6).to_dict()["constraints"]
    assert [rule["held"].split(",")[0] for rule in said] == [
        "the model",
        "the model",
        "working it out",
        "working it out",
    ]


def test_declared_types_hold_the_sum_too(tmp_path: Path) -> None:
    """Decimals are rounded and small integers end somewhere: what comes back still adds up."""
    rng = np.random.default_rng(3)
    cents, tiny = rng.integers(0, 1000, (2, 500)), rng.integers(0, 100, (2, 500))
    exact = [[Decimal(int(cell)) / 100 for cell in column] for column in (*cents, cents.sum(axis=0))]
    table = pa.table(
        {
            **{
                name: pa.array(column, pa.decimal128(6, 2)) for name, column in zip("abc", exact, strict=True)
            },
            **{name: pa.array(column, pa.int8()) for name, column in zip("xy", tiny, strict=True)},
            "z": pa.array(np.minimum(tiny.sum(axis=0), 127), pa.int8()),
        }
    )
    number, whole = us.Number(0.0, 10.0, bins=4, missing=False), us.Integer(0, 99, bins=9, missing=False)
    schema = us.Schema(
        {"a": number, "b": number, "c": us.Number(), "x": whole, "y": whole, "z": us.Integer()},
        constraints=[us.Derived("c = a + b"), us.Derived("z = x + y")],
    )
    release = us.fit(table, schema, epsilon=3.0, delta=1e-6, ledger=tmp_path / "ledger", source=Seeded(1))
    found = release.sample(300, seed=1)
    assert found.schema == table.schema
    for a, b, c, x, y, z in zip(*found.to_pydict().values(), strict=True):
        assert (c, z) == (a + b, x + y)


def test_conditions_and_partial_records_keep_the_constraints(people: pd.DataFrame, tmp_path: Path) -> None:
    release = fitted(people, tmp_path)
    wanted = release.sample(200, seed=1, where="gross > 100 and age < 15")
    assert breaks(wanted) == NONE
    assert len(wanted) == 200
    assert (wanted.gross > 100).all()
    given = pd.DataFrame({"age": [3, 4, 50], "discharged": [START] * 3})
    completed = release.sample(given=given, seed=1)
    assert breaks(completed) == NONE
    assert completed.age.tolist() == [3, 4, 50]
    with pytest.raises(us.UnderstudyError, match="given"):
        release.sample(given=given.assign(marital="married"), seed=1)


def test_draft_proposes_what_every_record_holds_as_a_comment(people: pd.DataFrame) -> None:
    gaps = np.arange(len(people)) % 3 == 0
    table = people.assign(first=pd.array(np.where(gaps, None, 1)), second=pd.array(np.where(gaps, None, "x")))
    drafted = us.draft_schema(table)
    for rule in (
        'order = "admitted <= discharged"',
        'derive = "gross = net + tax"',
        'column = "city"\n    determines = "state"',
        'together = ["first", "second"]',
    ):
        assert rule in drafted.comment
    assert "constraints" not in us.draft_schema(people[["age", "net", "tax", "marital"]]).comment
    assert not drafted.rules
    assert us.Schema.from_toml(drafted.to_toml()) == drafted


def test_evaluation_compares_what_is_worked_out(people: pd.DataFrame, tmp_path: Path) -> None:
    release = fitted(people, tmp_path)
    found = us.evaluate(
        people, release.sample(500, seed=1), us.Schema(COLUMNS, constraints=RULES), targets=["city"]
    )
    assert "gross" in str(found.to_dict())


def test_derived_column_need_not_be_in_the_data(people: pd.DataFrame, tmp_path: Path) -> None:
    found = fitted(people.drop(columns="gross"), tmp_path).sample(100, seed=1)
    assert breaks(found)["sum"] == 0


def test_files_and_python_say_the_same(tmp_path: Path) -> None:
    rules = [
        us.Implies("age < 15", "marital = 'single'"),
        us.Never("age > 90 and marital = 'single'"),
        us.Order("admitted <= discharged", description="of one stay"),
        us.Derived("gross = net + tax", count=False),
        us.Determines("city", "state", {"Boston": "MA"}),
    ]
    schema = us.Schema(COLUMNS, constraints=rules)
    schema.save(tmp_path / "people.toml")
    assert us.Schema.load(tmp_path / "people.toml") == schema
    assert tuple(schema.rules) == tuple(rules)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ([{"order": "admitted <= departed"}], "departed"),
        ([{"order": "admitted <= age"}], "dates with numbers"),
        ([{"order": "admitted < discharged"}, {"order": "discharged < admitted"}], "below itself"),
        ([{"derive": "gross = net + net2"}], "net2"),
        ([{"derive": "net = gross + tax"}, {"derive": "gross = net + tax"}], "circle"),
        ([{"derive": "gross = net + tax"}, {"derive": "gross = net - tax"}], "twice"),
        ([{"derive": "gross = gross + 1"}], "itself"),
        ([{"derive": "city = net + tax"}], "number"),
        ([{"derive": "age = net + 1"}], "whole"),
        ([{"derive": "gross = admitted + 1"}], "days"),
        ([{"column": "city", "determines": "state", "values": {"Boston": "Mass"}}], "Mass"),
        ([{"column": "city", "determines": "city"}], "itself"),
        ([{"column": "age", "determines": "state"}], "one value"),
        ([{"never": "age >= 0"}], "no record"),
        ([{"if": "age >= 0", "then": "marital = 'single'"}, {"never": "marital = 'single'"}], "no record"),
        ([{"if": "age < 15"}], "then"),
        ([{"nevr": "age < 15"}], "nevr"),
        ([{"together": ["age"]}], "two"),
        ("age < 15", "list"),
    ],
)
def test_constraint_without_sense_is_refused_with_a_way_out(rules: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words) as refused:
        us.Schema(COLUMNS, constraints=rules)
    assert refused.value.hint


def test_unit_and_made_up_columns_have_no_constraints() -> None:
    columns = {**COLUMNS, "who": us.Integer(0, 9), "key": us.Id()}
    for name in ("who", "key"):
        with pytest.raises(SchemaError):
            us.Schema(columns, unit="who", constraints=[{"never": f"{name} = 3"}])
