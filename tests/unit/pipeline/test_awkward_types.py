"""A type that cannot be synthesised is refused before anything is charged; all others come back."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import understudy as us
from understudy.errors import UnderstudyError
from understudy.privacy import Ledger

ROWS = 60
N = np.arange(ROWS) % 6
DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(n)) for n in N]


class Celsius(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.float64(), "test.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


COLUMNS: dict[str, Any] = {
    "arrow list": pa.array([[1]] * ROWS),
    "arrow struct": pa.array([{"a": 1}] * ROWS),
    "arrow map": pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int8())),
    "arrow binary": pa.array([b"a"] * ROWS),
    "arrow uuid": pa.array([b"0123456789abcdef"] * ROWS, pa.uuid()),
    "arrow json": pa.array(['{"a": 1}'] * ROWS, pa.json_()),
    "arrow extension": pa.ExtensionArray.from_storage(Celsius(), pa.array(N, pa.float64())),
    "arrow run-end": pa.RunEndEncodedArray.from_arrays([ROWS], pa.array(["a"])),
    "arrow interval": pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()),
    "arrow dictionary of decimals": pa.array(N).cast(pa.decimal128(20, 1)).dictionary_encode(),
    "arrow dictionary of half floats": pa.array(N.astype(np.float16)).dictionary_encode(),
    "arrow dictionary of truths": pa.array(N > 2).dictionary_encode(),
    "arrow large dates": pa.array([-(2**31), 2**31 - 1] * (ROWS // 2), pa.int32()).cast(pa.date32()),
    "arrow far moments": pa.array([-(2**62), 2**62] * (ROWS // 2)).cast(pa.timestamp("s")),
    "arrow large numbers": pa.array([2**64 - 1, 0] * (ROWS // 2), pa.uint64()),
    "pandas complex": pd.Series(N + 1j),
    "pandas interval": pd.Series(pd.cut(N, 3, labels=None).astype(object)),
    "pandas cut": pd.Series(pd.cut(N, 3)),
    "pandas intervals": pd.Series(pd.arrays.IntervalArray.from_breaks(np.arange(ROWS + 1))),
    "pandas sparse": pd.Series(pd.arrays.SparseArray(N)),
    "pandas sparse floats": pd.Series(pd.arrays.SparseArray(np.where(N, N, np.nan))),
    "pandas longdouble": pd.Series(N.astype(np.longdouble)),
    "pandas months": pd.Series(pd.PeriodIndex(DAYS, freq="M")),
    "pandas far months": pd.Series(
        pd.arrays.PeriodArray(np.array([2**62, -(2**62), 0] * 20), dtype="period[M]")
    ),
    "pandas days": pd.Series(pd.PeriodIndex(DAYS, freq="D")),
    "pandas weeks": pd.Series(pd.PeriodIndex(DAYS, freq="W-SUN")),
    "pandas lists": pd.Series([[1]] * ROWS),
    "pandas bytes": pd.Series([b"a"] * ROWS),
    "pandas list[pyarrow]": pd.Series([[1]] * ROWS, dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
    "pandas category of dates": pd.Series(DAYS).astype("category"),
    "pandas category of truths": pd.Series(N > 2).astype("category"),
    "pandas category of floats": pd.Series(N / 4).astype("category"),
    "pandas tzlocal": pd.Series(DAYS).dt.tz_localize(dt.timezone(dt.timedelta(hours=5, minutes=30))),
    "polars list": pl.Series([[1]] * ROWS),
    "polars struct": pl.Series([{"a": 1}] * ROWS),
    "polars array": pl.Series([[1, 2]] * ROWS, dtype=pl.Array(pl.Int8, 2)),
    "polars binary": pl.Series([b"a"] * ROWS),
    "polars object": pl.Series([object()] * ROWS, dtype=pl.Object),
    "polars large numbers": pl.Series([2**100, 0] * (ROWS // 2), dtype=pl.Int128),
    "polars empty enum": pl.Series([None] * ROWS, dtype=pl.Enum([])),
}
REFUSED = {
    *("arrow list", "arrow struct", "arrow map", "arrow binary", "arrow uuid", "pandas list[pyarrow]"),
    *("polars list", "polars struct", "polars array", "polars binary"),
}


def table(name: str) -> Any:
    library, column = name.partition(" ")[0], COLUMNS[name]
    frames: dict[str, Any] = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": pl.DataFrame}
    return frames[library]({"x": column})


def fitted(name: str, drafted: bool, ledger: Ledger) -> us.Release:
    schema = us.draft_schema(table(name)) if drafted else None
    settings: Any = {"epsilon": 1, "delta": 1e-3, "mechanism": "independent", "ledger": ledger, "name": "t"}
    return us.fit(table(name), schema, **settings)


@pytest.mark.parametrize("drafted", [True, False], ids=["drafted", "no schema"])
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_no_plain_value_is_refused_before_a_charge(name: str, drafted: bool, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    with pytest.raises(UnderstudyError, match="column 'x'"):
        fitted(name, drafted, ledger)
    assert not ledger.names()


@pytest.mark.parametrize("drafted", [True, False], ids=["drafted", "no schema"])
@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in REFUSED])
def test_any_other_type_comes_back_in_every_library(name: str, drafted: bool, tmp_path: Path) -> None:
    release = fitted(name, drafted, Ledger(tmp_path / "ledger"))
    made = release.sample(50)
    assert len(made) == 50 and type(made) is type(table(name))
    release.save(tmp_path / "t.release")
    opened = us.load(tmp_path / "t.release")
    for kind in ("arrow", "pandas", "polars"):
        assert len(opened.with_kind(kind).sample(7)) == 7
