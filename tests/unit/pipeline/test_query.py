"""What a release answers about the real table comes with an interval that holds, and says what it rests on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy.cli import understudy as cli
from understudy.errors import ParameterError
from understudy.pipeline.accuracy.known_of_table import NOTHING
from understudy.pipeline.accuracy.worst_case import Reach, least_ratio
from understudy.privacy import Seeded

SCHEMA = us.Schema(
    {
        "sex": us.Category(("F", "M")),
        "age": us.Integer(0, 29),
        "town": us.Category(("Ely", "Wells", "Truro", "Ripon")),
        "income": us.Number(0, 100, bins=10),
    },
    name="people",
)
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


def people(rows: int = 3000) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age = np.minimum(draw.geometric(0.1, rows), 29)
    town = np.where(age > 9, "Ely", draw.choice(["Wells", "Truro", "Ripon"], rows))
    income = np.clip(draw.normal(30 + age, 15, rows), 0, 100)
    return pd.DataFrame(
        {"sex": draw.choice(["F", "M"], rows, p=[0.3, 0.7]), "age": age, "town": town, "income": income}
    )


QUESTIONS: list[tuple[dict[str, Any], Any]] = [
    ({}, len),
    ({"where": "sex = 'F'"}, lambda t: (t.sex == "F").sum()),
    ({"where": "age >= 20"}, lambda t: (t.age >= 20).sum()),
    ({"where": "age < 3 or town = 'Ely'"}, lambda t: ((t.age < 3) | (t.town == "Ely")).sum()),
    ({"where": "sex = 'M' and town = 'Ely'"}, lambda t: ((t.sex == "M") & (t.town == "Ely")).sum()),
    ({"where": "income > 45"}, lambda t: (t.income > 45).sum()),
    (
        {"where": "sex = 'M' and town = 'Ely' and age > 9"},
        lambda t: ((t.sex == "M") & (t.town == "Ely") & (t.age > 9)).sum(),
    ),
    ({"what": "share", "where": "town = 'Ely'"}, lambda t: (t.town == "Ely").mean()),
    ({"what": "mean", "column": "age"}, lambda t: t.age.mean()),
    ({"what": "mean", "column": "income"}, lambda t: t.income.mean()),
    ({"what": "mean", "column": "age", "where": "town = 'Ely'"}, lambda t: t.age[t.town == "Ely"].mean()),
    ({"what": "mean", "column": "age", "where": "age > 9"}, lambda t: t.age[t.age > 9].mean()),
    ({"what": "median", "column": "age"}, lambda t: t.age.median()),
    ({"what": "quantile", "column": "income", "q": 0.9}, lambda t: t.income.quantile(0.9)),
    (
        {"what": "quantile", "column": "age", "q": 0.25, "where": "sex = 'F'"},
        lambda t: t.age[t.sex == "F"].quantile(0.25, interpolation="lower"),
    ),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    return us.fit(people(), SCHEMA, **BUDGET, ledger=tmp_path_factory.mktemp("query") / "l", source=Seeded(3))


def test_intervals_hold_the_real_answer(tmp_path: Path) -> None:
    table, held = people(), []
    for mechanism in ("mst", "independent"):
        for seed in range(5):
            ledger = tmp_path / f"{mechanism}{seed}"
            release = us.fit(table, SCHEMA, **BUDGET, mechanism=mechanism, ledger=ledger, source=Seeded(seed))
            for question, exact in QUESTIONS:
                found = release.query(**question)
                assert found.low <= found.value <= found.high
                held.append(found.low <= float(exact(table)) <= found.high)
    assert np.mean(held) > 0.95


def test_counts_of_measured_columns_are_as_narrow_as_their_noise(made: us.Release) -> None:
    found = made.query(where="sex = 'F'")
    noise = max(float(m.stddev.max()) for m in made.measurements if m.clique == ("sex",))
    assert found.high - found.low < 25 * noise and "noisy counts" in found.covers
    assert made.query(level=0.5).high < made.query(level=0.99).high


def test_answers_by_values_add_up_to_the_whole(made: us.Release) -> None:
    answers = made.query(by=["sex", "town"])
    assert answers.columns == ("sex", "town") and ("F", "Ely") in dict(answers)
    assert sum(found.value for _, found in answers) == pytest.approx(made.field.total, rel=0.02)
    by_sex = dict(made.query("mean", "age", by="sex"))
    assert set(by_sex) >= {("F",), ("M",)} and 5 < by_sex[("F",)].value < 15
    assert "Wells" in answers._repr_html_() and len(answers.to_dict()["answers"]) == len(answers)


def test_what_nothing_is_known_of_is_said(made: us.Release) -> None:
    three = made.query("mean", "income", where="sex = 'F' and town = 'Ely'")
    assert three.covers == NOTHING and (three.low, three.high) == (0, 100)
    unchecked = replace(made, errors=None, measurements=())
    found = unchecked.query(where="sex = 'F' and town = 'Ely'")
    assert found.covers == NOTHING and found.low == 0 and found.high >= found.value
    assert json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ({"what": "mode"}, "not known"),
        ({"what": "mean"}, "none was given"),
        ({"column": "age"}, "takes no column"),
        ({"what": "mean", "column": "sex"}, "holds no numbers"),
        ({"what": "mean", "column": "x"}, "not in the release"),
        ({"where": "size > 3"}, "not known"),
        ({"where": "age >"}, "condition"),
        ({"by": "x"}, "not in the release"),
        ({"by": ["sex", "sex"]}, "twice"),
        ({"what": "quantile", "column": "age", "q": 1.5}, "between 0 and 1"),
        ({"level": 0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(made: us.Release, question: dict[str, Any], fault: str) -> None:
    with pytest.raises(ParameterError, match=fault):
        made.query(**question)


@given(
    st.lists(st.integers(0, 20), min_size=3, max_size=3),
    st.lists(st.integers(0, 20), min_size=3, max_size=3),
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=3, max_size=3),
)
def test_no_table_within_reach_has_less_than_the_least(real: Any, expected: Any, weights: Any) -> None:
    exact, model, sums = (np.array(numbers, np.float64) for numbers in (real, expected, weights))
    reach = Reach(float(np.abs(exact - model).sum()), abs(float(exact.sum() - model.sum())))
    assert reach.least(model, sums) <= float(exact @ sums) + 1e-9


def test_the_least_is_reached() -> None:
    expected = np.array([10.0, 5.0])
    assert Reach(4.0, 0.0).least(expected, np.array([1.0, 0.0])) == 8.0  # two records moved
    assert Reach(4.0, 4.0).least(expected, np.array([1.0, 0.0])) == 6.0  # four records gone
    assert Reach(4.0, 0.0).least(expected, np.array([1.0, -1.0])) == 1.0
    assert Reach(0.0, 0.0).least(expected, np.array([1.0, -1.0])) == 5.0


def test_the_command_line_asks_the_same(made: us.Release, tmp_path: Path) -> None:
    made.save(tmp_path / "r")

    def run(*words: str) -> Any:
        return CliRunner().invoke(cli, ["query", str(tmp_path / "r"), *words])

    said = run("mean", "age", "--by", "sex")
    assert said.exit_code == 0 and "95% intervals cover noise" in said.output and "  F " in said.output
    told = json.loads(run("count", "--where", "sex = 'F'", "--json").output)
    assert told["value"] == pytest.approx(made.query(where="sex = 'F'").value)
    assert run("mean", "sex").exit_code != 0


def test_records_that_are_drawn_say_what_codes_do_not(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    start = draw.integers(0, 60, 3000)
    table = pd.DataFrame({"start": start, "end": start + draw.integers(0, 30, 3000), "sex": "F"})
    bounded = us.Integer(0, 99)
    schema = us.Schema(
        {"start": bounded, "end": bounded, "sex": SCHEMA.columns["sex"]},
        constraints=[us.Order("start <= end", by="differences")],
    )
    release = us.fit(table, schema, epsilon=4.0, delta=1e-6, ledger=tmp_path / "l", source=Seeded(0))
    assert release.query("mean", "end").value == pytest.approx(table.end.mean(), rel=0.05)
    count = release.query(where="end >= 50")
    assert (
        count.value == pytest.approx((table.end >= 50).sum(), rel=0.1)
        and count.low <= count.value <= count.high
    )
    by_sex = dict(release.query("median", "end", by="sex"))
    assert by_sex[("F",)].value == pytest.approx(table.end.median(), rel=0.1)


def test_a_bound_that_floats_do_not_tell_from_the_end_is_the_end() -> None:
    assert least_ratio(lambda bound: bound <= 1e-14, 0.0, 99.0) == 0.0
    assert least_ratio(lambda bound: bound <= 40.0, 0.0, 99.0) == pytest.approx(40.0)
