"""Whole numbers past 2^63 and spans of time: kept where they can be, said where they cannot."""

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
