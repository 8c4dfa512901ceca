"""Midnights come back as midnights, and whole minutes as whole minutes: declared, drafted, or learned privately."""

from __future__ import annotations

from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain.columns.datetime import DatetimeGrid
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.errors import SchemaError

STEPS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
ROWS = 2_000
FIRST = int(datetime(2019, 1, 1, tzinfo=UTC).timestamp())


def moments(step: int, zone: str | None = None, unit: str = "us") -> pa.Array:
    places = np.random.default_rng(0).integers(0, 500 * 86_400 // step, ROWS) * step + FIRST
    return pa.array(places).cast(pa.timestamp("s", zone)).cast(pa.timestamp(unit, zone))


def on_step(values: Any, step: int) -> bool:
    seconds = values.drop_null().cast(pa.timestamp("s", values.type.tz)).cast(pa.int64()).to_numpy()
    return len(seconds) > 0 and not (seconds % step).any()


def fitted(column: pa.Array, schema: us.Schema | None, folder: Path) -> us.Release:
    settings: Any = {"epsilon": 2, "delta": 1e-6, "mechanism": "independent", "ledger": folder / "ledger"}
    return us.fit(pa.table({"x": column}), schema, **settings)


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("step", STEPS)
def test_the_step_is_learned_with_the_bounds(step: str, zone: str | None, tmp_path: Path) -> None:
    release = fitted(moments(STEPS[step], zone), None, tmp_path)
    assert release.schema["x"].precision == (None if step == "second" else step)
    made = release.sample(500)["x"]
    assert on_step(made, STEPS[step]) and made.type == pa.timestamp("us", zone)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("step", STEPS)
def test_the_step_is_drafted(step: str, unit: str, tmp_path: Path) -> None:
    table = pa.table({"x": moments(STEPS[step], unit=unit)})
    drafted = us.draft_schema(table, name="t")
    assert drafted["x"].precision == (None if step == "second" else step)
    assert on_step(fitted(table["x"], drafted, tmp_path).sample(500)["x"], STEPS[step])


def test_one_value_off_the_step_does_not_move_it(tmp_path: Path) -> None:
    odd = pa.array([FIRST + 7] * 10).cast(pa.timestamp("s")).cast(pa.timestamp("us"))
    assert fitted(pa.concat_arrays([moments(86_400), odd]), None, tmp_path).schema["x"].precision == "day"


def test_noise_alone_tells_no_step() -> None:
    grid = us.Datetime().grid()
    assert isinstance(grid, DatetimeGrid) and grid.size == len(grid.labels())
    noise = np.random.default_rng(1).normal(0, 10, grid.size)
    assert grid.precision_of(NoisyCounts(noise, 10.0)) is None


def test_a_record_is_in_one_cell_of_the_grid() -> None:
    """Its year's, at the coarsest step that it stands on; what is missing has its own."""
    grid = us.Datetime().grid()
    cells = pa.array([datetime(2020, 1, 1), datetime(2020, 1, 1, 5), datetime(2021, 1, 1, 5, 6, 7), None])
    codes = grid.codec().encode(cells).tolist()
    years = grid.size // 4
    assert codes == [220, years + 220, 3 * years + 221, grid.size - 1]


def test_a_period_finer_than_the_step_is_refused() -> None:
    with pytest.raises(SchemaError, match="precision"):
        us.Datetime(every="hour", precision="day")
    with pytest.raises(SchemaError, match="precision"):
        us.Datetime(precision="week")
    with pytest.raises(SchemaError, match="precision"):
        us.Time(precision="day")
    assert us.Datetime(datetime(2020, 1, 1), datetime(2020, 12, 31), precision="day").granularity == "day"


def test_times_of_day_keep_their_step(tmp_path: Path) -> None:
    clock = pa.array([time(8, 30), time(9), time(17, 45)] * 100)
    drafted = us.draft_schema(pa.table({"x": clock}), name="t")
    assert drafted["x"].precision == "minute"
    made = fitted(clock, drafted, tmp_path).sample(200)["x"]
    assert made.type == clock.type and all(value.second == 0 for value in made.to_pylist())


def test_moments_that_lie_far_apart_are_drafted_by_longer_periods() -> None:
    """One date that stands for none, 1900 or 9999, would leave too many hours."""
    moments = [datetime(1900, 1, 1), datetime(2020, 5, 6, 7, 8, 9), datetime(9999, 12, 31)] * 200
    assert us.draft_schema({"x": pa.array(moments)}, name="t")["x"].every == "month"
