"""The error that a plan expects: near what a run of that shape errs by, and never a riddle of 100%."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.pipeline.accuracy.expected_noise import mean_pair_error, noise_left
from understudy.pipeline.forecast import Forecast
from understudy.privacy import Seeded

ROWS = 20_000
SIZES = {"a": 40, "b": 12, "c": 6, "d": 25}


def schema(sizes: dict[str, int] = SIZES) -> us.Schema:
    columns = {name: us.Integer(0, size - 1, missing=False) for name, size in sizes.items()}
    return us.Schema(columns, name="table", rows=ROWS)


def plan(mechanism: str, epsilon: float = 1.0, sizes: dict[str, int] = SIZES) -> Forecast:
    return us.plan(schema(sizes), epsilon=epsilon, delta=1e-9, mechanism=mechanism)


def zipf(rng: np.random.Generator, size: int) -> np.ndarray:
    chances = 1 / np.arange(1, size + 1)
    return rng.choice(size, ROWS, p=chances / chances.sum())


@pytest.mark.parametrize("cells", [1, 50, 10**4, 10**9])
def test_expected_noise_grows_with_noise_up_to_what_shrinkage_leaves(cells: int) -> None:
    errors = [float(noise_left(cells, scale, ROWS)) for scale in (0.0, 1.0, 10.0, 100.0, 1e4, 1e9)]
    assert errors == sorted(errors) and errors[0] == 0.0 and errors[-1] == pytest.approx(0.175, abs=1e-6)


def test_expected_noise_of_few_cells_is_that_of_noise_alone() -> None:
    assert float(noise_left(10, 2.0, ROWS)) == pytest.approx(0.8 * 2.0 * 10 / (2 * ROWS))


@pytest.mark.parametrize("mechanism", ["mst", "adaptive", "independent"])
def test_expected_errors_fall_with_epsilon_and_stay_below_the_most_that_noise_does(mechanism: str) -> None:
    tight, loose = (plan(mechanism, epsilon) for epsilon in (0.1, 3.0))
    for found in (tight, loose):
        for marginal in found.marginals:
            assert marginal.expected is not None and marginal.error is not None
            assert 0 < marginal.expected <= marginal.error * 1.01
    assert tight.column_error is not None and loose.column_error is not None
    assert tight.column_error > loose.column_error
    if mechanism == "independent":
        assert tight.pair_error is None
    else:
        assert tight.pair_error is not None and loose.pair_error is not None
        assert 0.3 > tight.pair_error > loose.pair_error > 0


def test_ordered_columns_are_expected_in_runs_that_noise_leaves() -> None:
    many = {"a": 900, "b": 900, "c": 900}
    cells = [max(m.cells for m in plan("mst", epsilon, many).marginals) for epsilon in (0.1, 1.0, 10.0)]
    assert cells[0] < cells[1] < cells[2] <= 900**2


def test_the_error_of_measured_pairs_is_about_what_was_expected(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({name: zipf(rng, size) for name, size in SIZES.items()})
    release = us.fit(
        table, schema(), epsilon=1.0, delta=1e-9, mechanism="mst", ledger=tmp_path / "ledger", check=False
    )
    made = release.field.sample(ROWS, seed=1)
    whole = release.compression.reverse(dict(made.columns.items()), rng, spread="counts")
    errors = []
    for pair in itertools.combinations(SIZES, 2):
        shape = [SIZES[name] for name in pair]
        real, drawn = (
            np.bincount(
                np.ravel_multi_index([np.asarray(t[n]) for n in pair], shape), minlength=np.prod(shape)
            )
            for t in (table, whole)
        )
        errors.append(0.5 * np.abs(real - drawn).sum() / ROWS)
    expected = plan("mst").pair_error
    assert expected is not None and expected / 3 < np.mean(errors) < 3 * expected


def test_the_mean_over_pairs_counts_every_pair_of_columns_once() -> None:
    domain = us.Domain({"a": 3, "b": 3, "c": 3, "d": 70, "e": 70, "f": 1})
    each = [noise_left(domain.size(pair), 40.0, ROWS) for pair in itertools.combinations(domain, 2)]
    assert mean_pair_error(domain, 40.0, ROWS) == pytest.approx(np.mean(each), rel=1e-12)
    assert mean_pair_error(us.Domain({"a": 3}), 40.0, ROWS) is None


@pytest.mark.parametrize(("rows", "epsilon"), [(300, 0.3), (1_000, 1.0), (10_000, 0.5), (10_000, 4.0)])
def test_the_error_that_is_forecast_of_pairs_is_the_error_that_a_run_has(
    rows: int, epsilon: float, tmp_path: Path
) -> None:
    """Also where noise hides most of what a table holds, its columns' own counts included."""
    draw = np.random.default_rng(rows)
    codes, sizes = {}, (2, 3, 5, 8, 12, 20)
    mood = draw.random(rows)
    for place, size in enumerate(sizes):
        chance = 1.0 / np.arange(1, size + 1)
        ends = np.cumsum(chance / chance.sum())
        both = np.where(draw.random(rows) < 0.4, mood, draw.random(rows))
        codes[f"c{place}"] = np.searchsorted(ends, both * ends[-1])
    schema = us.Schema(
        {f"c{i}": us.Integer(0, size - 1, missing=False) for i, size in enumerate(sizes)}, name="t", rows=rows
    )
    plan = us.plan(schema, epsilon=epsilon, delta=1e-6)
    found = []
    for seed in range(3):
        release = us.fit(
            codes, schema, epsilon=epsilon, delta=1e-6, ledger=tmp_path / str(seed), source=Seeded(seed)
        )
        for one, other in itertools.combinations(range(len(sizes)), 2):
            made = np.asarray(release.marginal((f"c{one}", f"c{other}")).counts).ravel()
            real = np.bincount(codes[f"c{one}"] * sizes[other] + codes[f"c{other}"], minlength=made.size)
            found.append(np.abs(real / rows - made / made.sum()).sum() / 2)
    assert plan.of_all_pairs and plan.pair_error is not None
    assert 0.6 < plan.pair_error / np.mean(found) < 1.6


def test_time_is_forecast_of_the_model_that_noise_lets_grow() -> None:
    """A survey of few records does not fill what a model may hold; a wide table of many does, and takes minutes."""
    few = us.Schema({f"c{i}": us.Integer(0, 7) for i in range(9)}, name="few", rows=600)
    wide = us.Schema({f"c{i}": us.Integer(0, 249, bins=250) for i in range(98)}, name="wide", rows=600_000)
    seconds = [us.plan(schema, epsilon=10.0, delta=1e-9).seconds for schema in (few, wide)]
    assert seconds[0] is not None and seconds[0] < 4
    assert seconds[1] is not None and seconds[1] > 50
