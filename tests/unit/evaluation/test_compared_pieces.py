"""A table that is compared piece by piece gives the figures of one that is compared whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.errors import ParameterError, SchemaError
from understudy.evaluation import baselines, coding, columns

SCHEMA = us.Schema.from_toml("""
[table]
name = "people"
[columns.age]
type = "integer"
min = 0
max = 90
[columns.town]
type = "category"
values = ["Aa", "Bb", "Cc"]
[columns.pay]
type = "number"
min = 0
max = 10
bins = 5
""")


def people(rows: int, seed: int) -> pa.Table:
    """Records with misfits, gaps, and texts where numbers are due."""
    rng = np.random.default_rng(seed)
    ages = [*map(str, range(-2, 99)), "?", "old", "", None]
    return pa.table(
        {
            "age": pa.array([ages[i] for i in rng.integers(0, len(ages), rows)], pa.string()),
            "town": pa.array(np.array(["Aa", "Bb", "Dd"])[rng.integers(0, 3, rows)]),
            "pay": pa.array(rng.integers(0, 12, rows).astype(float)),
            "unused": pa.array(["x"] * rows),
        }
    )


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (coding, columns):
        monkeypatch.setattr(module, "PIECE", 70)


def figures(found: us.Comparison, folder: Path) -> tuple[object, str]:
    found.report(folder / "page.html")
    return found.to_dict(), (folder / "page.html").read_text()


@pytest.mark.parametrize("targets", [(), ("town",)])
def test_pieces_change_no_figure(
    tmp_path: Path, targets: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    real, synthetic = people(500, 0), people(400, 1)
    wanted = figures(us.evaluate(real, synthetic, SCHEMA, targets=targets), tmp_path)
    request.getfixturevalue("_small")
    assert figures(us.evaluate(real, synthetic, SCHEMA, targets=targets), tmp_path) == wanted


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["described", "looked at"])
def test_streamed_files_are_compared_as_those_in_memory(
    tmp_path: Path, kind: str, schema: us.Schema | None
) -> None:
    found = []
    for name, table in (("real", people(500, 0)), ("synthetic", people(400, 1))):
        path = tmp_path / f"{name}.{kind}"
        if kind == "csv":
            pyarrow.csv.write_csv(table, path)
        else:
            pq.write_table(table, path, row_group_size=60)
    for way in ("{}", f"{kind}:{{}}"):
        real, synthetic = (way.format(tmp_path / f"{name}.{kind}") for name in ("real", "synthetic"))
        found.append(us.evaluate(real, synthetic, schema))
    one, other = found
    assert one.evaluation == other.evaluation and one.columns == other.columns and one.pairs == other.pairs
    assert one.strangers == other.strangers and one.left_out == other.left_out
    for table, codes in one.codes.items():
        for name, column in codes.items():
            np.testing.assert_array_equal(column, other.codes[table][name])


def test_records_and_columns_that_are_not_there_are_missed_in_streamed_files_too(tmp_path: Path) -> None:
    pq.write_table(people(0, 0), tmp_path / "none.parquet")
    pq.write_table(people(9, 0), tmp_path / "some.parquet")
    pq.write_table(people(9, 0).drop_columns(["town"]), tmp_path / "fewer.parquet")
    none, some, fewer = (f"parquet:{tmp_path}/{name}.parquet" for name in ("none", "some", "fewer"))
    for real, synthetic, what in ((none, some, "real"), (some, none, "synthetic")):
        with pytest.raises(ParameterError, match=f"the {what} table has no records"):
            us.evaluate(real, synthetic, SCHEMA)
    for real, synthetic, what in ((fewer, some, "real"), (some, fewer, "synthetic")):
        with pytest.raises(SchemaError, match=f"the {what} table has no column 'town'"):
            us.evaluate(real, synthetic, SCHEMA)


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_a_baseline_drawn_in_pieces_is_the_one_drawn_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = {"a": np.arange(90, dtype=np.uint8) % 7, "b": np.arange(90, dtype=np.uint16) % 31}
    draw = baselines.BASELINES[name]
    whole = draw(real, 1_001, np.random.default_rng(5))
    monkeypatch.setattr(columns, "PIECE", 37)
    for column, codes in draw(real, 1_001, np.random.default_rng(5)).items():
        np.testing.assert_array_equal(codes, whole[column])
