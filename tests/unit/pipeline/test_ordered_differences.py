"""Columns that an order puts above others are modelled by how far they lie after them, and come back as values."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.ordered_differences import in_values, through_differences
from understudy.errors import ParameterError, SchemaError
from understudy.privacy import Seeded

DAYS = {"min": date(2018, 1, 1), "max": date(2022, 12, 31), "every": "month"}
ORDER = {"order": "admitted <= discharged"}
COLUMNS = {
    "ward": us.Category(("surgery", "icu", "day")),
    "admitted": us.Date(**DAYS),
    "discharged": us.Date(**DAYS),
}


def hospital(rows: int = 5_000) -> pd.DataFrame:
    """Stays of five days on average, of twelve in one ward and of none in another."""
    rng = np.random.default_rng(0)
    ward = rng.choice(["surgery", "icu", "day"], rows, p=[0.5, 0.2, 0.3])
    stay = rng.poisson(rng.gamma(2, pd.Series(ward).map({"surgery": 2.5, "icu": 6.0, "day": 0.2})))
    admitted = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 1460, rows), unit="D")
    return pd.DataFrame(
        {"ward": ward, "admitted": admitted, "discharged": admitted + pd.to_timedelta(stay, unit="D")}
    )


def stays(frame: pd.DataFrame) -> Any:
    days = pd.to_datetime(frame.discharged) - pd.to_datetime(frame.admitted)
    return days.dt.days.dropna()


def fitted(data: Any, schema: us.Schema, folder: Path, **more: Any) -> us.Release:
    return us.fit(
        data, schema, **{"epsilon": 1.0, "delta": 1e-6, "ledger": folder / "l", "source": Seeded(3)} | more
    )


def check_stays(found: pd.DataFrame, real: pd.DataFrame) -> None:
    assert stays(found).min() >= 0
    assert abs(stays(found).mean() - stays(real).mean()) < 1.0
    for share in (0.25, 0.5, 0.75, 0.9):
        assert abs(stays(found).quantile(share) - stays(real).quantile(share)) <= 2.0


def test_stays_are_as_long_as_real_ones_from_pandas(tmp_path: Path) -> None:
    real = hospital()
    schema = us.Schema(COLUMNS, name="hospital", constraints=[ORDER])
    release = fitted(real, schema, tmp_path)
    found = release.sample(5_000, seed=1)
    check_stays(found, real)
    assert found.dtypes.equals(real.dtypes)
    wards = stays(found).groupby(found.ward).mean()
    assert wards["day"] < wards["surgery"] < wards["icu"]
    assert release.certificate["constraints"][0]["held"] == "the model, through discharged - admitted"
    release.save(tmp_path / "hospital.release")
    again = us.load(tmp_path / "hospital.release")
    assert again.schema == release.schema
    check_stays(again.with_kind("pandas").sample(2_000, seed=1), real)
    release.report(tmp_path / "report.html")
    assert "+3 days" in (tmp_path / "report.html").read_text()
    assert us.evaluate(real, found, schema=release.schema).columns


def test_stays_are_as_long_as_real_ones_from_the_command_line(tmp_path: Path, understudy: Any) -> None:
    real = hospital()
    for name in ("admitted", "discharged"):
        real[name] = real[name].dt.strftime("%d/%m/%Y")
    real.to_csv(tmp_path / "stays.csv", index=False)
    columns = {name: us.Date(**DAYS, format="%d/%m/%Y") for name in ("admitted", "discharged")}
    us.Schema({**COLUMNS, **columns}, name="stays", constraints=[ORDER]).save(tmp_path / "stays.toml")
    file, schema, out = (str(tmp_path / name) for name in ("stays.csv", "stays.toml", "synthetic.csv"))
    asked = ["--epsilon", "5", "--delta", "1e-6"]  # fresh noise: a budget at which it never takes a day
    assert "through discharged - admitted" in understudy("plan", schema, *asked, "--rows", "5000").out
    ran = understudy("synth", file, "--schema", schema, *asked, "-o", out, "--ledger", str(tmp_path / "l"))
    assert ran.code == 0, ran
    found = pd.read_csv(out)
    for name in ("admitted", "discharged"):
        found[name], real[name] = (pd.to_datetime(each[name], format="%d/%m/%Y") for each in (found, real))
    check_stays(found, real)


def test_records_astray_and_cells_missing_have_codes_of_their_own(tmp_path: Path) -> None:
    real = hospital(3_000)
    real.loc[:299, ["admitted", "discharged"]] = real.loc[:299, ["discharged", "admitted"]].to_numpy()
    real.loc[300:899, "admitted"] = pd.NaT
    real.loc[600:1199, "discharged"] = pd.NaT
    broken = int((real.admitted > real.discharged).sum())
    schema = us.Schema(COLUMNS, name="hospital", constraints=[ORDER])
    release = fitted(real, schema, tmp_path, epsilon=8.0)
    said = release.certificate["constraints"][0]
    assert abs(said["broken"] - broken) < 5 * said["stddev"] + 1
    found = release.sample(3_000, seed=1)
    assert stays(found).min() >= 0
    for name in ("admitted", "discharged"):
        assert abs(found[name].isna().mean() - real[name].isna().mean()) < 0.03
    assert found[found.admitted.isna()].discharged.notna().any()


KINDS: dict[str, tuple[us.Column, us.Column, Any]] = {
    "integers": (us.Integer(0, 400), us.Integer(0, 999), lambda a, d: (a, a + d)),
    "steps": (us.Integer(0, 400), us.Integer(1, 5_000, step=5), lambda a, d: (a, (a + 5 * d) // 5 * 5 + 6)),
    "numbers": (
        us.Number(0, 400, bins=20, precision=0.01),
        us.Number(0, 5_000, precision=0.01),
        lambda a, d: (a + 0.25, a + d + 0.5),
    ),
    "any numbers": (us.Number(0, 400, bins=20), us.Number(0, 999, bins=20), lambda a, d: (a, a + d / 7)),
    "a whole number and one that is not": (
        us.Integer(0, 400),
        us.Number(0, 999, precision=0.1),
        lambda a, d: (a, a + d / 10),
    ),
    "datetimes": (
        us.Datetime(datetime(2020, 1, 1), datetime(2022, 1, 1), "month"),
        us.Datetime(datetime(2020, 1, 1), datetime(2022, 1, 1), "month", precision="minute"),
        lambda a, d: (
            pd.Timestamp("2020-01-01") + pd.to_timedelta(a, unit="D"),
            pd.Timestamp("2020-01-01") + pd.to_timedelta(a * 1440 + 60 * d, unit="min"),
        ),
    ),
    "a date and a moment": (
        us.Date(date(2020, 1, 1), date(2022, 1, 1), "month"),
        us.Datetime(datetime(2020, 1, 1), datetime(2022, 1, 1), "month", precision="hour"),
        lambda a, d: (
            (pd.Timestamp("2020-01-01") + pd.to_timedelta(a, unit="D")).date,
            pd.Timestamp("2020-01-01") + pd.to_timedelta(a * 24 + d, unit="h"),
        ),
    ),
    "times": (
        us.Time(every="hour", precision="minute"),
        us.Time(every="hour", format="%H:%M"),
        lambda a, d: (
            [time(n // 60, n % 60) for n in a.tolist()],
            [f"{n // 60:02}:{n % 60:02}" for n in (a + d).tolist()],
        ),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_differences_of_every_ordered_kind_come_back(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    start, apart = rng.integers(0, 400, 2_000), rng.poisson(5, 2_000)
    first, second, made = KINDS[kind]
    real = pd.DataFrame(dict(zip("ab", made(start, apart), strict=True)))
    schema = us.Schema({"a": first, "b": second}, name="pairs", constraints=[us.Order("a <= b")])
    assert isinstance(through_differences(schema)["b"], Difference)
    release = fitted(real, schema, tmp_path, epsilon=4.0)
    found = release.sample(1_000, seed=1)
    assert not found.isna().any().any()
    assert _same_types(found, real)
    real_gap, gap = (_apart(frame) for frame in (real, found))
    assert gap.min() >= 0
    assert abs(gap.mean() - real_gap.mean()) <= max(0.15 * real_gap.mean(), 1e-9)


def _same_types(found: pd.DataFrame, real: pd.DataFrame) -> bool:
    return bool(found.dtypes.equals(real.dtypes)) and type(found.b.iloc[0]) is type(real.b.iloc[0])


def _apart(frame: pd.DataFrame) -> Any:
    """How far apart the two columns of records are, as numbers."""
    a, b = (_number(frame[name]) for name in "ab")
    return pd.Series(b - a)


def _number(column: Any) -> Any:
    if column.dtype.kind in "iuf":
        return column.to_numpy(float)
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]").astype(np.int64).to_numpy() / 3.6e9
    texts = column.astype(str)
    clock = texts.str.contains(":", regex=False).all() and texts.str.len().max() <= 8
    return (pd.to_timedelta(texts.where(texts.str.len() > 5, texts + ":00")) if clock else
            pd.to_datetime(texts) - pd.Timestamp(0)).dt.total_seconds().to_numpy() / 3600  # fmt: skip


def test_column_above_one_that_is_mostly_missing_keeps_its_values(tmp_path: Path) -> None:
    real = hospital(3_000)
    real["discharged"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(3_000) % 300, unit="D")
    real["admitted"] = pd.NaT
    release = fitted(real, us.Schema(COLUMNS, name="hospital", constraints=[ORDER]), tmp_path)
    found = release.sample(2_000, seed=1)
    assert found.admitted.isna().mean() > 0.98  # the rest is noise of codes that no record has
    assert (found.discharged.dt.year == 2020).mean() > 0.8
    assert found.discharged.nunique() > 100


def test_questions_about_such_a_column_are_answered_by_two_columns_or_by_drawn_records(
    tmp_path: Path,
) -> None:
    real = hospital(3_000)
    release = fitted(real, us.Schema(COLUMNS, name="hospital", constraints=[ORDER]), tmp_path, epsilon=4.0)
    found = release.query("share", where="discharged >= '2020-01-01'")
    assert abs(found.value - (real.discharged >= "2020-01-01").mean()) < 0.05
    pairs = pd.DataFrame({"a": np.arange(1_000) % 50, "b": np.arange(1_000) % 50 + 3})
    schema = us.Schema(
        {"a": us.Integer(0, 99), "b": us.Integer(0, 99)}, name="p", constraints=[us.Order("a < b")]
    )
    assert fitted(pairs, schema, tmp_path).query("mean", "b").value == pytest.approx(pairs.b.mean(), rel=0.2)


def test_order_that_most_records_break_is_warned_of_and_days_without_a_night_are_not(tmp_path: Path) -> None:
    real = hospital(1_000).assign(discharged=lambda frame: frame.admitted)
    schema = us.Schema(COLUMNS, name="hospital", constraints=[ORDER])
    assert fitted(real, schema, tmp_path).certificate["warnings"] == []
    real["discharged"] -= pd.to_timedelta(3, unit="D")
    with pytest.warns(us.MisfitWarning, match="lie before column 'admitted'"):
        fitted(real, schema, tmp_path)


def test_chain_is_coded_link_by_link(tmp_path: Path) -> None:
    real = hospital(2_000)
    real["billed"] = real.discharged + pd.to_timedelta(10, unit="D")
    schema = us.Schema(
        {**COLUMNS, "billed": us.Date(**DAYS)},
        name="hospital",
        constraints=[us.Order("admitted <= discharged < billed", most="60 days")],
    )
    coded = through_differences(schema)
    billed = coded["billed"]
    assert isinstance(billed, Difference)
    assert (billed.after, billed.least[0], billed.most) == ("discharged", 1, 60)
    found = fitted(real, schema, tmp_path, epsilon=2.0).sample(2_000, seed=1)
    late = (found.billed - found.discharged).dt.days
    assert late.min() >= 1
    assert late.max() <= 60
    assert abs(late.mean() - 10) < 1.5
    assert stays(found).min() >= 0


def test_order_that_follows_from_others_is_in_no_ones_way(tmp_path: Path) -> None:
    real = hospital(2_000)
    real["billed"] = real.discharged + pd.to_timedelta(10, unit="D")
    drafted = us.draft_schema(real).comment
    assert 'order = "discharged <= billed"' in drafted
    assert 'order = "admitted <= billed"' not in drafted
    rules = [ORDER, {"order": "admitted <= billed"}, {"order": "discharged <= billed"}]
    schema = us.Schema({**COLUMNS, "billed": us.Date(**DAYS)}, name="hospital", constraints=rules)
    billed = through_differences(schema)["billed"]
    assert isinstance(billed, Difference)
    assert billed.after == "discharged"
    found = fitted(real, schema, tmp_path, epsilon=2.0).sample(500, seed=1)
    assert (found.admitted <= found.discharged).all()
    assert (found.discharged <= found.billed).all()


@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        ({}, [{**ORDER, "by": "values"}]),
        ({}, [ORDER, {"never": "discharged > '2022-12-01'"}]),
        ({"other": us.Date(**DAYS)}, [ORDER, {"order": "other <= discharged"}]),
        ({"discharged": us.Date(**DAYS, outside="other")}, [ORDER]),
        ({"admitted": us.Date(**DAYS, format="%m/%Y")}, [ORDER]),
        ({"admitted": us.Date(date(1920, 1, 1), date(2022, 12, 31), every="year")}, [ORDER]),
        ({"paid": us.Integer(0, 99), "lent": us.Integer(0, 99, special=(50,))}, [{"order": "paid <= lent"}]),
    ],
    ids=["asked for", "another rule", "two orders", "other values", "months alone", "far apart", "spikes"],
)
def test_order_that_differences_cannot_hold_is_held_as_before_and_the_plan_says_so(
    changed: dict[str, us.Column], rules: list[Any]
) -> None:
    schema = us.Schema({**COLUMNS, **changed}, constraints=rules)
    assert through_differences(schema) == schema
    assert "drawing records again" in us.plan(schema, epsilon=1.0, delta=1e-6).constraints[0][1]


def test_bounds_that_are_learned_are_waited_for(tmp_path: Path) -> None:
    columns = {**COLUMNS, "discharged": us.Date()}
    schema = us.Schema(columns, name="hospital", constraints=[ORDER])
    assert "once bounds are learned" in us.plan(schema, epsilon=1.0, delta=1e-6).constraints[0][1]
    release = fitted(hospital(), schema, tmp_path)
    assert isinstance(release.schema["discharged"], Difference)
    found, real = stays(release.sample(3_000, seed=1)), stays(hospital())
    assert found.min() >= 0
    assert abs(found.quantile(0.9) - real.quantile(0.9)) <= 2.0


def test_conditions_and_given_cells_of_such_a_column(tmp_path: Path) -> None:
    release = fitted(hospital(2_000), us.Schema(COLUMNS, name="h", constraints=[ORDER]), tmp_path)
    found = release.sample(300, where="discharged between 2021-03-01 and 2021-03-02", seed=1)
    assert set(found.discharged.dt.strftime("%Y-%m-%d")) == {"2021-03-01", "2021-03-02"}
    days = pd.to_datetime(["2019-05-05"] * 40)
    after = release.sample(given=pd.DataFrame({"admitted": days}), seed=1)
    assert (after.admitted == days).all()
    assert stays(after).between(0, 60).all()
    before = release.sample(given=pd.DataFrame({"discharged": days}), seed=1)
    assert (before.discharged == days).all()
    assert stays(before).between(0, 60).all()
    far = pd.DataFrame({"admitted": days, "discharged": pd.to_datetime(["2022-05-05"] * 40)})
    assert stays(release.sample(given=far, seed=1)).min() > 1_000
    with pytest.raises(ParameterError, match="break the constraint"):
        release.sample(given=pd.DataFrame({"admitted": days, "discharged": days - pd.Timedelta(days=1)}))
    with pytest.raises(ParameterError, match="modelled by how far"):
        release.sample(3, balance="discharged")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({'after = "admitted"': 'after = "nobody"'}, "nobody"),
        ({'after = "admitted"': 'after = "discharged"'}, "discharged"),
        ({'after = "admitted"': 'after = "ward"'}, "ward"),
        ({'after = "admitted"': "after = 1"}, "after"),
        ({"after_most = 1825": "after_most = 3"}, "after_steps"),
        ({"after_most = 1825\n": ""}, "after_most"),
        ({"0, 1, 2, 3": "0, 2, 1, 3"}, "ascend"),
        ({"after_unit = 86400000000": "after_unit = 0"}, "after_unit"),
    ],
)
def test_schema_that_codes_differences_wrongly_is_refused(changes: dict[str, str], words: str) -> None:
    schema = through_differences(us.Schema(COLUMNS, constraints=[ORDER]))
    text = schema.to_toml()
    assert us.Schema.from_toml(text) == schema
    assert in_values(schema) == us.Schema(COLUMNS, constraints=[ORDER])
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(SchemaError, match=words):
        us.Schema.from_toml(text)


@pytest.mark.parametrize("said", [{"by": "hope"}, {"most": -1}, {"most": "a while"}, {"most": True}])
def test_order_without_sense_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        us.Schema(COLUMNS, constraints=[{**ORDER, **said}])
    with pytest.raises(SchemaError, match="length of time"):
        us.Schema(
            {"a": us.Integer(0, 9), "b": us.Integer(0, 9)}, constraints=[us.Order("a < b", most="3 days")]
        )
