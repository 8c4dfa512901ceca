"""Files of Delta, Iceberg and Hudi tables: read by their logs or refused by name, never as plain files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.data.engines.batch_source import open_dataset, open_delta
from understudy.data.files.file_set import FileSet
from understudy.errors import FileError, ParameterError
from understudy.pipeline.sources.registry import first_records, name_of, source_of

deltalake = pytest.importorskip("deltalake")
SCHEMA = us.Schema({"sex": us.Category(("F", "M"))}, name="people")


@pytest.fixture(scope="module")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 1,000 people of whom 400 were deleted since: their records are still in a file."""
    folder = tmp_path_factory.mktemp("lake") / "people"
    deltalake.write_deltalake(folder, pa.table({"id": list(range(1_000)), "sex": ["F", "M"] * 500}))
    deltalake.DeltaTable(folder).delete("id < 400")
    return folder


@pytest.fixture(params=["Iceberg", "Hudi"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that looks like a table of another kind."""
    (tmp_path / "people" / "data").mkdir(parents=True)
    pq.write_table(pa.table({"sex": ["F"]}), tmp_path / "people" / "data" / "a.parquet")
    notes = tmp_path / "people" / ("metadata" if request.param == "Iceberg" else ".hoodie")
    notes.mkdir()
    (notes / "v1.metadata.json").write_text("{}")
    return tmp_path / "people"


def count(data: object) -> int:
    """How many records a known schema codes of some data."""
    return int(us.table(data, SCHEMA).count([("sex",)])[0].counts.sum())


@pytest.mark.parametrize("way", [str, Path, "{}/".format, "delta:{}".format])
def test_deleted_records_of_a_delta_table_stay_deleted(delta: Path, way: Callable[[Path], object]) -> None:
    assert count(way(delta)) == 600
    assert first_records(way(delta), 10_000).num_rows == 600
    assert name_of(way(delta)) == "people"


def test_a_delta_table_is_the_same_run_until_it_changes(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, pa.table({"sex": ["F"]}))
    before = open_delta(str(tmp_path)).snapshot
    assert open_delta(str(tmp_path)).snapshot == before
    deltalake.write_deltalake(tmp_path, pa.table({"sex": ["M"]}), mode="append")
    assert open_delta(str(tmp_path)).snapshot != before


def test_columns_that_a_delta_table_got_later_are_missing_before(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, pa.table({"sex": ["F"]}))
    later = pa.table({"sex": ["M"], "age": [1]})
    deltalake.write_deltalake(tmp_path, later, mode="append", schema_mode="merge")
    assert sorted(map(str, first_records(str(tmp_path), 9)["age"].to_pylist())) == ["1", "None"]


def ways(folder: Path) -> dict[str, str]:
    """Ways in which the files of a table may be named as if they were plain."""
    file = next(folder.rglob("*.parquet"))
    link = folder.parent / "link.parquet"
    if not link.exists():
        os.symlink(file, link)
    query = "duckdb:?query=SELECT * FROM '{}'"
    return {
        "with a prefix": f"parquet:{folder}",
        "for Spark": f"spark:parquet:{folder}",
        "one file": str(file),
        "one file, streamed": f"parquet:{file}",
        "a link": str(link),
        "a pattern": str(file.parent / "*.parquet"),
        "a pattern above": str(folder.parent / "**" / "*.parquet"),
        "a folder above": str(folder.parent),
        "a query": query.format(file.parent / "*.parquet"),
        "a query of more": query.format(folder.parent / "**" / "*.parquet"),
        "a function": f"duckdb:?query=SELECT * FROM read_parquet(['{file}'])",
    }


@pytest.mark.parametrize("way", ["with a prefix", "for Spark", "one file", "one file, streamed", "a link",
                                 "a pattern", "a pattern above", "a folder above", "a query", "a query of more",
                                 "a function"])  # fmt: skip
def test_files_of_a_delta_table_are_not_read_as_plain_files(delta: Path, way: str) -> None:
    with pytest.raises(FileError, match="Delta table"):
        us.fit(ways(delta)[way], SCHEMA, epsilon=1, delta=1e-9, ledger=delta.parent / "ledger.db")
    assert not (delta.parent / "ledger.db").exists()


@pytest.mark.parametrize("way", ["with a prefix", "one file", "a pattern", "a folder above", "a query"])
def test_files_of_other_tables_with_logs_are_refused_by_name(other: Path, way: str) -> None:
    with pytest.raises(FileError, match=r"(Iceberg|Hudi) table"):
        source_of(ways(other)[way]).first_records(9)
    with pytest.raises(FileError, match=r"(Iceberg|Hudi) table"):
        FileSet.open(str(other))


def test_a_view_over_files_of_a_delta_table_is_refused(delta: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.db")) as connection:
        connection.execute(f"CREATE VIEW people AS FROM read_parquet('{delta}/*.parquet')")
    with pytest.raises(FileError, match="Delta table"):
        source_of(f"duckdb:{tmp_path}/people.db?table=people").first_records(9)


def test_a_folder_whose_name_only_sounds_like_a_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "notes.json").write_text("{}")
    pq.write_table(pa.table({"sex": ["F"]}), tmp_path / "a.parquet")
    assert count(str(tmp_path)) == 1


def test_a_delta_table_without_its_library_is_refused(delta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(ParameterError, match=r"understudy\[delta\]"):
        count(str(delta))


def test_a_delta_table_that_needs_more_than_its_library_can_is_refused(delta: Path, tmp_path: Path) -> None:
    shutil.copytree(delta, tmp_path / "people")
    log = tmp_path / "people" / "_delta_log" / "00000000000000000002.json"
    log.write_text(
        '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,'
        '"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}\n'
    )
    with pytest.raises(FileError, match="deletionVectors"):
        count(str(tmp_path / "people"))


def test_a_damaged_log_is_told_without_its_content(delta: Path, tmp_path: Path) -> None:
    shutil.copytree(delta, tmp_path / "people")
    for log in (tmp_path / "people" / "_delta_log").glob("*.json"):
        log.write_text("SECRET")
    with pytest.raises(FileError, match="cannot be read") as refused:
        count(str(tmp_path / "people"))
    assert "SECRET" not in str(refused.value)


def test_a_dataset_of_text_is_refused_as_its_types_are_told_by_cells(tmp_path: Path) -> None:
    from pyarrow import dataset

    (tmp_path / "a.csv").write_text("sex\nF\n")
    with pytest.raises(ParameterError, match="types of their columns by their cells"):
        open_dataset(dataset.dataset(tmp_path, format="csv"))


def test_a_dataset_whose_type_may_not_hold_a_value_is_refused(tmp_path: Path) -> None:
    from pyarrow import dataset

    pq.write_table(pa.table({"age": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    narrow = dataset.dataset(tmp_path, schema=pa.schema([("age", pa.int8())]))
    with pytest.raises(ParameterError, match="'age'"):
        open_dataset(narrow)
    assert count(dataset.dataset(pa.table({"sex": ["F", "M"]}))) == 2


def frames(folder: Path) -> dict[str, Callable[[], object]]:
    """Frames that are still to be read from the files of a table."""
    import fsspec
    import polars
    import pyarrow.dataset as datasets
    import pyarrow.fs as systems

    above = systems.SubTreeFileSystem(str(folder.parent), systems.LocalFileSystem())
    file = str(next(folder.glob("*.parquet")))
    plain = datasets.dataset(folder, exclude_invalid_files=True)
    return {
        "a dataset": lambda: plain,
        "a dataset of a file": lambda: datasets.dataset([file]),
        "a dataset of the folder above": lambda: datasets.dataset(folder.parent, exclude_invalid_files=True),
        "a dataset of another file system": lambda: datasets.dataset(
            str(folder), filesystem=fsspec.filesystem("file"), exclude_invalid_files=True
        ),
        "a dataset of a part of one": lambda: datasets.dataset(
            folder.name, filesystem=above, exclude_invalid_files=True
        ),
        "datasets together": lambda: datasets.dataset([plain, plain]),
        "a lazy frame": lambda: polars.scan_parquet(f"{folder}/*.parquet").select("sex"),
        "a lazy frame of a file": lambda: polars.scan_parquet(file),
        "a lazy frame of more": lambda: polars.scan_parquet(f"{folder.parent}/**/*.parquet"),
        "lazy frames together": lambda: polars.concat([polars.scan_parquet(file)] * 2),
        "a relation": lambda: duckdb.sql(f"FROM '{folder}/*.parquet'"),
    }


@pytest.mark.parametrize("way", ["a dataset", "a dataset of a file", "a dataset of the folder above",
                                 "a dataset of another file system", "a dataset of a part of one",
                                 "datasets together", "a lazy frame", "a lazy frame of a file",
                                 "a lazy frame of more", "lazy frames together", "a relation"])  # fmt: skip
def test_frames_that_would_read_its_files_as_plain_ones_are_refused(delta: Path, way: str) -> None:
    with pytest.raises(FileError, match="Delta table"):
        count(frames(delta)[way]())


def test_frames_that_go_by_the_log_or_by_plain_files_are_read(delta: Path, tmp_path: Path) -> None:
    import polars
    import pyarrow.dataset as datasets

    assert count(deltalake.DeltaTable(delta).to_pyarrow_dataset()) == 600
    assert count(polars.scan_delta(str(delta))) == 600
    pq.write_table(pa.table({"sex": ["F"]}), tmp_path / "a.parquet")
    assert count(datasets.dataset(tmp_path)) == 1
    assert count(polars.scan_parquet(tmp_path / "*.parquet")) == 1
    assert count(polars.DataFrame({"sex": ["F"]}).lazy()) == 1
    assert count(duckdb.sql(f"FROM '{tmp_path}/a.parquet'")) == 1


def test_files_of_an_iceberg_table_in_a_store_are_refused(tmp_path: Path) -> None:
    import pyarrow.dataset as datasets
    import pyarrow.fs as systems

    (tmp_path / "people" / "data").mkdir(parents=True)
    (tmp_path / "people" / "metadata").mkdir()
    pq.write_table(pa.table({"sex": ["F"]}), tmp_path / "people" / "data" / "a.parquet")
    store = systems.SubTreeFileSystem(str(tmp_path), systems.LocalFileSystem())
    data = datasets.dataset("people/data", filesystem=store)
    assert count(data) == 1  # a folder `metadata` alone is no table's
    (tmp_path / "people" / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(FileError, match="Iceberg table"):
        count(data)


def test_a_filtered_dataset_is_refused_with_a_way_out(tmp_path: Path) -> None:
    import pyarrow.dataset as datasets

    pq.write_table(pa.table({"sex": ["F"]}), tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="filtered"):
        count(datasets.dataset(tmp_path).filter(datasets.field("sex") == "F"))
