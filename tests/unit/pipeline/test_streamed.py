"""Streamed runs: what is charged when something goes wrong, how often records are read, samples in parts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.data.files.file_set import FileSet
from understudy.domain import Schema
from understudy.errors import FileError, OperatorError, ParameterError
from understudy.mechanisms import MST, Fixed, Independent
from understudy.pipeline.drawing.sample_folder import MANIFEST, sample_to_folder
from understudy.pipeline.forecast import forecast
from understudy.pipeline.release import Release
from understudy.pipeline.sources.registry import name_of
from understudy.privacy import Budget, Ledger, Seeded

COMPLETE = """
[table]
name = "people"
[columns.a]
type = "integer"
min = 0
max = 9
[columns.b]
type = "category"
values = ["x", "y"]
[columns.c]
type = "integer"
min = 0
max = 3
"""
LEARNED = COMPLETE.replace('values = ["x", "y"]', "discover = true").replace("max = 9\n", "")
BUDGET = {"epsilon": 2.0, "delta": 1e-6}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A folder of Parquet files."""
    (tmp_path / "people").mkdir()
    rng = np.random.default_rng(0)
    for number in range(12):
        table = {
            "a": rng.integers(0, 10, 300),
            "b": rng.choice(["x", "y"], 300),
            "c": rng.integers(0, 4, 300),
        }
        pq.write_table(pa.table(table), tmp_path / "people" / f"part-{number:03}.parquet")
    return tmp_path


def charged(ledger: Path) -> bool:
    return ledger.exists() and bool(Ledger(ledger).names())


@pytest.mark.parametrize("described", [COMPLETE, LEARNED], ids=["complete", "learned"])
@pytest.mark.parametrize("harm", ["footer", "pages", "gone"])
def test_a_damaged_file_among_many_is_named_and_nothing_is_charged(
    folder: Path, described: str, harm: str
) -> None:
    path = folder / "people" / "part-007.parquet"
    content = bytearray(path.read_bytes())
    if harm == "footer":
        path.write_bytes(content[:-9])
    elif harm == "pages":
        content[4:300] = b"\xee" * 296
        path.write_bytes(content)
    else:
        path.write_bytes(b"")
    with pytest.raises(FileError, match=r"part-007.parquet"):
        us.fit(folder / "people", Schema.from_toml(described), ledger=folder / "ledger.db", **BUDGET)
    assert not charged(folder / "ledger.db")


def test_a_full_disk_never_changes_an_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema.from_toml(COMPLETE)
    wanted = us.fit(folder / "people", schema, source=Seeded(1), ledger=folder / "1.db", **BUDGET)

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)
    found = us.fit(folder / "people", schema, source=Seeded(1), ledger=folder / "2.db", **BUDGET)
    assert found.sample(100, seed=2).equals(wanted.sample(100, seed=2))
    with pytest.raises(OperatorError, match="no room"):
        us.fit(folder / "people", schema, unit="a", ledger=folder / "3.db", **BUDGET)
    assert not charged(folder / "3.db")


@pytest.mark.parametrize("memory", [0, 5, -1, True, 1.5e9])
def test_too_little_memory_is_refused_before_anything_is_charged(folder: Path, memory: int) -> None:
    with pytest.raises(ParameterError, match="memory"):
        us.fit(folder / "people", ledger=folder / "ledger.db", memory=memory, **BUDGET)
    assert not charged(folder / "ledger.db")


KILLED = """
import os, signal, sys
import understudy as us
from understudy.data import Streamed
from understudy.domain import Schema
real, calls = Streamed.count, []
def count(self, cliques):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # the question was charged, its answer not yet drawn
    return real(self, cliques)
Streamed.count = count
us.fit(sys.argv[1], Schema.load(sys.argv[2]), epsilon=2.0, delta=1e-6, ledger=sys.argv[3])
"""


def test_a_run_killed_after_a_charge_goes_on_without_paying_twice(folder: Path) -> None:
    (folder / "people.toml").write_text(COMPLETE)
    data, schema, ledger = folder / "people", folder / "people.toml", folder / "ledger.db"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(data), str(schema), str(ledger)], check=False)
    assert ended.returncode == -signal.SIGKILL
    release = us.fit(data, schema, ledger=ledger, **BUDGET)
    account = Ledger(ledger).account("people")
    assert len(account.jobs) == 1
    assert release.verify().epsilon <= 2.0
    again = us.fit(data, schema, ledger=ledger, **BUDGET)  # every answer is stored: nothing is drawn
    for one, other in zip(release.measurements, again.measurements, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    assert len(Ledger(ledger).account("people").jobs) == 1


@pytest.mark.parametrize("described", [COMPLETE, LEARNED], ids=["complete", "learned"])
@pytest.mark.parametrize(
    "mechanism", [MST(), Independent(), Fixed([("a", "b")]), MST({("a", "b", "c"): 1.0})]
)
def test_the_plan_says_how_often_the_source_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, described: str, mechanism: us.Mechanism
) -> None:
    scans = []
    real = FileSet.scan

    def scan(
        self: FileSet, columns: Sequence[str], types: Mapping[str, pa.DataType]
    ) -> Iterator[pa.RecordBatch]:
        scans.append(1)
        return real(self, columns, types)

    blocks = []
    from understudy.data.engines.code_cache import CodeCache

    real_blocks = CodeCache.blocks
    monkeypatch.setattr(FileSet, "scan", scan)
    monkeypatch.setattr(CodeCache, "blocks", lambda *given: (blocks.append(1), real_blocks(*given))[1])
    schema = Schema.from_toml(described)
    us.fit(folder / "people", schema, mechanism=mechanism, source=Seeded(3), ledger=folder / "l.db", **BUDGET)
    said = forecast(schema, mechanism, Budget(**BUDGET), rows=3600).scans
    assert len(scans) == said.source
    assert len(blocks) <= said.codes
    assert said.codes <= 2 and said.cache_bytes == 3600 * 3


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("people.csv", "people"),
        ("data/people.csv.gz", "people"),
        ("parquet:data/people/", "people"),
        ("csv:people.csv", "people"),
        ("data/people/*.parquet", "people"),
        ("data/people/*/part-?.parquet", "people"),
        ("duckdb:town.db?table=people", "people"),
        ("duckdb:town.db?table=main.people", "people"),
        ("duckdb:people.db?query=SELECT 1", "people"),
        ("duckdb:?query=SELECT 1", None),
        ("spark:people", "people"),
        ("spark:town.people", "people"),
        ("spark:town.`people`", "people"),
        ("spark:parquet.`/data/people`", "people"),
        ("spark:parquet:data/people/", "people"),
        ("postgresql://reader:secret@server/town#census.people", "people"),
    ],
)
def test_a_table_has_one_name_in_the_ledger_wherever_it_lies(address: str, name: str | None) -> None:
    assert name_of(address) == name


def test_a_query_without_a_name_can_be_fitted(tmp_path: Path) -> None:
    query = "duckdb:?query=SELECT range % 3 AS a, range % 2 AS b FROM range(500)"
    release = us.fit(query, source=Seeded(0), ledger=tmp_path / "l.db", **BUDGET)
    assert set(release.schema.columns) == {"a", "b"}


# --- samples in parts --------------------------------------------------------------------------------------


@pytest.fixture(name="release")
def _release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    monkeypatch.setattr("understudy.pipeline.drawing.sample_folder.PART_ROWS", 100)
    schema = Schema.from_toml(COMPLETE)
    return us.fit(folder / "people", schema, source=Seeded(1), ledger=folder / "l.db", **BUDGET)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_interrupted_sample_goes_on_to_the_same_records(release: Release, tmp_path: Path) -> None:
    assert sample_to_folder(release, tmp_path / "whole", 1050, seed=5) == 1050
    assert len(contents(tmp_path / "whole")) == 11 + 1
    shutil.copytree(tmp_path / "whole", tmp_path / "begun")
    (tmp_path / "begun" / "part-000003.parquet").unlink()
    (tmp_path / "begun" / "part-000010.parquet").write_bytes(b"cut off")
    drawn = []
    real = Release.draw
    Release.draw = lambda *given, **more: (drawn.append(1), real(*given, **more))[1]  # type: ignore[method-assign]
    try:
        sample_to_folder(release, tmp_path / "begun", 1050, seed=5)
    finally:
        Release.draw = real  # type: ignore[method-assign]
    assert len(drawn) == 2
    assert contents(tmp_path / "begun") == contents(tmp_path / "whole")
    assert pq.read_table(tmp_path / "whole").num_rows == 1050


def test_a_sample_without_a_seed_goes_on_with_the_one_it_began_with(release: Release, tmp_path: Path) -> None:
    sample_to_folder(release, tmp_path / "s", 250)
    before = contents(tmp_path / "s")
    (tmp_path / "s" / "part-000001.parquet").unlink()
    sample_to_folder(release, tmp_path / "s", 250)
    assert contents(tmp_path / "s") == before


def test_two_samples_are_never_mixed_in_one_folder(release: Release, tmp_path: Path) -> None:
    sample_to_folder(release, tmp_path / "s", 150, seed=1)
    for rows, seed in ((151, 1), (150, 2)):
        with pytest.raises(ParameterError, match="another sample"):
            sample_to_folder(release, tmp_path / "s", rows, seed=seed)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match="other files"):
        sample_to_folder(release, tmp_path / "other", 10)
    (tmp_path / "s" / MANIFEST).write_text("{}")
    with pytest.raises(FileError, match="cannot be read"):
        sample_to_folder(release, tmp_path / "s", 150, seed=1)


def test_the_whole_of_many_parts_matches_the_field(release: Release, tmp_path: Path) -> None:
    sample_to_folder(release, tmp_path / "s", 20_000, seed=3)
    found = us.table(tmp_path / "s", release.schema).count([("a", "b")])[0].counts
    wanted = release.marginal(("a", "b")).counts
    wanted = wanted / wanted.sum() * 20_000
    assert np.abs(found - wanted).max() < 6 * np.sqrt(200)  # 200 parts, each off by a record or so a cell


def test_what_a_killed_run_left_unfinished_goes_and_two_runs_never_share_a_folder(
    release: Release, tmp_path: Path
) -> None:
    from understudy.data.scratch import locked

    sample_to_folder(release, tmp_path / "s", 150, seed=1)
    (tmp_path / "s" / ".part-000001.parquet.abc.part").write_bytes(b"half")
    handle = locked(tmp_path / "s" / MANIFEST)
    assert handle is not None
    with pytest.raises(OperatorError, match="another process"):
        sample_to_folder(release, tmp_path / "s", 150, seed=1)
    os.close(handle)
    sample_to_folder(release, tmp_path / "s", 150, seed=1)
    assert sorted(contents(tmp_path / "s")) == [MANIFEST, "part-000000.parquet", "part-000001.parquet"]


def test_no_records_are_still_a_table(release: Release, tmp_path: Path) -> None:
    sample_to_folder(release, tmp_path / "s", 0)
    assert pq.read_table(tmp_path / "s").column_names == ["a", "b", "c"]


def test_a_draft_of_streamed_data_is_that_of_the_file(folder: Path) -> None:
    from understudy.data import write
    from understudy.pipeline.draft import draft_schema

    write(pq.read_table(folder / "people"), folder / "people.csv")
    wanted = draft_schema(folder / "people.csv").to_toml()
    assert draft_schema(folder / "people").to_toml() == wanted
    assert draft_schema(f"csv:{folder}/people.csv").to_toml() == wanted
