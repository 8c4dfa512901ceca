"""For any table and schema, synthetic cells are read by what read the real ones, in the real ones' types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import understudy as us
from nightly import many
from understudy.domain.arrow_values import plain
from understudy.privacy import Seeded

ROWS = 80
FIRST, LAST = date(2019, 1, 1), date(2022, 12, 31)


@dataclass(frozen=True)
class Kind:
    """A sort of column: how it is described, how its cells are drawn, and the dtypes that hold them."""

    column: Callable[..., us.Column]
    cells: Callable[[np.random.Generator], list[Any]]
    dtypes: tuple[str, ...]


def texts(write: Callable[[float], str]) -> Callable[[np.random.Generator], list[Any]]:
    return lambda rng: [write(float(x)) for x in rng.random(ROWS)]


def days(form: str) -> Kind:
    span = (LAST - FIRST).days

    def write(share: float) -> str:
        return date.fromordinal(FIRST.toordinal() + int(share * span)).strftime(form)

    return Kind(
        lambda **said: us.Date(FIRST, LAST, "month", format=form, **said), texts(write), ("object", "str")
    )


KINDS = {
    "whole": Kind(
        lambda **said: us.Integer(0, 9, **said),
        lambda rng: rng.integers(0, 10, ROWS).tolist(),
        ("int64", "int32", "Int16", "UInt8", "int64[pyarrow]"),
    ),
    "binned": Kind(
        lambda **said: us.Integer(0, 999, bins=7, **said),
        lambda rng: rng.integers(0, 1000, ROWS).tolist(),
        ("int64", "int16", "Int64"),
    ),
    "cents": Kind(
        lambda **said: us.Number(0.0, 10.0, bins=5, precision=0.01, **said),
        lambda rng: np.round(rng.random(ROWS) * 10, 2).tolist(),
        ("float64", "float32", "Float64"),
    ),
    "list": Kind(
        lambda **said: us.Category(("p", "q", "r"), **said),
        lambda rng: rng.choice(["p", "q", "r"], ROWS).tolist(),
        ("object", "string", "category", "str"),
    ),
    "truth": Kind(us.Boolean, lambda rng: (rng.random(ROWS) < 0.3).tolist(), ("bool", "boolean")),
    "words": Kind(
        lambda **said: us.Boolean(format=("ja", "nein"), **said),
        texts(lambda x: "ja" if x < 0.4 else "nein"),
        ("object",),
    ),
    "moment": Kind(
        lambda **said: us.Date(FIRST, LAST, "month", **said),
        lambda rng: [
            pd.Timestamp(FIRST) + pd.Timedelta(days=int(d))
            for d in rng.integers(0, (LAST - FIRST).days, ROWS)
        ],
        ("datetime64[ns]", "datetime64[s]"),
    ),
    "european": days("%d.%m.%Y"),
    "american": days("%m/%d/%Y"),
    "named": days("%d %b %Y"),
    "money": Kind(
        lambda **said: us.Number(0.0, 5000.0, bins=6, format="$1,234.50", **said),
        texts(lambda x: f"${5000 * x:,.2f}"),
        ("object", "string"),
    ),
    "percent": Kind(
        lambda **said: us.Number(0.0, 100.0, bins=6, format="12.5%", **said),
        texts(lambda x: f"{100 * x:.1f}%"),
        ("object",),
    ),
    "zip": Kind(
        lambda **said: us.Integer(0, 99_999, bins=9, format="00000", **said),
        texts(lambda x: f"{int(x * 99_999):05d}"),
        ("object", "str"),
    ),
}


@st.composite
def described(draw: st.DrawFn) -> tuple[pd.DataFrame, us.Schema]:
    """A frame of two or three columns, and its schema."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    frame, columns = {}, {}
    for number, name in enumerate(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=3))):
        kind = KINDS[name]
        missing = draw(st.sampled_from([None, False]))
        frame[f"{name} {number}"] = pd.Series(kind.cells(rng), dtype=draw(st.sampled_from(kind.dtypes)))
        columns[f"{name} {number}"] = kind.column(missing=missing)
    return pd.DataFrame(frame), us.Schema(columns)


@settings(max_examples=many(150))
@given(described(), st.sampled_from(["independent", "mst"]), st.integers(0, 9))
def test_synthetic_cells_are_of_the_real_types_and_read_by_the_code_that_read_the_real_ones(
    given_table: tuple[pd.DataFrame, us.Schema], mechanism: str, seed: int
) -> None:
    frame, schema = given_table
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = us.fit(
            frame,
            schema,
            epsilon=5.0,
            delta=1e-6,
            mechanism=mechanism,
            source=Seeded(seed),
            ledger=Path(folder) / "ledger.db",
        )
        made = release.sample(50, seed=seed)
    assert list(made.columns) == list(frame.columns)
    for name, column in release.schema.columns.items():
        cells = made[name][made[name].notna()]
        # No real cell is missing: no synthetic one either, but for the noise of one table in a hundred.
        assert len(cells) >= (len(made) if column.missing is False else 0.9 * len(made))
        if len(cells) == len(made):
            assert str(made[name].dtype) == str(frame[name].dtype)
        codes = column.codec().encode(plain(pa.array(cells, from_pandas=True)))
        assert (codes < column.count).all(), name
