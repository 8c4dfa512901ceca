"""Some records only: every one fulfils the condition, and their law is the release's given it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.cli import main
from understudy.errors import ParameterError
from understudy.pipeline.drawing import sample_folder
from understudy.privacy import Seeded

ROWS = 20_000


@pytest.fixture(name="release", scope="module")
def _release(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, ROWS)
    sex = rng.choice(["F", "M"], ROWS, p=[0.6, 0.4])
    city = np.where(rng.random(ROWS) < 0.02 + 0.05 * (sex == "F"), "Lynn", "Boston")
    pay = np.where(age < 15, 0, rng.gamma(2.0, 20_000 * (1 + (sex == "M")), ROWS).round())
    table = pa.table({"age": age, "sex": sex, "city": city, "pay": pay, "key": [str(n) for n in range(ROWS)]})
    columns = {
        "age": us.Integer(0, 99, bins=10),
        "sex": us.Category(("F", "M")),
        "city": us.Category(("Boston", "Lynn", "Salem")),
        "pay": us.Number(0, 200_000, bins=20, special=(0,)),
        "key": us.Id(),
    }
    ledger = tmp_path_factory.mktemp("ledger") / "ledger.db"
    schema = us.Schema(columns, name="t")
    fitted = us.fit(
        table, schema, epsilon=8.0, delta=1e-6, ledger=ledger, source=Seeded(1), mechanism="mst"
    )  # which leaves a city out that has nobody
    fitted.save(ledger.parent / "t.release")
    return us.load(ledger.parent / "t.release")


CONDITIONS = {
    "sex = 'F' and age >= 65": lambda t: pc.and_(pc.equal(t["sex"], "F"), pc.greater_equal(t["age"], 65)),
    "age between 63 and 67": lambda t: pc.and_(pc.greater_equal(t["age"], 63), pc.less_equal(t["age"], 67)),
    "city = 'Lynn' or (sex = 'M' and age < 10)": lambda t: pc.or_(
        pc.equal(t["city"], "Lynn"), pc.and_(pc.equal(t["sex"], "M"), pc.less(t["age"], 10))
    ),
    "not city in ('Boston', 'Salem') and pay > 150000 and age > 95 and sex = 'M'": lambda t: pc.and_(
        pc.and_(pc.equal(t["city"], "Lynn"), pc.greater(t["pay"], 150_000)),
        pc.and_(pc.equal(t["sex"], "M"), pc.greater(t["age"], 95)),
    ),
    "pay < age": lambda t: pc.less(t["pay"], pc.cast(t["age"], pa.float64())),
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_every_record_fulfils_the_condition(release: us.Release, where: str) -> None:
    sample = release.sample(500, where=where, seed=1)
    assert sample.num_rows == 500 and pc.all(CONDITIONS[where](sample)).as_py()
    assert sample.equals(release.sample(500, where=where, seed=1))
    assert len(sample["key"].unique()) == 500


def shares(table: pa.Table, name: str) -> dict[str, float]:
    return {row["values"]: row["counts"] / table.num_rows for row in table[name].value_counts().to_pylist()}


def test_the_rest_of_a_record_is_as_the_release_has_it_given_the_condition(release: us.Release) -> None:
    where = "age between 55 and 64 and sex = 'M'"
    chosen = release.sample(20_000, where=where, seed=2)
    everyone = release.sample(300_000, seed=3)
    among = everyone.filter(
        pc.and_(
            pc.equal(everyone["sex"], "M"),
            pc.and_(pc.greater_equal(everyone["age"], 55), pc.less_equal(everyone["age"], 64)),
        )
    )
    for name in ("city", "age"):
        real, found = shares(among, name), shares(chosen, name)
        assert all(abs(share - found.get(value, 0)) < 0.012 for value, share in real.items()), name
    means = [pc.mean(table["pay"]).as_py() for table in (among, chosen)]
    assert abs(means[0] - means[1]) < 1_500


def test_codes_are_drawn_from_the_fields_exact_conditional(release: us.Release) -> None:
    only = release.wanted("sex = 'F' and city = 'Lynn'", None)
    assert only is not None
    drawn = only.sample(20_000, seed=1)
    exact = release.field.conditional("pay", {"sex": [0], "city": [1]}).values
    found = np.bincount(drawn["pay"], minlength=exact.size) / 20_000
    assert {*drawn["sex"].tolist()} == {0} and {*drawn["city"].tolist()} == {1}
    assert np.abs(found - exact).max() < 1e-3


def test_what_nothing_fulfils_is_refused_with_a_word(release: us.Release) -> None:
    for where in ("age > 120", "sex = 'F' and sex = 'M'", "city = 'Salem'"):
        with pytest.raises(ParameterError, match="no record of this release fulfils it"):
            release.sample(10, where=where)
    with pytest.raises(ParameterError, match="fulfil the condition"):
        release.sample(5_000, where="pay between 10000 and 10000.001")
    with pytest.raises(ParameterError, match="'agee' is not known"):
        release.sample(10, where="agee > 3")
    with pytest.raises(ParameterError, match="'key' is made up"):
        release.sample(10, where="key = 3")


def test_a_balanced_column_has_each_value_as_often(release: us.Release) -> None:
    found = shares(release.sample(1_000, balance="city", seed=1), "city")
    assert found == {"Boston": 0.5, "Lynn": 0.5}
    for rows in (6, 1_000):
        young = release.sample(rows, balance="sex", where="age < 25", seed=1)  # in the middle of a bin
        assert shares(young, "sex") == {"F": 0.5, "M": 0.5} and pc.max(young["age"]).as_py() < 25
    odd = shares(release.sample(1_001, balance="sex", where="sex = 'F' or age < 9", seed=1), "sex")
    assert abs(odd["F"] - odd["M"]) < 0.002
    assert shares(release.sample(10, balance="sex", where="sex = 'F'"), "sex") == {"F": 1.0}
    with pytest.raises(ParameterError, match="'town' is not in the release"):
        release.sample(10, balance="town")


def test_what_is_given_stands_and_the_rest_is_drawn_given_it(release: us.Release) -> None:
    given = {"age": [7, None, 81], "city": ["Lynn", "Lynn", ""], "key": [None, 77, None]}
    found = release.sample(given=given, seed=1)
    assert found.column_names == ["age", "sex", "city", "pay", "key"]
    assert found["age"].to_pylist()[::2] == [7, 81] and found["city"].to_pylist()[:2] == ["Lynn", "Lynn"]
    assert found["key"].to_pylist()[1] == "77" and all(column.null_count == 0 for column in found.columns)
    many = release.sample(given={"age": [70] * 20_000, "city": ["Lynn"] * 20_000}, seed=2)
    exact = release.field.conditional("sex", {"age": [7], "city": [1]}).values
    assert abs(shares(many, "sex")["F"] - exact[0]) < 1e-3


def test_values_without_records_are_completed_as_the_nearest_that_have_some() -> None:
    rng = np.random.default_rng(4)
    age = rng.choice([10, 11, 12, 40, 41, 42], 4000)
    school = np.where(age < 20, "yes", "no")
    town = rng.choice(["a", "b"], 4000)
    columns = {
        "age": us.Integer(0, 49),
        "school": us.Category(("yes", "no")),
        "town": us.Category(("a", "b", "c"), missing=False),
    }
    fitted = us.fit(
        pa.table({"age": age, "school": school, "town": town}),
        us.Schema(columns, name="t"),
        epsilon=10.0,
        delta=1e-6,
        ledger=None,
        source=Seeded(6),
    )
    given = {"age": [13] * 200 + [39] * 200 + [None], "town": [None] * 400 + ["c"]}
    found = fitted.sample(given=given, seed=3)
    assert found["age"].to_pylist()[:400] == given["age"][:400] and found["town"].to_pylist()[-1] == "c"
    schools = found["school"].to_pylist()
    assert schools[:200].count("yes") > 150 and schools[200:400].count("no") > 150
    assert fitted.sample(given={"town": ["c"], "school": ["no"]}, seed=5)["age"].to_pylist()[0] >= 40
    both = fitted.sample(given={"age": [11], "school": ["no"]}, seed=4)
    assert both["age"].to_pylist() == [11] and both["school"].to_pylist() == ["no"]


def test_what_cannot_be_given_is_refused(release: us.Release) -> None:
    for given, why in (
        ({"town": ["x"]}, "'town' is not in the release"),
        ({"city": ["Paris", "Lynn"]}, "1 cells of column 'city'"),
        ({"age": ["old"]}, "1 cells of column 'age'"),
    ):
        with pytest.raises(ParameterError, match=why):
            release.sample(given=given)
    with pytest.raises(ParameterError, match="2 records are given"):
        release.sample(3, given={"age": [1, 2]})
    with pytest.raises(ParameterError, match="where and balance"):
        release.sample(given={"age": [1]}, where="age > 3")


def test_chunks_and_folders_hold_wanted_records_alone(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = list(release.sample_chunks(1_000, chunk=300, where="age >= 93", seed=1))
    assert [part.num_rows for part in parts] == [300, 300, 300, 100]
    whole = pa.concat_tables(parts)
    assert pc.min(whole["age"]).as_py() >= 93 and len(whole["key"].unique()) == 1_000
    monkeypatch.setattr(sample_folder, "PART_ROWS", 300)
    sample_folder.sample_to_folder(release, tmp_path / "parts", 700, seed=5, where="age >= 93")
    assert pc.min(pq.read_table(tmp_path / "parts")["age"]).as_py() >= 93
    with pytest.raises(ParameterError, match="its only differs"):
        sample_folder.sample_to_folder(release, tmp_path / "parts", 700, seed=5)


def test_the_command_takes_conditions_and_partial_records(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    release.save("t.release")
    (tmp_path / "partial.csv").write_text("city,age\nLynn,\n,34\n")
    for line in (
        ["sample", "t.release", "-n", "50", "--where", "sex = 'F' and age >= 65", "-o", "women.csv"],
        ["sample", "t.release", "-n", "50", "--balance", "sex", "-o", "even.csv"],
        ["sample", "t.release", "--given", "partial.csv", "-o", "whole.csv"],
    ):
        monkeypatch.setattr(sys, "argv", ["understudy", *line])
        main()
    women = pyarrow.csv.read_csv("women.csv")
    assert {*women["sex"].to_pylist()} == {"F"} and pc.min(women["age"]).as_py() >= 65
    assert shares(pyarrow.csv.read_csv("even.csv"), "sex") == {"F": 0.5, "M": 0.5}
    whole = pyarrow.csv.read_csv("whole.csv")
    assert whole["city"][0].as_py() == "Lynn" and whole["age"][1].as_py() == 34
