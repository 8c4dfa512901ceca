"""What no record can be is refused before any is drawn, in words that show the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.errors import ParameterError, SchemaError
from understudy.model import MarkovField
from understudy.pipeline.drawing import conflicts
from understudy.privacy import Seeded
from understudy.report.release_words import constraint_text

COLUMNS = {
    "age": us.Integer(0, 99, missing=False),
    "marital": us.Category(("single", "married"), missing=False),
    "pay": us.Number(0, 10, bins=5),
}
YOUNG = {"if": "age < 15", "then": "marital = 'single'"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 1_000)
    table = pd.DataFrame(
        {
            "age": age,
            "marital": np.where(age < 15, "single", rng.choice(["single", "married"], 1_000)),
            "pay": rng.uniform(0, 10, 1_000),
        }
    )
    schema = us.Schema(COLUMNS, name="people", constraints=[YOUNG])
    ledger = tmp_path_factory.mktemp("conflicts") / "ledger"
    return us.fit(table, schema, epsilon=2.0, delta=1e-6, ledger=ledger, source=Seeded(1))


@pytest.mark.parametrize(
    "asked",
    [
        {"where": "age < 15 and marital = 'married'"},
        {"where": "pay > 5.1 and pay < 5.1"},
        {"where": "pay > 5.2 and pay <= 5.1 and marital = 'single'"},
        {"where": "pay = 3 and pay > 3"},
        {"given": pd.DataFrame({"age": [3, 50], "marital": ["married", "married"]})},
    ],
)
def test_what_no_record_can_be_is_refused_before_any_is_drawn(
    release: us.Release, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(self: Any, *how: Any, **more: Any) -> Any:
        raise AssertionError("records were drawn")

    monkeypatch.setattr(MarkovField, "sample", drawn)
    rows = {} if "given" in asked else {"rows": 10}
    with pytest.raises(ParameterError, match=r"where: no|given: 1 records") as refused:
        release.sample(**rows, **asked)
    assert refused.value.hint


@pytest.mark.parametrize(
    "where",
    ["age < 15 and marital = 'single'", "pay >= 5 and pay <= 5.5", "age < 15 or marital = 'married'"],
)
def test_what_some_records_are_is_drawn(release: us.Release, where: str) -> None:
    assert len(release.sample(20, where=where, seed=1)) == 20


def test_condition_that_a_missing_cell_leaves_open_is_no_conflict() -> None:
    columns = {**COLUMNS, "marital": us.Category(("single", "married"))}
    schema = us.Schema(columns, constraints=[YOUNG])
    conflicts.refuse_conflict(us.domain.conditions.parse("age < 15 and marital is missing"), schema)


@pytest.mark.parametrize(
    "rules",
    [
        [YOUNG, {"if": "age < 15", "then": "marital = 'married'"}],
        [YOUNG, {"if": "age < 10", "then": "marital != 'single'"}],
    ],
)
def test_rules_of_which_one_thing_and_its_contrary_follow_are_refused(rules: list[Any]) -> None:
    with pytest.raises(SchemaError, match="contradicts") as refused:
        us.Schema(COLUMNS, constraints=rules)
    assert refused.value.hint
    agreeing = [
        YOUNG,
        {"if": "age >= 15", "then": "marital = 'married'"},
        {"if": "pay > 5", "then": "age > 3"},
    ]
    assert len(us.Schema(COLUMNS, constraints=agreeing).rules) == 3


@pytest.mark.parametrize(("broken", "shown"), [(-7, False), (9, False), (50, True)])
def test_counts_that_noise_explains_are_not_shown_as_counts(broken: int, shown: bool) -> None:
    text = constraint_text({"rule": "a < b", "held": "the model", "broken": broken, "stddev": 8.0})
    assert (str(broken) in text) == shown
    assert ("none that could be told" in text) != shown


def test_partial_record_that_cannot_be_is_told_how_to_help_itself(release: us.Release) -> None:
    with pytest.raises(ParameterError) as refused:
        release.sample(given=pd.DataFrame({"age": [3], "marital": ["married"]}))
    assert "log_likelihood" not in str(refused.value)
    assert "empty" in (refused.value.hint or "")


def test_empty_text_that_is_listed_is_a_value_of_a_text_file(tmp_path: Path) -> None:
    pd.DataFrame({"v": ["", "a", "", ""] * 200, "w": "x"}).to_csv(tmp_path / "cells.csv", index=False)
    schema = us.Schema({"v": us.Category(("", "a")), "w": us.Category(("x",))}, name="cells")
    settings: dict[str, Any] = {"epsilon": 3.0, "delta": 1e-6, "ledger": tmp_path / "l", "source": Seeded(1)}
    for way in ("", "csv:"):
        release = us.fit(f"{way}{tmp_path / 'cells.csv'}", schema, **settings)
        assert release.certificate["warnings"] == []
        drawn = release.sample(400, seed=1)["v"].to_pylist()
        assert 0.7 < drawn.count("") / 400 < 0.8
    marked = us.Schema({"v": us.Category(("", "a"), missing=True), "w": us.Category(("x",))}, name="cells")
    assert None in us.fit(tmp_path / "cells.csv", marked, **settings).sample(400, seed=1)["v"].to_pylist()


def test_coordinates_are_drafted_as_numbers() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "ycoord": rng.integers(121_000, 271_000, 800),
            "lat_e6": rng.integers(40_500_000, 40_900_000, 800),
            "Longitude": rng.uniform(-74, -73, 800).round(6).astype(str),
            "ticket": rng.permutation(900_000)[:800] + 100_000,
        }
    )
    kinds = {name: column.type for name, column in us.draft_schema(table).columns.items()}
    assert kinds == {"ycoord": "integer", "lat_e6": "integer", "Longitude": "number", "ticket": "id"}


def test_whole_numbers_that_infinities_stretch_are_warned_of(tmp_path: Path) -> None:
    numbers = np.append(np.arange(1_700) % 50, np.full(300, np.inf))
    schema = us.Schema({"a": us.Integer(), "b": us.Category(("x",))}, name="far")
    with pytest.warns(us.MisfitWarning, match="infinite"):
        us.fit(
            pd.DataFrame({"a": numbers, "b": "x"}),
            schema,
            epsilon=3.0,
            delta=1e-6,
            ledger=tmp_path / "l",
            source=Seeded(1),
        )
