"""Numbers past 2^63, infinite ones and spans of time: kept where they can be, said where they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import understudy as us

ROWS = 600
WIDE = [2**63, 2**64 - 1, 7]
TERMS = {"epsilon": 3.0, "delta": 1e-9, "mechanism": "independent"}


@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_past_the_sign_come_back_as_they_are_by_a_draft(tmp_path: Path, library) -> None:
    frame = library.DataFrame({"key": np.array(WIDE * (ROWS // 3), dtype=np.uint64)})
    drafted = us.draft_schema(frame)
    assert "64 bits" in drafted["key"].comment
    made = us.fit(frame, drafted, ledger=tmp_path / "ledger", **TERMS).sample()
    assert made["key"].dtype == frame["key"].dtype
    assert set(made["key"].to_list()) == set(WIDE)


def test_numbers_past_the_sign_are_named_where_nobody_described_them(tmp_path: Path) -> None:
    frame = pd.DataFrame({"key": np.arange(2**63, 2**63 + ROWS, dtype=np.uint64)})
    with pytest.warns(us.MisfitWarning, match="end of all whole numbers"):
        us.fit(frame, ledger=tmp_path / "ledger", **TERMS)


@pytest.mark.parametrize(
    "cells", [[0.5, 1.25, np.inf, -np.inf], ["1", "2", "inf", "2"], [*(np.arange(97) / 8), np.inf]]
)
def test_infinite_numbers_are_missing_by_a_draft(tmp_path: Path, cells: list[object]) -> None:
    frame = pd.DataFrame({"x": cells * (ROWS // len(cells))})
    drafted = us.draft_schema(frame)
    assert "inf" in drafted["x"].missing and "Infinite" in drafted["x"].comment
    made = us.fit(frame, drafted, ledger=tmp_path / "ledger", **TERMS).sample()["x"]
    assert made.dtype == frame["x"].dtype
    assert made.dropna().astype(float).between(-1, 20).all()


def test_infinite_numbers_are_named_where_nobody_described_them(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [*np.arange(9) / 8, np.inf] * (ROWS // 2)})
    with pytest.warns(us.MisfitWarning, match="infinite"):
        us.fit(frame, ledger=tmp_path / "ledger", **TERMS)


def test_a_bound_of_no_records_is_refused_and_not_learned(tmp_path: Path) -> None:
    with pytest.raises(us.UnderstudyError, match="less than 1"):
        us.fit({"who": [1, 2] * 9}, unit="who", max_records_per_unit=0, ledger=tmp_path / "ledger", **TERMS)


@pytest.mark.parametrize(("unit", "length"), [("s", 10**6), ("min", 60 * 10**6), ("D", 86_400 * 10**6)])
def test_spans_of_time_are_multiples_of_what_the_real_ones_are(
    tmp_path: Path, unit: str, length: int
) -> None:
    spans = pd.to_timedelta(np.arange(ROWS) * 7 % 997, unit=unit).astype("timedelta64[us]")
    frame = pd.DataFrame({"stay": spans})
    drafted = us.draft_schema(frame)
    assert drafted["stay"].step == length
    made = us.fit(frame, drafted, ledger=tmp_path / "ledger", **TERMS).sample()
    assert made["stay"].dtype == frame["stay"].dtype
    assert not (made["stay"] % pd.Timedelta(1, unit)).any()
