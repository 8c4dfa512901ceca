"""A DataFrame's files are read in Spark's stead only where it is nothing but a scan of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from spark_session import session
from understudy.errors import FileError
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.spark import SparkSource
from understudy.privacy import Seeded

SCHEMA = us.Schema(
    {"sex": us.Category(("F", "M")), "age": us.Integer(0, 99), "in town": us.Category(("0", "1"))}
)
TYPES = {"sex": pa.string(), "age": pa.int64(), "in town": pa.int32(), "born": pa.date32()}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Three Parquet files in a folder whose name is no plain address."""
    folder = tmp_path / "town of 100%"
    folder.mkdir()
    for number in range(3):
        cells = {
            "sex": ["F", "M", None, "?"] * 25,
            "age": [*range(99), None],
            "in town": [number % 2] * 100,
            "born": [number] * 100,
        }
        pq.write_table(
            pa.table({name: pa.array(cells[name], kind) for name, kind in TYPES.items()}),
            folder / f"{number}.parquet",
        )
    return folder


def scanned(folder: Path) -> Any:
    return session().read.parquet(str(folder))


def files_of(frame: Any, schema: us.Schema | None = SCHEMA) -> Any:
    return getattr(SparkSource(frame).open(Reading(schema)), "files", None)


def counts(data: Any) -> list[Any]:
    table = us.table(data, SCHEMA)
    return [found.counts.tolist() for found in table.count([("sex", "age"), ("in town",)])]


def test_a_plain_scan_of_parquet_files_is_read_from_them_and_its_counts_are_theirs(people: Path) -> None:
    frame = scanned(people)
    wanted = counts(str(people))
    for plain in (frame, frame.select("age", "in town", "sex"), frame.drop("born").alias("p")):
        assert len(files_of(plain).files) == 3
        assert counts(plain) == wanted
    assert counts(frame.coalesce(1)) == wanted


MORE: dict[str, Callable[[Any], Any]] = {
    "a condition": lambda frame: frame.where("age > 10"),
    "fewer partitions": lambda frame: frame.coalesce(1),
    "some records": lambda frame: frame.limit(10),
    "a column that is computed": lambda frame: frame.withColumn("age", frame["age"] + 0 * frame["in town"]),
    "columns under others' names": lambda frame: frame.select(
        "sex", frame["age"].alias("in town"), frame["in town"].alias("age")
    ),
    "all of it twice": lambda frame: frame.union(frame),
    "records that differ": lambda frame: frame.distinct(),
    "a sample": lambda frame: frame.sample(0.5, seed=1),
}


@pytest.mark.parametrize("how", MORE)
def test_whatever_is_more_than_a_scan_is_sparks_to_read(people: Path, how: str) -> None:
    assert files_of(MORE[how](scanned(people))) is None


def test_what_spark_keeps_is_not_read_again(people: Path) -> None:
    kept = scanned(people).persist()
    try:
        assert files_of(kept) is None
    finally:
        kept.unpersist()


def test_files_that_spark_reads_otherwise_than_arrow_are_sparks_to_read(people: Path, tmp_path: Path) -> None:
    frame = scanned(people)
    assert files_of(frame, None) is None, "dates: Spark may have read them by another calendar"
    assert files_of(session().read.option("mergeSchema", "true").parquet(str(people))) is None
    told = session().read.schema("sex string, age int, `in town` int").parquet(str(people))
    assert files_of(told) is None, "a column of another type than the files'"
    keyed = tmp_path / "keyed"
    (keyed / "year=1").mkdir(parents=True)
    (people / "0.parquet").rename(keyed / "year=1" / "0.parquet")
    assert files_of(session().read.parquet(str(keyed))) is None, "columns from the names of folders"
    assert files_of(frame) is None, "a file that Spark knows of is gone"
    (people / "new.parquet").write_bytes((people / "1.parquet").read_bytes())
    assert files_of(scanned(people)) is not None
    session().conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert files_of(scanned(people)) is None, "a session that leaves out what it cannot read"
    finally:
        session().conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_release_does_not_tell_whether_spark_read_the_records(people: Path) -> None:
    frame = scanned(people)
    asked = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "mst"}
    fits = [
        us.fit(data, SCHEMA, ledger=people.parent / f"{number}.db", source=Seeded(1), **asked)
        for number, data in enumerate((frame, frame.coalesce(1)))
    ]
    first, second = ([m.values.tolist() for m in fit.measurements] for fit in fits)
    assert first == second
    assert fits[0].schema.to_toml() == fits[1].schema.to_toml() and fits[0].form == fits[1].form


def test_a_dataframe_of_a_delta_table_s_files_is_refused(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(tmp_path / "people", pa.table({"id": list(range(10)), "sex": ["F", "M"] * 5}))
    deltalake.DeltaTable(tmp_path / "people").delete("id < 4")
    frame = scanned(tmp_path / "people")
    frame.createOrReplaceTempView("lake")
    for data in (
        frame,
        frame.where("id >= 0").select("sex"),
        f"spark:parquet.`{tmp_path}/people`",
        "spark:lake",
    ):
        with pytest.raises(FileError, match="Delta table"):
            SparkSource(data).open(Reading(None))
    with pytest.raises(FileError, match="Delta table"):
        SparkSource(frame).first_records(1)


def test_a_table_of_the_session_lies_in_its_files(people: Path) -> None:
    scanned(people).createOrReplaceTempView("town")
    assert str(people) in SparkSource("spark:town").places
    one = people / "0.parquet"
    assert SparkSource(f"spark:parquet.`{one}`").places == (str(one),)
