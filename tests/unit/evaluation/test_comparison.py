"""Two tables of values are compared by one coding, so that equal codes mean equal values."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from understudy.domain import Boolean, Category, Date, Datetime, Integer, Number, Schema
from understudy.errors import FileError, ParameterError, SchemaError
from understudy.evaluation import ContestFile, ContestTests, Roles, compare
from understudy.evaluation.coding import Coding, completed
from understudy_contest.contest_scores import score

OPEN = Schema({"city": Category(discover=True), "age": Integer(), "pay": Number(), "born": Date()})


def people(rows: int = 300, seed: int = 1) -> pa.Table:
    randomness = np.random.default_rng(seed)
    born = randomness.integers(0, 9000, rows).astype("datetime64[D]")
    return pa.table(
        {
            "city": randomness.choice(["Köln", "東京", "Rio"], rows),
            "age": randomness.integers(20, 60, rows),
            "pay": np.where(randomness.random(rows) < 0.3, 0.0, randomness.random(rows) * 1e5),
            "born": born,
        }
    )


def total_variation(found, column: str) -> float:
    return next(gap.synthetic for gap in found.columns if gap.clique == (column,))


def test_a_table_compared_with_itself_is_at_no_distance() -> None:
    found = compare(people(), people(), OPEN)
    assert all(gap.synthetic == 0 for gap in (*found.columns, *found.pairs))
    assert found.strangers == {"real": 0, "synthetic": 0}
    assert found.evaluation["pMSE (logistic)"].synthetic == pytest.approx(0, abs=1e-9)


def test_the_order_of_columns_and_the_type_that_holds_a_value_do_not_matter() -> None:
    table = people()
    texts = pa.table({name: table[name].cast(pa.string()) for name in reversed(table.column_names)})
    assert all(gap.synthetic == 0 for gap in compare(table, texts, OPEN).columns)


def test_what_a_schema_leaves_out_covers_every_real_record() -> None:
    coding = Coding.of(OPEN, people())
    assert not coding.schema.unlearned and coding.strangers(coding.real) == 0
    pay = coding.schema.columns["pay"]
    assert isinstance(pay, Number) and pay.special == (0.0,)  # common enough to have a code of its own


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Category(discover=True), [None, None]),
        (Category(discover=True), ["", "a"]),
        (Integer(), [5, 5]),
        (Integer(), [2**63 - 1, -(2**63)]),
        (Integer(), [2**63 - 1, 2**63 - 1]),
        (Integer(), [None, None]),
        (Integer(min=10), [3, 4]),
        (Integer(max=10), [30, 40]),
        (Integer(bins=50), [1, 2]),
        (Integer(step=7), [70, 70]),
        (Integer(step=7), list(range(0, 70_000, 7))),
        (Number(), [1.5, 1.5]),
        (Number(), [1e300, -1e300]),
        (Number(), [float("nan"), float("inf")]),
        (Number(min=0, max=1), [0.2, 7.0]),
        (Date(), [date(2020, 1, 1), None]),
        (Date(), [date(1, 1, 1), date(9999, 12, 31)]),
        (Date(min=date(2030, 1, 1)), [date(2020, 1, 1), date(2020, 5, 1)]),
        (Date(max=date(2000, 1, 1)), [date(2020, 1, 1), date(2020, 5, 1)]),
        (Datetime(), [datetime(2020, 1, 1, 7), datetime(2020, 1, 1, 9)]),
        (Boolean(), [True, None]),
    ],
    ids=lambda value: repr(value)[:200],
)
def test_any_column_of_records_gives_a_complete_description(column, values) -> None:
    real = pa.table({"c": values})
    schema = completed(Schema({"c": column}), real)
    assert not schema.unlearned and schema.domain()["c"] >= 2


def test_a_value_that_the_schema_does_not_know_matches_nothing_and_is_counted() -> None:
    schema = Schema({"sex": Category(("M", "F")), "age": Integer(0, 9, missing=False)})
    real = pa.table({"sex": ["M", "F", "X", None], "age": [1, 2, 3, 99]})
    same = compare(real, real, schema)
    assert same.strangers == {"real": 2, "synthetic": 2}
    # X and 99 stand in both tables, yet nobody knows what they are.
    assert total_variation(same, "sex") == total_variation(same, "age") == 0.25
    assert any("2 synthetic records hold a value unknown" in note for note in same.notes())


def test_a_text_among_numbers_is_unknown_unless_the_real_table_has_it_too() -> None:
    schema = Schema({"age": Integer(0, 9, missing=("none",))})
    real = pa.table({"age": ["1", "2", "?", None]})
    for text, strange in (("?", 0), ("none", 0), ("", 0), ("nan", 0), ("young", 1)):
        found = compare(real, pa.table({"age": ["1", "2", text, None]}), schema)
        assert found.strangers["synthetic"] == strange
        assert total_variation(found, "age") == strange / 4


def test_a_rule_for_values_outside_is_followed_where_the_schema_writes_one() -> None:
    schema = Schema({"age": Integer(0, 9, outside="clip")})
    found = compare(pa.table({"age": [9, 50]}), pa.table({"age": [9, 9]}), schema)
    assert total_variation(found, "age") == 0 and found.strangers["real"] == 0
    promised = Schema({"age": Integer(0, 9, outside="clip", missing=False)})  # no slot for what is no number
    found = compare(pa.table({"age": ["0", "9"]}), pa.table({"age": ["young", "9"]}), promised)
    assert total_variation(found, "age") == 0


def test_a_refusal_never_shows_a_value_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_):
        raise SchemaError("values 'XCANARYX' is not valid Unicode.")

    monkeypatch.setattr(Category, "completed", refuse)
    with pytest.raises(SchemaError, match="column 'city'") as refused:
        compare(people(), people(), OPEN)
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("which", ["real", "synthetic"])
def test_a_table_without_records_or_without_a_column_is_named(which: str) -> None:
    good, schema = people(50), OPEN
    for bad, said in ((good.slice(0, 0), "no records"), (good.drop_columns(["age"]), "no column 'age'")):
        with pytest.raises(ParameterError, match=f"the {which} table has {said}"):
            compare(*((bad, good) if which == "real" else (good, bad)), schema)


def test_a_column_that_tells_every_record_from_every_other_is_remarked_on() -> None:
    real = pa.table({"key": [f"k{i}" for i in range(50)], "a": [i % 2 for i in range(50)]})
    found = compare(real, real, Schema({"key": Category(discover=True), "a": Integer()}))
    assert any("in key:" in note for note in found.notes())


def census(rows: int, seed: int) -> pa.Table:
    randomness = np.random.default_rng(seed)
    return pa.table(
        {
            "SEX": randomness.integers(1, 3, rows),
            "CITY": randomness.integers(0, 5, rows),
            "INCWAGE": randomness.integers(0, 5000, rows),
            "RACE": randomness.integers(0, 4, rows),
        }
    )


def test_the_contest_scores_are_those_of_its_own_scorer(tmp_path: Path) -> None:
    real, synthetic = census(500, 1), census(400, 2)
    schema = Schema(dict.fromkeys(real.column_names, Integer()))
    file = ContestFile(tmp_path / "tests.json", Roles("SEX", "CITY", "INCWAGE"))
    drawn = compare(real, synthetic, schema, contest=file, undescribed=True, seed=3)
    again = compare(real, synthetic, schema, contest=file, undescribed=True, seed=3)
    expected = score(real, synthetic, ContestTests.load(file.path), Roles()).scores
    for found in (drawn, again):
        figures = found.evaluation
        assert figures["contest score, 3-way marginals"].synthetic == pytest.approx(expected["triples"])
        assert figures["contest score, conjunctions"].synthetic == pytest.approx(expected["conjunctions"])
        assert figures["contest score, income by city"].synthetic == pytest.approx(expected["income"])
        assert figures["contest score, overall"].synthetic == pytest.approx(expected["overall"])
    assert "Drew" in drawn.remarks[-1] and "Scored by" in again.remarks[-1]


def test_without_roles_the_contest_has_two_scores_and_no_mean(tmp_path: Path) -> None:
    found = compare(people(), people(200, 2), OPEN, contest=ContestFile(tmp_path / "tests.json"))
    names = [figure.name for figure in found.evaluation.figures if figure.name.startswith("contest")]
    assert names == ["contest score, 3-way marginals", "contest score, conjunctions"]


def test_tests_of_another_table_are_refused(tmp_path: Path) -> None:
    file = ContestFile(tmp_path / "tests.json")
    compare(people(), people(), OPEN, contest=file)
    (tmp_path / "not.json").write_text("{}")
    with pytest.raises(FileError, match="does not hold contest tests"):
        compare(people(), people(), OPEN, contest=ContestFile(tmp_path / "not.json"))
    other = census(100, 1)
    schema = Schema(dict.fromkeys(other.column_names, Integer()))
    with pytest.raises(ParameterError, match="no column 'city'"):
        compare(other, other, schema, contest=file)


def test_a_wage_counts_by_its_value_and_not_by_its_code(tmp_path: Path) -> None:
    table = people().append_column("sex", pa.array(["f", "m"] * 150))
    schema = OPEN.with_columns({"sex": Category(("f", "m"))})
    file = ContestFile(tmp_path / "tests.json", Roles("sex", "city", "pay"))
    # Coded in two bins, nearly all wages of a city are alike; their Gini index is that of the values.
    coarse = schema.with_columns({"pay": Number(0, 1e5, bins=2)})
    shuffled = table.set_column(2, "pay", pa.array(np.full(300, 100.0)))
    alike = compare(table, table, coarse, contest=file).evaluation["contest score, income by city"]
    apart = compare(table, shuffled, coarse, contest=file).evaluation["contest score, income by city"]
    assert alike.synthetic == pytest.approx(1_000_000) and apart.synthetic < 900_000


def test_learning_without_scikit_learn_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.evaluation.comparison.find_spec", lambda name: None)
    found = compare(people(), people(), OPEN, targets=["city"])
    assert any("understudy[evaluate]" in note for note in found.notes())
    assert not any("boosting" in figure.name for figure in found.evaluation.figures)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_synthetic_table_of_a_record_or_two_can_be_learned_from(rows: int) -> None:
    found = compare(people(60), people(rows), OPEN, targets=["city", "pay"])
    assert np.isfinite([figure.synthetic for figure in found.evaluation.figures]).all()
