"""Dates that lie close together are told apart more finely than the others, and nothing is lost by it."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.errors import SchemaError

YEAR = us.Date(date(2023, 1, 1), date(2023, 12, 31))


def fine(column: us.Date | us.Datetime, records: float) -> us.Date | us.Datetime:
    """The column as its bins are looked for, where so many times the noise was seen in one year."""
    return column.fine((column, NoisyCounts(np.array([records]), 1.0)))


def test_a_month_that_holds_nearly_all_is_split_into_days() -> None:
    days = fine(YEAR, 300.0)
    counts = np.zeros(days.size)
    counts[304:334] = 10.0  # November
    found = days.with_bins(NoisyCounts(counts, 1.0))
    assert found.edges is not None and found.every is None
    labels = found.value_labels()
    assert labels[:10] == [f"2023-{month:02d}" for month in range(1, 11)]
    assert labels[10:40] == [f"2023-11-{day:02d}" for day in range(1, 31)] and labels[40:] == ["2023-12"]
    again = us.Schema.from_toml(us.Schema({"x": found}).to_toml())["x"]
    assert again == found


def test_records_that_are_spread_keep_their_months() -> None:
    days = fine(YEAR, 300.0)
    assert days.with_bins(NoisyCounts(np.full(days.size, 1.0), 1.0)).every == "month"


def test_a_day_that_holds_nearly_all_is_split_into_hours() -> None:
    hours = fine(us.Datetime(datetime(2023, 1, 1), datetime(2023, 12, 31, 23, 59, 59)), 4000.0)
    assert hours.every == "hour"
    counts = np.zeros(hours.size)
    counts[24 * 40 + 8 : 24 * 40 + 18] = 400.0
    found = hours.with_bins(NoisyCounts(counts, 1.0))
    assert {"2023-02-10 08:00", "2023-02-10 17:00", "2023-02-09"} <= {*found.value_labels()}


@pytest.mark.parametrize("within", ["uniform", "midpoint"])
def test_a_value_comes_back_inside_the_code_it_had(within: str) -> None:
    edges = (date(2023, 1, 1), date(2023, 3, 1), date(2023, 3, 2), date(2023, 3, 5))
    column = us.Date(date(2023, 1, 1), date(2023, 3, 9), edges=edges)
    assert column.value_labels() == [
        "2023-01-01 to 2023-02-28",
        "2023-03-01",
        "2023-03-02 to 2023-03-04",
        "2023-03-05 to 2023-03-09",
    ]
    codes = np.repeat(np.arange(column.count), 20)
    values = column.codec().decode(codes, np.random.default_rng(0), within)
    assert (column.codec().encode(values) == codes).all()
    formed = us.Date(date(2023, 1, 1), date(2023, 3, 9), edges=edges, format="%d/%m/%Y")
    assert (
        formed.codec().encode(formed.codec().decode(codes, np.random.default_rng(0), within)) == codes
    ).all()
    said = pa.array([date(2022, 1, 1), date(2023, 2, 28), date(2023, 3, 1), date(2024, 1, 1), None])
    assert column.codec().encode(said).tolist() == [0, 0, 1, 3, 4]


@pytest.mark.parametrize(
    "fields",
    [
        {"edges": (date(2023, 1, 2),)},
        {"edges": (date(2023, 1, 1), date(2024, 1, 1))},
        {"edges": (date(2023, 1, 1), date(2023, 1, 1))},
        {"edges": (date(2023, 1, 1),), "every": "day"},
        {"edges": ()},
    ],
)
def test_edges_that_make_no_sense_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(SchemaError, match="edges"):
        us.Date(date(2023, 1, 1), date(2023, 12, 31), **fields)  # type: ignore[arg-type]


def test_codes_of_one_width_are_kept_apart_from_what_lies_between_them() -> None:
    from understudy.domain.columns.open_codes import OpenCodes

    codes = OpenCodes(5).with_values(("02139", "10001", "NA", "123456"))
    assert codes.format == "00000" and codes.special == (2139, 10001)
    grid = codes.grid()
    counts = np.zeros(grid.size)
    nothing = codes.with_bounds(grid, NoisyCounts(counts, 1.0))
    few = nothing.fine(None).with_bins(NoisyCounts(np.zeros(nothing.fine(None).size), 1.0))
    assert few == us.Category(("02139", "10001"))  # nothing else was there: no code is made up
    counts[grid.codec().encode(pa.array(["33333"]))] = 500.0
    bounded = codes.with_bounds(grid, NoisyCounts(counts, 1.0))
    wide = bounded.fine(None)
    some = wide.with_bins(NoisyCounts(np.full(wide.size, 1.0), 1.0))
    assert type(some) is us.Integer and some.format == "00000" and {2139, 10001} <= {*some.special}
