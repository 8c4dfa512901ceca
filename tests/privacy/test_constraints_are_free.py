"""Constraints change no question to the records but for the count that is asked for, and read no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.pipeline.holding import breaches
from understudy.privacy import Seeded

COLUMNS = {
    "a": us.Integer(0, 9, missing=False),
    "b": us.Integer(0, 9, missing=False),
    "c": us.Category(("x", "y", "z"), missing=False),
    "total": us.Integer(missing=False),
}
RULES = [{"order": "a <= b"}, {"never": "a = 3 and c = 'x'"}, {"column": "a", "determines": "c"}]


def charges(tmp_path: Path, table: pd.DataFrame, rules: list[dict[str, Any]], **columns: Any) -> list[Any]:
    schema = us.Schema({**COLUMNS, "total": us.Integer(0, 18, missing=False), **columns}, constraints=rules)
    ledger = tmp_path / f"ledger {len(list(tmp_path.iterdir()))}"
    found = us.fit(
        table, schema, epsilon=2.0, delta=1e-6, ledger=ledger, source=Seeded(0), mechanism="mst"
    )  # whose questions are the same in number, whatever it hears
    assert found.verify().holds
    return [{k: v for k, v in charge.items() if k != "stage"} for charge in found.certificate["charges"]]


def people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 10, rows), rng.integers(0, 10, rows)  # half of them break the order
    return pd.DataFrame({"a": a, "b": b, "c": rng.choice(["x", "y", "z"], rows), "total": a + b})


def test_same_questions_are_asked_at_the_same_noise_with_and_without_rules(tmp_path: Path) -> None:
    by_values = [{**RULES[0], "by": "values"}, *RULES[1:]]
    assert charges(tmp_path, people(), by_values) == charges(tmp_path, people(), [])


def test_as_many_questions_are_asked_at_the_same_noise_where_an_order_is_coded_by_differences(
    tmp_path: Path,
) -> None:
    with_order, without = (charges(tmp_path, people(), rules) for rules in (RULES[:1], []))
    kept = ("question", "scales", "part")
    assert [[charge.get(key) for key in kept] for charge in with_order] == [
        [charge.get(key) for key in kept] for charge in without
    ]


def test_count_that_is_asked_for_is_one_charge_of_its_share(tmp_path: Path) -> None:
    counted = charges(tmp_path, people(), [{**rule, "count": True} for rule in RULES[:2]])
    extra = counted[0]
    assert [sorted(clique) for clique in extra["cliques"]] == [["a", "b"], ["a", "c"]]
    assert len(counted) == len(charges(tmp_path, people(), [])) + 1


def test_rules_about_the_same_columns_are_counted_on_one_marginal(tmp_path: Path) -> None:
    rules = [{"never": f"a = {digit} and b = {digit}", "count": True} for digit in range(3)]
    counted = charges(tmp_path, people(), [*rules, {"order": "b >= a", "count": True}])
    assert [sorted(clique) for clique in counted[0]["cliques"]] == [["a", "b"]]


def test_rule_too_large_to_be_counted_raises_nothing_once_bounds_are_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaches, "MOST_CELLS", 50)
    learned = charges(
        tmp_path, people(), [{"order": "a <= b", "count": True}], a=us.Integer(), b=us.Integer()
    )
    assert [["a", "b"]] not in [charge.get("cliques") for charge in learned]


def test_cells_of_a_derived_column_are_never_read(tmp_path: Path) -> None:
    rules = [{"derive": "total = a + b"}]
    spoiled = people().assign(total=-(10**9))
    assert charges(tmp_path, people(), rules) == charges(tmp_path, spoiled, rules)
    odd = people().assign(total="no number at all")
    assert charges(tmp_path, people(), rules) == charges(tmp_path, odd, rules)


def test_record_that_breaks_every_rule_changes_no_count_by_more_than_one(tmp_path: Path) -> None:
    """With the same noise, one record more moves the noisy counts of breaches by one at most."""

    def broken(table: pd.DataFrame) -> list[float]:
        rules = [{**rule, "count": True} for rule in RULES[:2]]
        schema = us.Schema({**COLUMNS, "total": us.Integer(0, 18, missing=False)}, constraints=rules)
        ledger = tmp_path / f"ledger {len(list(tmp_path.iterdir()))}"
        found = us.fit(
            table, schema, epsilon=2.0, delta=1e-6, ledger=ledger, source=Seeded(0), mechanism="independent"
        )
        return [rule["broken"] for rule in found.certificate["constraints"]]

    more = pd.concat([people(), pd.DataFrame({"a": [3], "b": [0], "c": ["x"], "total": [3]})])
    assert [new - old for new, old in zip(broken(more), broken(people()), strict=True)] == [1, 1]
