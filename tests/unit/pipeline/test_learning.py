"""What a schema leaves out is found where the records are, and noise alone is never taken for records."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain import Category, Date, Datetime, Integer, Number, Schema
from understudy.domain.columns.binned import MOST_BINS
from understudy.errors import SchemaError
from understudy.privacy import Seeded

ROWS = 20_000
RNG = np.random.default_rng(5)
DAYS = RNG.integers(0, 365 * 12, ROWS)
SECONDS = RNG.integers(0, 86_400 * 200, ROWS)
COLUMNS = {
    "lognormal": RNG.lognormal(10, 1, ROWS),
    "cauchy": RNG.standard_cauchy(ROWS) * 100,
    "negative": -RNG.gamma(2, 50, ROWS),
    "huge": RNG.random(ROWS) * 1e15,
    "constant": np.full(ROWS, 7.0),
    "mostly zero": np.where(RNG.random(ROWS) < 0.7, 0.0, 500 + 100 * RNG.random(ROWS)),
    "age": RNG.integers(0, 100, ROWS),
    "long integers": RNG.integers(10**6, 5 * 10**6, ROWS),
    "at the end of int64": np.full(ROWS, 2**62),
    "no value": pa.nulls(ROWS, pa.float64()),
    "date": [date(1990, 1, 1) + timedelta(int(day)) for day in DAYS],
    "wall clock": pa.array(
        [datetime(2020, 1, 1) + timedelta(seconds=int(s)) for s in SECONDS], pa.timestamp("us")
    ),
    "instant": pa.array(
        [datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=int(s)) for s in SECONDS],
        pa.timestamp("us", "UTC"),
    ),
    "city": RNG.choice(["a", "b", "c", "rare"], ROWS, p=[0.5, 0.3, 0.1999, 0.0001]),
}


def learned(columns: dict, schema: Schema | None = None, *, epsilon: float = 3.0, seed: int = 1):
    release = us.fit(
        pa.table(columns),
        schema,
        epsilon=epsilon,
        delta=1e-9,
        mechanism=us.Independent(),
        ledger="ledger.db",
        name="table",
        source=Seeded(seed),
    )
    return release.schema.columns, release


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("learning"))
        return learned(COLUMNS)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def quantiles(array: pa.ChunkedArray) -> np.ndarray:
    numbers = array.to_numpy()
    if numbers.dtype.kind == "M":
        numbers = numbers.astype("datetime64[s]").astype(float)
    return np.nanquantile(numbers.astype(float), [0.1, 0.5, 0.9])


@pytest.mark.parametrize(
    "name",
    ["lognormal", "cauchy", "negative", "huge", "age", "long integers", "date", "wall clock", "instant"],
)
def test_synthetic_quantiles_lie_where_the_records_do(whole, name: str) -> None:
    real, synthetic = (quantiles(table[name]) for table in (pa.table(COLUMNS), whole[1].sample(ROWS, seed=0)))
    spread = real[2] - real[0]
    np.testing.assert_allclose(synthetic, real, atol=0.08 * spread)


def test_bounds_cut_off_few_records_and_reach_not_far_beyond_them(whole) -> None:
    for name in ("lognormal", "cauchy", "negative", "huge", "long integers"):
        column, numbers = whole[0][name], np.asarray(COLUMNS[name], float)
        assert np.mean((numbers < column.min) | (numbers > column.max)) < 0.03, name
        assert column.max - column.min <= 20 * np.ptp(np.quantile(numbers, [0.01, 0.99])), name


def test_a_constant_stays_near_its_value(whole) -> None:
    assert quantiles(whole[1].sample(2000, seed=0)["constant"]) == pytest.approx([7.0] * 3, abs=0.05)


def test_zero_keeps_a_mass_of_its_own(whole) -> None:
    assert whole[0]["mostly zero"].special == (0.0,)
    drawn = whole[1].sample(5000, seed=0)["mostly zero"].to_numpy()
    assert np.mean(drawn == 0) == pytest.approx(0.7, abs=0.05)


def test_few_whole_numbers_are_kept_one_by_one_and_many_are_binned(whole) -> None:
    assert whole[0]["age"].one_by_one and (whole[0]["age"].min, whole[0]["age"].max) == (0, 99)
    assert 8 <= whole[0]["long integers"].groups <= 2 * MOST_BINS


def test_the_largest_integers_are_not_lost(whole) -> None:
    column = whole[0]["at the end of int64"]
    assert column.min <= 2**62 <= column.max


def test_a_column_without_a_value_comes_back_without_one(whole) -> None:
    assert whole[1].sample(1000, seed=0)["no value"].null_count >= 990


def test_common_values_are_found_and_a_rare_one_is_not(whole) -> None:
    assert whole[0]["city"].values == ("a", "b", "c")


def test_time_is_cut_no_finer_than_its_noise_allows(whole) -> None:
    assert whole[0]["date"].min.year == 1990 and whole[0]["date"].max.year == 2001
    assert whole[0]["wall clock"].every in ("day", "week", "month")


def test_instants_stay_instants_and_wall_clocks_stay_wall_clocks(whole) -> None:
    types = whole[1].sample(10, seed=0).schema
    assert (types.field("instant").type.tz, types.field("wall clock").type.tz) == ("UTC", None)


def test_numbers_are_written_with_few_digits(whole) -> None:
    assert all(
        len(repr(x)) <= 12 for x in whole[1].sample(200, seed=0)["lognormal"].to_pylist() if x is not None
    )


def test_more_budget_gives_more_bins() -> None:
    schema = Schema({"x": Number()}, name="table")
    counts = [
        learned({"x": COLUMNS["lognormal"][:3000]}, schema, epsilon=epsilon, seed=seed)[0]["x"].size
        for seed, epsilon in enumerate((0.05, 10.0))
    ]
    assert counts[0] < counts[1] <= MOST_BINS + 12


@pytest.mark.parametrize(
    "column",
    [
        Number(min=0),
        Number(max=1e6),
        Number(min=-1e300),
        Number(min=1e19),
        Integer(min=0),
        Integer(max=10**6),
        Integer(min=2**62),
        Date(min=date(2300, 1, 1)),
        Date(max=date(1500, 1, 1)),
        Datetime(min=datetime(1980, 1, 1, tzinfo=UTC), every="second"),
        Category(discover=True),
        Number(min=0, max=10),
        Integer(min=0, max=10**7),
    ],
    ids=repr,
)
@pytest.mark.parametrize("rows", [0, 500])
def test_a_bound_that_is_given_is_kept_and_nothing_in_the_records_can_make_it_fail(column, rows: int) -> None:
    kinds = {Number: pa.float64(), Integer: pa.int64(), Date: pa.date32(), Category: pa.string()}
    kind = kinds.get(type(column), pa.timestamp("us", "UTC"))
    values = {Number: 3.5, Integer: 12, Date: date(2020, 1, 1), Category: "x"}
    value = values.get(type(column), datetime(2020, 1, 1, tzinfo=UTC))
    columns, release = learned({"x": pa.array([value] * rows, kind)}, Schema({"x": column}, name="table"))
    for end in ("min", "max"):
        if getattr(column, end, None) is not None:
            assert getattr(columns["x"], end) == getattr(column, end)
    assert not release.schema.unlearned and release.sample(5).num_rows == 5


@pytest.mark.parametrize(
    "column", [Integer(min=2**63 - 1), Date(min=date(9999, 12, 31)), Number(max=-1.7e308)]
)
def test_a_bound_that_leaves_no_room_is_refused_before_anything_is_charged(column) -> None:
    with pytest.raises(SchemaError, match="'x'"):
        learned({"x": pa.array([], pa.string())}, Schema({"x": column}, name="table"))
    assert not Path("ledger.db").exists()


@pytest.mark.parametrize("column", [Number(missing=False), Integer(missing=False), Date(missing=False)])
def test_cells_that_break_a_promise_move_no_bound(column) -> None:
    kept = COLUMNS["date" if column.type == "date" else "age"][:2_000]
    cells = [None if place % 4 == 0 else value for place, value in enumerate(list(kept))]
    found = learned({"a": cells}, Schema({"a": column}))[0]["a"]
    low, high = found.min, found.max
    assert found.missing is False
    assert (
        (date(1989, 1, 1) < low < high < date(2003, 1, 1))
        if column.type == "date"
        else (-2 <= low < high <= 200)
    )


def test_an_empty_table_gives_a_schema_that_no_record_shaped() -> None:
    empty = {name: pa.array([], pa.table(COLUMNS)[name].type) for name in COLUMNS}
    columns, release = learned(empty, epsilon=1.0)
    assert columns["city"].values == ("",) and release.rows < 300


def test_the_mean_of_a_long_tail_comes_back(whole) -> None:
    made = whole[1].sample(ROWS, seed=0)
    for name in ("lognormal", "long integers", "age"):
        assert np.nanmean(made[name].to_numpy()) == pytest.approx(np.mean(COLUMNS[name]), rel=0.06), name


def test_whole_numbers_too_many_for_their_records_are_binned() -> None:
    values = np.minimum(RNG.integers(0, 700, 4000), 501)
    columns, release = learned({"x": values}, Schema({"x": Integer()}, name="table"), epsilon=1.0)
    assert columns["x"].size < 100
    assert np.mean(release.sample(4000, seed=0)["x"].drop_null().to_numpy()) == pytest.approx(
        values.mean(), rel=0.1
    )


def test_text_that_is_numbers_and_marks_of_missing_values_is_learned_as_numbers() -> None:
    rows = "\n".join(
        f"{'N' if i % 5 == 0 else 1000 + i},{i % 2},{'YN'[i % 2]},{'?' if i % 3 else 1.5}"
        for i in range(2000)
    )
    Path("t.csv").write_text("income,flag,answer,rate\n" + rows + "\n")
    release = us.fit(
        "t.csv", epsilon=5.0, delta=1e-9, mechanism=us.Independent(), ledger="ledger.db", source=Seeded(2)
    )
    kinds = {name: column.type for name, column in release.schema.columns.items()}
    assert kinds == {"income": "integer", "flag": "integer", "answer": "category", "rate": "number"}
    assert set(release.schema.columns["answer"].values) == {"Y", "N"}
    made = release.sample(2000, seed=0)
    assert made["income"].null_count == pytest.approx(400, abs=80)
