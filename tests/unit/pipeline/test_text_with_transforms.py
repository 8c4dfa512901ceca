"""A text file read with transforms: the schema says how, so that one record moves one count and no other."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from spark_session import session
from understudy.data.files.text import text_file
from understudy.domain import Category, Integer, Schema
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import open_records
from understudy.transforms.encode import reading_types
from understudy.transforms.split import Floor, Split

TRANSFORMS = (Split("wage", ("coarse", "digits")), Floor("value"))
SCHEMA = Schema(
    {
        "zip": Category(("00501", "02134", "10001")),
        "coarse": Integer(min=0, max=51, bins=52),
        "digits": Integer(min=0, max=7),
        "value": Integer(min=0, max=5002, bins=8),
        "age": Integer(min=0, max=3),
    },
    name="t",
)
CELLS = [
    f"{zip_},{i % 900},{i % 7 * 1000},{i % 4}" for zip_ in ("00501", "02134", "10001") for i in range(500)
]


def plain(lines: list[str], folder: Path) -> str:
    (folder / "t.csv").write_text("\n".join(["zip,wage,value,age", *lines]) + "\n")
    return str(folder / "t.csv")


def packed(lines: list[str], folder: Path) -> str:
    content = Path(plain(lines, folder)).read_bytes()
    (folder / "t.csv.gz").write_bytes(gzip.compress(content))
    return f"csv:{folder}/t.csv.gz"


KINDS: dict[str, Callable[[list[str], Path], str]] = {
    "in memory": plain,
    "streamed": lambda lines, folder: f"csv:{plain(lines, folder)}",
    "packed": packed,
    "spark": lambda lines, folder: session() and f"spark:csv:{plain(lines, folder)}",
}


def counts(kind: str, lines: list[str], folder: Path) -> dict[str, list[int]]:
    """Every column's counts of the coded records."""
    folder.mkdir()
    records = open_records(KINDS[kind](lines, folder), Reading(SCHEMA, None, TRANSFORMS))
    engine = records.encode(SCHEMA)
    return {m.clique[0]: m.counts.tolist() for m in engine.count([(name,) for name in SCHEMA.columns])}


@pytest.mark.parametrize("kind", KINDS)
def test_one_odd_record_moves_one_count_of_each_column(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 1000)
    before = counts(kind, CELLS, tmp_path / "before")
    after = counts(kind, [*CELLS, "x,x,x,x"], tmp_path / "after")
    assert before["zip"] == [500, 500, 500, 0] and after["zip"] == [500, 500, 500, 1]
    for name in SCHEMA.columns:
        assert sum(abs(a - b) for a, b in zip(before[name], after[name], strict=True)) == 1, name


def test_a_column_that_a_transform_reads_is_text_also_where_the_schema_describes_one_of_its_name() -> None:
    types = reading_types(SCHEMA, TRANSFORMS)
    assert types["value"] == types["wage"] == pa.string() and types["age"] == pa.float64()
