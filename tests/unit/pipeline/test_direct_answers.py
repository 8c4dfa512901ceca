"""Answers by noisy counts alone: as narrow as noise allows, and right where slots hide a few records after all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.mechanisms.empty_slots import unseen
from understudy.pipeline.accuracy.direct_counts import DirectCounts
from understudy.privacy import Seeded
from understudy.transforms.compress import Compression

NOISE = 10.0
# Columns "a" of three values and a slot that holds so many records as noise may hide, "b" of two values.
TABLE = np.array([[900.0, 300.0], [500.0, 500.0], [200.0, 600.0], [8.0, 12.0]])
DOMAIN = Domain({"a": 4, "b": 2})
NEVER = {"a": [3]}
REPLAYS = 1_500


def measured(draw: np.random.Generator, *, beyond: bool) -> DirectCounts:
    """Both columns, then the pair of records whose slot counts with the most frequent value."""
    log = [
        Measurement(name, counts + draw.normal(0, NOISE, counts.size), NOISE)
        for name, counts in (("a", TABLE.sum(axis=1)), ("b", TABLE.sum(axis=0)))
    ]
    compression = Compression.none(DOMAIN, NEVER, unseen(DOMAIN, log, NEVER))
    merged = TABLE[:3].copy()
    merged[int(np.argmax(log[0].values[:3]))] += TABLE[3]
    query = Interactions(merged.shape, [(0,), (1,)]) if beyond else None
    answers = merged.ravel() if query is None else query.apply(merged)
    scale = NOISE if query is None else NOISE * query.cells
    pair = Measurement(("a", "b"), answers + draw.normal(0, scale, answers.size), scale, query)
    return DirectCounts((*(compression.measurement(m) for m in log), pair), compression)


def cells(rows: list[int], columns: list[int]) -> np.ndarray[Any, Any]:
    found = np.zeros((4, 2), np.bool_)
    found[np.ix_(rows, columns)] = True
    return found


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("rows", [[0], [1, 2], [3], [0, 1, 2, 3]])
def test_counts_hold_where_a_slot_that_was_taken_for_empty_holds_records(
    beyond: bool, rows: list[int]
) -> None:
    draw, held, wanted = np.random.default_rng(0), [], cells(rows, [0])
    for _ in range(REPLAYS):
        found = measured(draw, beyond=beyond).count(("a", "b"), wanted, wanted, 0.9)
        assert found is not None
        held.append(found[0] <= TABLE[wanted].sum() <= found[1])
    assert np.mean(held) > 0.88


def test_a_count_that_hidden_records_cannot_touch_is_as_narrow_as_its_noise() -> None:
    draw, wanted = np.random.default_rng(0), cells([1, 2], [0, 1])
    low, high = measured(draw, beyond=False).count(("a",), wanted[:, 0], wanted[:, 0], 0.95) or (0, 0)
    assert high - low == pytest.approx(2 * 1.96 * 2**0.5 * NOISE, rel=0.01)
    of_most = measured(draw, beyond=False).count(("a", "b"), cells([0], [0]), cells([0], [0]), 0.95) or (0, 0)
    assert of_most[1] - of_most[0] < 2 * 1.96 * NOISE + 6 * NOISE  # not seven deviations on either side


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("q", [None, 0.3])
def test_means_and_quantiles_under_a_condition_hold_as_often_as_they_say(
    beyond: bool, q: float | None
) -> None:
    draw, held, wide = np.random.default_rng(1), [], []
    numbers = np.broadcast_to(np.array([10.0, 20.0, 50.0, np.nan])[:, None], (4, 2))
    wanted = cells([0, 1, 2, 3], [1])
    mass = TABLE[:3, 1]
    true = mass @ numbers[:3, 0] / mass.sum() if q is None else 20.0
    for _ in range(REPLAYS):
        counts = measured(draw, beyond=beyond)
        ends = (numbers, numbers)
        if q is None:
            found = counts.mean(("a", "b"), wanted, wanted, ends, 0.9)
        else:
            found = counts.quantile(("a", "b"), wanted, wanted, ends, q, 0.9)
        assert found is not None
        held.append(found[0] <= true <= found[1])
        wide.append(found[1] - found[0])
    assert np.mean(held) > 0.88
    assert np.median(wide) < 8


def test_two_columns_measured_together_say_a_mean_more_closely_than_the_check(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    sex = draw.choice(["F", "M"], 4000)
    age = np.clip(draw.normal(np.where(sex == "F", 14, 9), 4).round(), 0, 19).astype(int)
    schema = us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 19)}, name="people")
    table, held = pd.DataFrame({"sex": sex, "age": age}), []
    for seed in range(8):
        release = us.fit(
            table, schema, epsilon=1.0, delta=1e-6, ledger=tmp_path / str(seed), source=Seeded(seed)
        )
        mean = release.query("mean", "age", where="sex = 'F'")
        median = release.query("median", "age", where="sex = 'M'")
        held += [mean.low <= age[sex == "F"].mean() <= mean.high]
        held += [median.low <= np.median(age[sex == "M"]) <= median.high]
        assert mean.high - mean.low < 1.3
        assert median.high - median.low <= 2.0
    assert np.mean(held) >= 0.85


def test_three_columns_are_bounded_by_each_of_them_alone(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    table = pd.DataFrame({name: draw.choice(["x", "y"], 3000, p=[0.995, 0.005]) for name in "abc"})
    schema = us.Schema({name: us.Category(("x", "y")) for name in "abc"}, name="rare")
    release = us.fit(table, schema, epsilon=1.0, delta=1e-6, ledger=tmp_path / "l", source=Seeded(0))
    three = release.query(where="a = 'y' and b = 'y' and c = 'y'")
    assert three.high <= release.query(where="a = 'y'", level=0.99).high * 1.5


def test_a_pair_that_tells_its_columns_is_asked_where_no_column_of_all_codes_was_counted() -> None:
    """Where all columns have slots, how many records there are is told by whichever was counted."""
    query = Interactions((2, 2), [])
    pair = Measurement(("b", "c"), query.apply(np.array([[40.0, 20.0], [30.0, 10.0]])), 1.0, query)
    compression = Compression.none(Domain({"a": 3, "b": 2, "c": 2}), {"a": [2]})
    wanted = np.array([True, False])
    found = DirectCounts((compression.measurement(Measurement("a", [70, 30, 0], 1.0)), pair), compression)
    low, high = found.count(("b",), wanted, wanted, 0.95) or (0.0, 0.0)
    assert low <= 60 <= high
