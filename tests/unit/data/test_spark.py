"""The Spark engine: what only a cluster can get wrong. What every engine must do is in tests/conformance."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from nightly import NIGHTLY
from spark_session import frame, session
from understudy.data.engines import spark as engine
from understudy.data.engines import spark_tasks
from understudy.data.engines.spark import SparkTable
from understudy.data.files.file_set import FileSet
from understudy.domain import Category, Domain, Schema
from understudy.errors import FileError, OperatorError, ParameterError, SchemaError
from understudy.pipeline.drawing import sample_folder
from understudy.pipeline.sources import spark as spark_source
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.spark import SparkSource
from understudy.privacy import Budget, Curator, Seeded
from understudy.transforms.encode import Encoder
from understudy.transforms.split import Split

SCHEMA = Schema.from_toml("""
[table]
name = "shop"
[columns.town]
type = "category"
values = ["Aa", "Bb", "Cc"]
[columns.age]
type = "integer"
min = 0
max = 99
[columns."pay.year `x`"]
type = "number"
min = 0
max = 1000
bins = 4
""")
PAIRS = [*combinations(SCHEMA.columns, 2), ()]


def shop(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    towns = np.array(["Aa", "Bb", "Cc", "elsewhere", None], object)
    return pa.table(
        {
            "who": pa.array(rng.choice([1.0, 2.0, 3.0, 4.0, np.nan], rows)),
            "town": pa.array(towns[rng.integers(0, 5, rows)], pa.string()),
            "age": pa.array(rng.integers(-5, 120, rows)),
            "pay.year `x`": pa.array(rng.uniform(-10, 1100, rows)),
        }
    )


def counts_of(table: Any, cliques: Any = PAIRS) -> list[Any]:
    return [marginal.counts.tolist() for marginal in table.count(cliques)]


def code(columns: tuple[str, ...]) -> Callable[[pa.Table], dict[str, Any]]:
    """A coder of records that are codes already."""
    return lambda table: {name: table.column(name).to_numpy() for name in columns}


def test_few_partitions_and_many_hold_the_same_records() -> None:
    records, encoder = shop(5000), Encoder(SCHEMA)
    wanted = counts_of(us.table(records, SCHEMA))
    for partitions in (4, 400 if NIGHTLY else 40):
        table = SparkTable(frame(records, partitions), encoder.domain, encoder.forward, keep=False)
        assert counts_of(table) == wanted


@pytest.mark.parametrize("moment", ["coding", "counting"])
def test_a_worker_killed_in_the_middle_neither_loses_nor_doubles_records(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "killed"
    codes = np.arange(40_000, dtype=np.int64) % 7
    domain = Domain({"a": 7})
    plain = code(("a",))

    def die_once() -> None:
        if not marker.exists():
            marker.write_text("")
            os.kill(os.getpid(), 9)

    def coder(table: pa.Table) -> dict[str, Any]:
        coded = plain(table)
        if moment == "coding" and coded["a"][0] > 0:  # not the first pack of its partition
            die_once()
        return coded

    counting = spark_tasks.Count.__call__

    def partials(self: Any, batches: Any) -> Any:
        yield from counting(self, batches)  # the counts are out already when the worker dies
        die_once()

    if moment == "counting":
        # A local class is pickled whole, so it reaches the workers as it is here.
        monkeypatch.setattr(spark_tasks, "Count", type("Dying", (spark_tasks.Count,), {"__call__": partials}))
    monkeypatch.setattr(spark_tasks, "PACK_ROWS", (1000, 1000))
    table = SparkTable(frame(pa.table({"a": codes}), 3), domain, coder)
    assert counts_of(table, [("a",), ()]) == [np.bincount(codes).tolist(), len(codes)]
    assert marker.exists()


def test_counts_of_many_tasks_are_the_same_when_tasks_are_made_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    records = shop(2000)
    wanted = counts_of(us.table(records, SCHEMA))
    monkeypatch.setattr(engine, "PARTIAL_BYTES", 1)
    monkeypatch.setattr(engine, "JOB_BYTES", 1000)  # a job for nearly every clique
    assert counts_of(us.table(frame(records, 7), SCHEMA)) == wanted


def test_counts_too_large_for_one_row_come_in_chunks() -> None:
    rng = np.random.default_rng(1)
    columns = {"a": rng.integers(0, 1000, 3000), "b": rng.integers(0, 300, 3000)}
    domain = Domain({"a": 1000, "b": 300})
    table = SparkTable(frame(pa.table(columns), 3), domain, code(("a", "b")))
    wanted = np.zeros((1000, 300), np.int64)
    np.add.at(wanted, (columns["a"], columns["b"]), 1)
    (found,) = table.count([("b", "a")])
    np.testing.assert_array_equal(found.counts, wanted.T)


def test_an_error_on_a_worker_does_not_tell_the_value_it_choked_on() -> None:
    def coder(table: pa.Table) -> dict[str, Any]:
        raise ValueError(f"cannot read {table.column('a')[0].as_py()}")

    secret = SparkTable(frame(pa.table({"a": ["hush-hush"]})), Domain({"a": 2}), coder)
    with pytest.raises(OperatorError, match=r"could not code its records \(ValueError\)") as caught:
        secret.count([("a",)])
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_error_of_sparks_own_does_not_tell_the_value_either(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = frame(pa.table({"age": ["17", "hush-hush"]})).selectExpr("CAST(age AS INT) AS age")
    schema = Schema.from_toml('[table]\nname = "t"\n[columns.age]\ntype = "integer"\nmin = 0\nmax = 99\n')
    with pytest.raises(OperatorError, match="CAST_INVALID_INPUT") as caught:
        us.fit(broken, schema, epsilon=1.0, delta=1e-6, ledger=tmp_path / "ledger.db")
    assert "hush" not in str(caught.value)
    assert "hush" not in capfd.readouterr().err


def test_a_damaged_file_is_named_before_anything_is_charged(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        pq.write_table(shop(50, number), folder / f"part-{number}.parquet")
    (folder / "part-1.parquet").write_bytes(b"PAR1" + bytes(200) + b"PAR1")
    good = session().read.schema(session().read.parquet(str(folder / "part-0.parquet")).schema)
    ledger = tmp_path / "ledger.db"
    with pytest.raises(FileError, match=r"part-1\.parquet"):
        us.fit(good.parquet(str(folder)), SCHEMA, epsilon=1.0, delta=1e-6, ledger=ledger)
    assert us.Ledger(ledger).names() == []


@pytest.mark.parametrize("most", [1, 3])
def test_so_many_records_of_a_unit_count_and_none_without_one(most: int) -> None:
    records = shop(400)
    schema = Schema(SCHEMA.columns, name="shop", unit="who", max_records_per_unit=most)
    table = us.table(frame(records), schema)
    assert counts_of(table) == counts_of(us.table(records, schema))
    assert int(table.count([()])[0].counts) == 4 * most
    assert counts_of(us.table(frame(records, 9), schema)) == counts_of(table)  # in whatever order they come


def test_a_unit_column_that_is_not_there_is_refused() -> None:
    schema = Schema(SCHEMA.columns, name="shop", unit="nobody")
    with pytest.raises(SchemaError, match="'nobody'"):
        us.table(frame(shop(5)), schema)


def test_values_of_an_open_column_are_counted_and_missing_ones_are_not() -> None:
    records = pa.table(
        {"x": pa.array(["b", None, "a", "b", "é", ""]), "n": pa.array([1.0, np.nan, 2, 2, 2, 2])}
    )
    assert engine.count_spark_values(frame(records, 3), "x") == {"": 1, "a": 1, "b": 2, "é": 1}
    assert engine.count_spark_values(frame(records, 3), "n") == {"1": 1, "2": 4}
    far = session().sql(
        "SELECT timestamp_micros(9000000000000000000 + id) AS t, "
        "date_from_unix_date(int(id * 3000000)) AS d FROM range(2)"
    )
    assert engine.count_spark_values(far, "t") == {}, "a year that nothing writes is passed over"
    assert set(engine.count_spark_values(far, "d").values()) == {1}


def test_a_release_is_the_one_of_the_same_records_in_memory_and_draws_in_spark(tmp_path: Path) -> None:
    records = shop(900)
    settings: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6}
    one, other = (
        us.fit(data, SCHEMA, **settings, source=Seeded(5), ledger=tmp_path / f"{number}.db")
        for number, data in enumerate([records, frame(records, 3)])
    )
    for first, second in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(first.values, second.values)
    assert other.kind == "spark"
    drawn = other.sample(1000, seed=3)
    assert drawn.columns == list(SCHEMA.columns)
    assert drawn.count() == 1000


def test_the_same_job_again_is_charged_once_and_says_the_same(tmp_path: Path) -> None:
    records = frame(shop(300))
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "ledger": tmp_path / "l.db", "job": "once"}
    one, other = (us.fit(records, SCHEMA, **settings) for _ in range(2))
    for first, second in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(first.values, second.values)


def test_bounds_values_and_bins_are_learned_as_in_memory(tmp_path: Path) -> None:
    records = shop(3000).drop_columns(["who"])
    one, other = (
        us.fit(data, epsilon=8.0, delta=1e-4, source=Seeded(5), ledger=tmp_path / f"{number}.db")
        for number, data in enumerate([records, frame(records, 3)])
    )
    assert one.schema.columns == other.schema.columns


def test_transforms_are_applied_by_the_workers() -> None:
    records = pa.table({"wage": np.arange(3000) * 7 % 6000, "c": np.arange(3000) % 2})
    split = Split("wage", ("coarse", "digits"))
    most = {"wage": 6000, "c": 1}
    columns = "".join(f'[columns.{n}]\ntype = "integer"\nmin = 0\nmax = {m}\n' for n, m in most.items())
    schema = split.describe(Schema.from_toml(f'[table]\nname = "t"\n{columns}'))
    from understudy.pipeline.sources.records import Reading
    from understudy.pipeline.sources.registry import open_records

    found, wanted = (
        open_records(data, Reading(schema, transforms=(split,))).encode(schema)
        for data in (frame(records, 3), records)
    )
    pairs = list(combinations(wanted.domain, 2))
    assert counts_of(found, pairs) == counts_of(wanted, pairs)


@pytest.fixture(scope="module", name="release")
def _release(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    ledger = tmp_path_factory.mktemp("ledger") / "ledger.db"
    return us.fit(shop(20_000), SCHEMA, epsilon=8.0, delta=1e-6, source=Seeded(1), ledger=ledger)


def test_a_dataframe_comes_back_in_its_types(tmp_path: Path) -> None:
    kinds = "a byte, b short, c int, d long, e float, f double, g decimal(9,2), h string, i boolean, j date"
    kinds += ", k timestamp, l timestamp_ntz, m interval day to second"
    day, moment = date(2020, 1, 2), datetime(2020, 1, 2, 3, 4)
    row = (1, 2, 3, 4, 5.0, 6.0, Decimal("7.25"), "x", True, day, moment, moment, timedelta(hours=1))
    frame = session().createDataFrame([row] * 40, kinds)
    settings: Any = {"epsilon": 9, "delta": 1e-3, "mechanism": "independent", "ledger": tmp_path / "ledger"}
    release = us.fit(frame, **settings)
    made = release.sample(20)
    assert made.dtypes == frame.dtypes and made.count() == 20
    release.save(tmp_path / "t.release")
    assert us.load(tmp_path / "t.release").sample_spark(session(), 5).dtypes == frame.dtypes


def test_records_drawn_on_the_workers_match_the_release_and_are_written_by_spark(
    release: us.Release, tmp_path: Path
) -> None:
    rows, partitions = 30_000, 6
    drawn = release.sample_spark(session(), rows, seed=11, partitions=partitions)
    assert drawn.rdd.getNumPartitions() == partitions
    drawn.write.parquet(str(tmp_path / "drawn"))
    written = pq.read_table(tmp_path / "drawn")
    assert written.num_rows == rows
    # Each part is off by a record or so a cell; independent draws would be off by sqrt(rows) = 170.
    for clique in [("town",), ("town", "age")]:
        found = us.table(written, SCHEMA).count([clique])[0].counts
        expected = release.marginal(clique).counts * (rows / release.marginal(clique).counts.sum())
        assert np.abs(found - expected).max() < 12 * np.sqrt(partitions)


def test_a_dataframe_of_drawn_records_is_the_same_whenever_it_is_read(release: us.Release) -> None:
    drawn = release.sample_spark(session(), 500, partitions=3)
    assert drawn.toArrow().equals(drawn.toArrow())
    one, two = (release.sample_spark(session(), 500, seed=seed).toArrow() for seed in (1, 2))
    assert not one.equals(two)


def test_the_records_of_a_seed_are_those_that_one_machine_would_draw(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_folder, "PART_ROWS", 300)
    sample_folder.sample_to_folder(release, tmp_path / "alone", 1000, seed=4)
    alone = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "alone").glob("*.parquet")))
    assert release.sample_spark(session(), 1000, seed=4).toArrow().equals(alone)


def test_nothing_drawn_is_an_empty_dataframe_and_nonsense_is_refused(release: us.Release) -> None:
    assert release.sample_spark(rows=0).toArrow().num_rows == 0
    for wrong in (0, -1, True, 2.5):
        with pytest.raises(ParameterError, match="partitions"):
            release.sample_spark(rows=5, partitions=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not a SparkSession"):
        release.sample_spark("spark", 5)


def test_a_table_of_the_session_is_found_by_its_name() -> None:
    records = shop(100)
    frame(records).createOrReplaceTempView("shop_view")
    assert counts_of(us.table("spark:shop_view", SCHEMA)) == counts_of(us.table(records, SCHEMA))
    with pytest.raises(FileError, match="no table 'shop_vieww'"):
        us.table("spark:shop_vieww", SCHEMA)


def test_a_column_of_lists_is_refused_where_it_is_needed_and_ignored_elsewhere() -> None:
    records = frame(shop(20)).selectExpr("*", "array(1, 2) AS many")
    assert int(us.table(records, SCHEMA).count([()])[0].counts) == 20
    with pytest.raises(ParameterError, match="'many' holds array<int>"):
        us.fit(records, epsilon=1.0, delta=1e-6)


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="two columns named 'age'"):
        us.table(frame(shop(5)).selectExpr("*", "town AS age"), SCHEMA)


def test_a_curator_asks_spark_as_it_asks_a_table() -> None:
    records = shop(500)
    answers = []
    for data in (records, frame(records, 2)):
        curator = Curator(us.table(data, SCHEMA), Budget(1.0, 1e-6), source=Seeded(2))
        answers.append(curator.measure([("town", "age")], budget=Budget(1.0, 1e-6))[0].values)
    np.testing.assert_array_equal(*answers)


def test_spark_forgets_the_codes_when_nobody_can_ask_any_more() -> None:
    held = session().sparkContext._jsc.getPersistentRDDs
    before = held().size()
    table = us.table(frame(shop(50)), SCHEMA)
    merged = table.recode({"town": np.zeros(SCHEMA.domain()["town"], np.int64)})
    del table
    assert held().size() == before + 1
    del merged
    assert held().size() == before


def files_of(records: pa.Table, folder: Path, number: int) -> str:
    """An address of the records in so many files that Spark's workers open themselves."""
    session()
    folder.mkdir()
    step = -(-records.num_rows // number)
    for place in range(number):
        pq.write_table(records.slice(place * step, step), folder / f"part-{place}.parquet")
    return f"spark:parquet:{folder}"


def test_files_are_read_once_for_all_pairs_and_merging_codes_needs_no_record(tmp_path: Path) -> None:
    records = shop(3000)
    found, wanted = us.table(files_of(records, tmp_path / "parts", 3), SCHEMA), us.table(records, SCHEMA)
    shutil.rmtree(tmp_path / "parts")
    merging = {name: np.arange(SCHEMA.domain()[name]) // 2 for name in ("town", "age")}
    cliques = [*PAIRS, ("age", "town"), ("age",), ("town",)]
    assert counts_of(found, cliques) == counts_of(wanted, cliques)
    assert counts_of(found.recode(merging), cliques) == counts_of(wanted.recode(merging), cliques)
    with pytest.raises(FileError, match="changed, or went"):
        found.count([tuple(SCHEMA.columns)])


def test_codes_of_files_are_kept_once_more_than_pairs_is_asked_for(tmp_path: Path) -> None:
    records = shop(2000)
    wanted, triple = us.table(records, SCHEMA), [tuple(SCHEMA.columns)]
    gc.collect()  # tables that another test's error held
    held = session().sparkContext._jsc.getPersistentRDDs
    before = held().size()
    table = us.table(files_of(records, tmp_path / "parts", 2), SCHEMA)
    assert held().size() == before
    assert counts_of(table, triple) == counts_of(wanted, triple)
    assert held().size() == before + 1
    shutil.rmtree(tmp_path / "parts")
    merging = {"age": np.arange(SCHEMA.domain()["age"]) // 9}
    assert counts_of(table.recode(merging), triple) == counts_of(wanted.recode(merging), triple)
    del table
    assert held().size() == before


@pytest.mark.parametrize("most", ["PAIR_CELLS", "GATHERED_BYTES"])
def test_files_with_many_codes_are_counted_as_those_with_few(
    most: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = shop(1000)
    address = files_of(records, tmp_path / "parts", 2)
    monkeypatch.setattr(engine, most, 0)
    assert counts_of(us.table(address, SCHEMA)) == counts_of(us.table(records, SCHEMA))


def test_many_small_files_share_tasks_and_none_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = shop(1000)
    address = files_of(records, tmp_path / "parts", 7)
    monkeypatch.setattr(spark_source, "TASKS", 1)
    frame_, tasks = spark_source._numbers(FileSet.open(str(tmp_path / "parts")), spark_source.session())
    assert tasks == frame_.rdd.getNumPartitions() == 2
    assert counts_of(us.table(address, SCHEMA)) == counts_of(us.table(records, SCHEMA))


def test_who_has_no_dataframe_never_imports_spark() -> None:
    program = (
        "import sys, understudy as us, pyarrow as pa\n"
        'schema = us.Schema.from_toml(\'[table]\\nname="t"\\n[columns.a]\\ntype="boolean"\\n\')\n'
        "us.table(pa.table({'a': [True]}), schema).count([('a',)])\n"
        "assert not any(name.startswith('pyspark') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_files_of_mixed_types_are_rows_of_text_whatever_they_hold(tmp_path: Path) -> None:
    """A cast to one type would fail for a whole number that no float holds."""
    session()
    pq.write_table(
        pa.table({"a": [1, 2**53 + 1], "t": pa.array([1, 2], pa.timestamp("ns"))}), tmp_path / "0.parquet"
    )
    pq.write_table(
        pa.table({"a": [1.0, 2.5], "t": pa.array([1, 2**62], pa.timestamp("us"))}), tmp_path / "1.parquet"
    )
    records = SparkSource(f"spark:parquet:{tmp_path}").open(Reading(None))
    schema = Schema({"a": Category(discover=True)})
    assert records.count_values("a", schema) == {"1": 2, "9007199254740993": 1, "2.5": 1}
    assert sum(records.count_values("t", schema).values()) == 3, "a year that nothing writes is passed over"
