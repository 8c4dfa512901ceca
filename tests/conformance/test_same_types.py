"""The synthetic table has the real one's types and its order of columns, in every library.

Each library has one table with a column of every type, with missing values and without. It is synthesised by a draft
of its schema and without a schema: a type that comes back as another, or values that are lost, fail here by name.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.data import Writer, read, write

ROWS = 900
N = np.arange(ROWS) % 30
WORDS = np.array(["low", "mid", "high"])[N % 3]
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(int(n)) for n in N]
HOURS = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(n)) for n in N]
PRICES = [Decimal(int(n)) / 4 for n in N]
ORDER = ["low", "mid", "high"]
UNITS = ("s", "ms", "us", "ns")


def arrow_columns() -> dict[str, pa.Array]:
    """A column of every Arrow type that holds one plain value a cell."""
    whole, words, hours = pa.array(N), pa.array(WORDS), pa.array(HOURS)
    sizes = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    kinds = [getattr(pa, size)() for size in (*sizes, "float16", "float32", "float64")]
    found = {str(kind): whole.cast(kind) for kind in kinds}
    found |= {str(kind): words.cast(kind) for kind in (pa.string(), pa.large_string(), pa.string_view())}
    found |= {str(kind): pa.array(DAYS).cast(kind) for kind in (pa.date32(), pa.date64())}
    moments = [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Europe/Paris", "+01:00")]
    found |= {str(kind): hours.cast(kind) for kind in moments}
    found |= {str(kind): pc.multiply(whole, 3_600).cast(kind) for kind in map(pa.duration, UNITS)}
    times = (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    found |= {str(kind): hours.cast(pa.time64("us")).cast(kind) for kind in times}
    decimals = (pa.decimal32(7, 2), pa.decimal64(12, 2), pa.decimal128(38, 4), pa.decimal256(60, 2))
    found |= {str(kind): pa.array(PRICES, kind) for kind in decimals}
    found |= {"bool": pa.array(N > 9), "null": pa.nulls(ROWS)}
    lists = [words.dictionary_encode(), whole.dictionary_encode(), pa.array(DAYS).dictionary_encode()]
    lists += [words.cast(pa.large_string()).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))]
    return found | {str(made.type): made for made in lists}


def arrow_table() -> pa.Table:
    return pa.table(arrow_columns())


def pandas_table() -> pd.DataFrame:
    whole = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    found: dict[str, Any] = {name: pd.array(N, dtype=name) for name in (*whole, "Float32", "Float64")}
    numbers = [name.lower() for name in whole] + ["float16", "float32", "float64"]
    found |= {name: N.astype(name) for name in numbers}
    found |= {"bool": N > 9, "boolean": pd.array(N > 9, dtype="boolean")}
    found |= {
        "category": pd.Categorical(WORDS),
        "ordered category": pd.Categorical(WORDS, categories=ORDER, ordered=True),
        "category of numbers": pd.Categorical(N % 4),
        "ordered category of numbers": pd.Categorical(N % 3, categories=[2, 0, 1], ordered=True),
        "str": pd.array(WORDS, dtype=pd.StringDtype("python", na_value=np.nan)),
        "str, pyarrow": pd.array(WORDS, dtype=pd.StringDtype("pyarrow", na_value=np.nan)),
        "string": pd.array(WORDS, dtype=pd.StringDtype("python")),
        "string, pyarrow": pd.array(WORDS, dtype=pd.StringDtype("pyarrow")),
        "objects: texts": pd.Series(WORDS, dtype=object),
        "objects: dates": pd.Series(DAYS, dtype=object),
        "objects: numbers": pd.Series(N.tolist(), dtype=object),
    }
    for unit in UNITS:
        moments = pd.Series(HOURS).astype(f"datetime64[{unit}]")
        days = pd.Series(pd.to_datetime(DAYS)).astype(f"datetime64[{unit}]")
        found |= {str(moments.dtype): moments, f"midnight {unit}": days}
        found |= {
            f"{unit}, {zone}": moments.dt.tz_localize(zone) for zone in ("UTC", "Europe/Paris", "+01:00")
        }
        found[f"timedelta64[{unit}]"] = pd.Series(pd.to_timedelta(N, "h")).astype(f"timedelta64[{unit}]")
    for frequency in ("Y", "Q", "M", "W-SUN", "D", "h", "min", "s"):
        days = pd.Series(HOURS if frequency in ("h", "min", "s") else DAYS)
        found[f"period[{frequency}]"] = pd.PeriodIndex(pd.to_datetime(days), freq=frequency)
    kinds = (pa.int16(), pa.float32(), pa.bool_(), pa.string(), pa.date32(), pa.timestamp("us", "Asia/Tokyo"))
    kinds += (pa.time64("us"), pa.decimal128(9, 2), pa.duration("ms"), pa.large_string())
    for kind in kinds:
        values = arrow_columns().get(str(kind))
        array = pa.array(HOURS).cast(kind) if pa.types.is_timestamp(kind) else values
        array = pa.array(PRICES, kind) if array is None else array
        found[f"{kind}[pyarrow]"] = pd.Series(pd.arrays.ArrowExtensionArray(array.cast(kind)))
    return pd.DataFrame(found)


def polars_table() -> pl.DataFrame:
    numbers = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
    found = {str(kind): pl.Series(N).cast(kind) for kind in (*numbers, pl.Float32, pl.Float64)}
    found |= {
        "String": pl.Series(WORDS),
        "Categorical": pl.Series(WORDS).cast(pl.Categorical),
        "Enum": pl.Series(WORDS).cast(pl.Enum(ORDER)),
        "Boolean": pl.Series(N > 9),
        "Date": pl.Series(DAYS),
        "Time": pl.Series([moment.time() for moment in HOURS]),
        "Decimal": pl.Series(PRICES).cast(pl.Decimal(9, 2)),
        "Object": pl.Series(WORDS.tolist(), dtype=pl.Object),
        "Null": pl.Series([None] * ROWS),
    }
    for unit in ("ms", "us", "ns"):
        moments = pl.Series(HOURS).cast(pl.Datetime(unit))
        found |= {f"Datetime {unit}": moments, f"zoned {unit}": moments.dt.replace_time_zone("Europe/Paris")}
        found[f"Duration {unit}"] = pl.Series([dt.timedelta(hours=int(n)) for n in N]).cast(pl.Duration(unit))
    return pl.DataFrame(found)


TABLES: dict[str, Any] = {"arrow": arrow_table(), "pandas": pandas_table(), "polars": polars_table()}
# Lists of values, or their order, that only a schema can give.
LISTS = {"ordered category", "ordered category of numbers", "category of numbers", "Enum"}


def names(table: Any) -> list[str]:
    return list(table.column_names if isinstance(table, pa.Table) else table.columns)


def with_gaps(table: Any) -> Any:
    """The table with every seventh cell missing, where its types have missing values."""
    gone = np.arange(ROWS) % 7 == 0
    if isinstance(table, pd.DataFrame):
        plain = {
            name for name in table if str(table[name].dtype).rstrip("0123456789") in ("int", "uint", "bool")
        }
        return pd.DataFrame({n: table[n] if n in plain else table[n].mask(gone) for n in table})
    if isinstance(table, pl.DataFrame):
        kept = [name for name in table.columns if table[name].dtype != pl.Object]
        places = pl.Series([None if hole else place for place, hole in enumerate(gone)], dtype=pl.UInt32)
        return table.with_columns([table[name].gather(places).alias(name) for name in kept])
    places = pa.array(np.arange(ROWS), mask=gone)
    views = [name for name in table.column_names if table.schema.field(name).type == pa.string_view()]
    plain = {
        name: table.column(name).cast(pa.string()) if name in views else table[name] for name in names(table)
    }
    gapped = {name: column.combine_chunks().take(places) for name, column in plain.items()}
    return pa.table({name: c.cast(pa.string_view()) if name in views else c for name, c in gapped.items()})


@cache
def synthesised(library: str, gaps: bool, drafted: bool) -> tuple[Any, Any, us.Release]:
    """The real table, the synthetic one and the release."""
    real = with_gaps(TABLES[library]) if gaps else TABLES[library]
    release = us.fit(
        real,
        us.draft_schema(real, name="t") if drafted else None,
        epsilon=100,
        delta=1e-3,
        allow_large_epsilon=True,
        mechanism="independent",
        ledger=Path(mkdtemp()) / "ledger",
    )
    return real, release.sample(200, seed=1), release


def kind_and_missing(table: Any, name: str) -> tuple[Any, int]:
    column = table[name]
    if isinstance(table, pd.DataFrame):
        return column.dtype, int(column.isna().sum())
    if isinstance(table, pa.Table):
        return column.type, column.null_count
    return column.dtype, column.null_count()


CASES = [(library, name) for library, table in TABLES.items() for name in names(table)]


@pytest.mark.parametrize("drafted", [True, False], ids=["drafted", "no schema"])
@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize(("library", "name"), CASES, ids=[f"{library}: {name}" for library, name in CASES])
def test_a_column_comes_back_in_its_type(library: str, name: str, gaps: bool, drafted: bool) -> None:
    real, made, _ = synthesised(library, gaps, drafted)
    (kind, holes), (found, empty) = kind_and_missing(real, name), kind_and_missing(made, name)
    if name in LISTS and not drafted:
        assert str(found).partition("(")[0] == str(kind).partition("(")[0]
        return
    assert found == kind
    if isinstance(kind, pd.CategoricalDtype):
        assert (found.ordered, found.categories.dtype) == (kind.ordered, kind.categories.dtype)
    assert (empty > 0) == (holes > 0)
    assert empty < len(made) or holes == ROWS


@pytest.mark.parametrize("library", TABLES)
def test_columns_stand_in_the_order_of_the_real_table(library: str) -> None:
    real, made, _ = synthesised(library, False, False)
    assert type(made) is type(real) and names(made) == names(real)
    backwards = us.Schema({name: us.Integer(min=0, max=40) for name in reversed(names(real)[:3])})
    release = us.fit(real, backwards, epsilon=1, delta=1e-6, mechanism="independent", ledger=mkdtemp() + "/l")
    assert names(release.sample(5)) == names(real)[:3]


@pytest.mark.parametrize("library", TABLES)
def test_a_release_from_a_file_gives_the_same_frame_when_asked(library: str, tmp_path: Path) -> None:
    """Without asking, it gives an Arrow table of the same types, whatever it was made from."""
    _, made, release = synthesised(library, True, True)
    release.save(tmp_path / "t.release")
    opened = us.load(tmp_path / "t.release")
    assert isinstance(opened.sample(3), pa.Table)
    again = opened.with_kind(library).sample(200, seed=1)
    assert again.equals(made) or library == "polars"  # Polars compares no objects
    for name in names(made):
        assert kind_and_missing(again, name) == kind_and_missing(made, name)
    for other in TABLES:
        assert names(opened.with_kind(other).sample(2)) == names(made)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "arrows", "jsonl", "xlsx"])
def test_every_type_can_be_written(ending: str, tmp_path: Path) -> None:
    """Also the hour that a clock shows twice when it is put back."""
    _, made, _ = synthesised("arrow", True, True)
    twice = pa.array([1_730_610_300 + 300 * n for n in range(len(made))]).cast(
        pa.timestamp("s", "America/New_York")
    )
    write(made.append_column("twice", twice), tmp_path / f"made.{ending}")
    assert len(read(tmp_path / f"made.{ending}")) == len(made)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_a_file_that_is_written_in_parts_has_every_value(ending: str, tmp_path: Path) -> None:
    """Each part lists the categories that it drew, where the schema has no list of them."""
    _, _, release = synthesised("arrow", True, False)
    parts = list(release.sample_chunks(300, seed=1, chunk=20))
    with Writer(tmp_path / f"made.{ending}") as file:
        for part in parts:
            file.write(part)
    back = read(tmp_path / f"made.{ending}")
    for name in back.column_names:
        if str(back.schema.field(name).type) not in (
            "halffloat",
            "string_view",
        ):  # which Arrow does not compare
            assert back[name].to_pylist() == [cell for part in parts for cell in part[name].to_pylist()], name


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_pandas_reads_a_file_in_the_types_of_its_own(ending: str, tmp_path: Path) -> None:
    real = with_gaps(pandas_table())
    # Objects have no type in a file, a list of numbers no order, and periods are whole numbers there.
    untold = ("objects", "ordered category of", "period")
    real = real.drop(columns=[name for name in real if name.startswith(untold)])
    real.to_parquet(tmp_path / "real.parquet") if ending == "parquet" else real.to_feather(
        tmp_path / "real.feather"
    )
    settings: Any = {"epsilon": 20, "delta": 1e-3, "mechanism": "independent", "ledger": tmp_path / "ledger"}
    source = tmp_path / f"real.{ending}"
    release = us.fit(source, us.draft_schema(source), **settings)
    write(release.sample(300), tmp_path / f"made.{ending}")
    get = pd.read_parquet if ending == "parquet" else pd.read_feather
    real, made = get(source), get(tmp_path / f"made.{ending}")
    assert {name: made[name].dtype for name in made} == {name: real[name].dtype for name in real}
    direct = release.with_kind("pandas").sample(300)
    assert [str(direct[name].dtype) for name in ("Int16", "boolean")] == ["Int16", "boolean"]


def test_a_parquet_file_gives_one_with_the_same_types(tmp_path: Path) -> None:
    table = arrow_table().drop_columns([str(kind) for kind in (pa.null(), pa.string_view())])
    pq.write_table(table, tmp_path / "real.parquet")
    release = us.fit(
        tmp_path / "real.parquet", epsilon=1, delta=1e-6, mechanism="independent", ledger=tmp_path / "ledger"
    )
    with Writer(tmp_path / "made.parquet") as file:
        for chunk in release.sample_chunks(50, chunk=20):
            file.write(chunk)
    assert pq.read_schema(tmp_path / "made.parquet").equals(pq.read_schema(tmp_path / "real.parquet"))
