"""Tables whose cells are in a form of their own come back in it, through files and through frames."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import understudy as us
from understudy.data import write
from understudy.domain import Schema
from understudy.domain.arrow_values import plain
from understudy.privacy import Seeded

ROWS = 1_500


def german(number: float, decimals: int = 2) -> str:
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture(scope="module", name="frame")
def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    days = [datetime(2020, 1, 1, 6) + timedelta(minutes=int(m)) for m in rng.integers(0, 700_000, ROWS)]
    amounts = rng.normal(1_000, 2_000, ROWS)
    return pd.DataFrame(
        {
            "day": [day.strftime("%d/%m/%Y") for day in days],
            "compact": [int(day.strftime("%Y%m%d")) for day in days],
            "seen": [day.strftime("%m/%d/%Y %I:%M %p") for day in days],
            "created_at": [int(day.timestamp()) for day in days],
            "named": pd.Categorical([day.strftime("%b %Y") for day in days]),
            "paid": [german(amount) + " €" for amount in amounts],
            "owed": [f"({-amount:,.0f})" if amount < 0 else f"{amount:,.0f}" for amount in amounts],
            "share": [f"{share:.1f}%" for share in rng.random(ROWS) * 100],
            "smokes": rng.choice(["Ja", "Nein"], ROWS),
            "zip": [f"{place:05d}" for place in rng.choice([501, 2139, 94110], ROWS)],
        }
    )


def parsed(schema: Schema, name: str, cells: pd.Series) -> float:  # type: ignore[type-arg]
    """The share of the cells that the column reads."""
    column = schema[name]
    codes = column.codec().encode(plain(pa.array(cells.astype(str))))
    return float((codes < column.count).mean())


def test_a_drafted_frame_comes_back_in_its_own_form_and_types(frame: pd.DataFrame, tmp_path: Path) -> None:
    schema = us.draft_schema(frame, name="t")
    release = us.fit(
        frame,
        schema,
        epsilon=20,
        delta=1e-6,
        mechanism=us.Independent(),
        ledger=tmp_path / "l.db",
        source=Seeded(3),
    )
    synthetic = release.sample(400, seed=1)
    assert (synthetic.dtypes == frame.dtypes).drop("named").all()
    for name in frame.columns:
        assert parsed(release.schema, name, synthetic[name]) == parsed(release.schema, name, frame[name]) == 1
    assert synthetic["day"].str.fullmatch(r"\d\d/\d\d/202\d").all()
    assert synthetic["paid"].str.fullmatch(r"-?\d{1,3}(\.\d{3})*,\d\d €").all()
    assert synthetic["owed"].str.fullmatch(r"\(?\d{1,3}(,\d{3})*\)?").all()
    assert synthetic["compact"].between(20200101, 20211231).all()
    assert {*synthetic["smokes"]} == {"Ja", "Nein"} and {*synthetic["zip"]} == {"00501", "02139", "94110"}


def test_a_text_file_comes_back_in_its_own_form(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "t.csv", index=False)
    schema = us.draft_schema(tmp_path / "t.csv")
    assert {name: column.fields().get("format") for name, column in schema.columns.items()} == {
        "day": "%d/%m/%Y",
        "compact": "%Y%m%d",
        "seen": "%m/%d/%Y %I:%M %p",
        "created_at": "epoch seconds",
        "named": "%b %Y",
        "paid": "1.234,50 €",
        "owed": "(1,234)",
        "share": "0.5%",
        "smokes": ["Ja", "Nein"],
        "zip": None,
    }
    release = us.fit(
        tmp_path / "t.csv",
        schema,
        epsilon=20,
        delta=1e-6,
        mechanism=us.Independent(),
        ledger=tmp_path / "l.db",
        source=Seeded(3),
    )
    write(release.sample(300, seed=1), tmp_path / "synthetic.csv")
    again = pd.read_csv(tmp_path / "synthetic.csv", dtype=str)
    for name in frame.columns:
        assert parsed(release.schema, name, again[name]) == 1
    redrafted = us.draft_schema(tmp_path / "synthetic.csv")
    for name, column in schema.columns.items():
        assert redrafted[name].fields().get("format") == column.fields().get("format")


def test_conditions_are_in_the_form_of_the_cells_or_plain(frame: pd.DataFrame, tmp_path: Path) -> None:
    schema = Schema(
        {
            "day": us.Date(date(2020, 1, 1), date(2021, 12, 31), "month", format="%d/%m/%Y"),
            "paid": us.Number(-9_000, 9_000, 18, format="1.234,50 €"),
            "smokes": us.Boolean(format=("Ja", "Nein")),
        },
        name="t",
    )
    release = us.fit(
        frame,
        schema,
        epsilon=20,
        delta=1e-6,
        mechanism=us.Independent(),
        ledger=tmp_path / "l.db",
        source=Seeded(3),
    )
    for where in ("day >= '2021-01-01'", "day >= '01/01/2021'"):
        assert release.sample(60, seed=1, where=where)["day"].str.endswith("2021").all()
    for where in ("paid < -1500", "paid < '-1.500,00 €'"):
        assert release.sample(60, seed=1, where=where)["paid"].str.fullmatch(r"-[1-9]\.\d{3},\d\d €").all()
    for where in ("smokes = true", "smokes = 'Ja'"):
        assert {*release.sample(60, seed=1, where=where)["smokes"]} == {"Ja"}
