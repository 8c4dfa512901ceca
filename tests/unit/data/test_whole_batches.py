"""Small batches are joined, so that row groups of a hundred records cost what larger ones do; no record is lost."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from understudy.data.files.raw_file import open_raw
from understudy.data.files.text import text_file
from understudy.data.whole_batches import whole_batches

TYPES = pa.schema([("n", pa.int64()), ("t", pa.dictionary(pa.int32(), pa.string()))])


def batch(numbers: list[int], schema: pa.Schema = TYPES) -> pa.RecordBatch:
    texts = pa.array([f"t{n % 5}" for n in numbers]).dictionary_encode()
    return pa.record_batch([pa.array(numbers), texts.cast(schema.field("t").type)], schema=schema)


def shown(batches: list[pa.RecordBatch]) -> list[tuple[int, str]]:
    return [(row["n"], row["t"]) for part in batches for row in part.to_pylist()]


def test_small_batches_are_joined_in_order_and_large_ones_stay() -> None:
    given = [batch([i]) for i in range(25)] + [batch(list(range(100, 150)))] + [batch([7]), batch([8])]
    found = list(whole_batches(given, least=10))
    assert [part.num_rows for part in found] == [10, 10, 5, 50, 2]
    assert shown(found) == shown(given)
    assert found[3] is given[25]


def test_batches_of_other_types_and_dictionaries_that_do_not_join_come_as_they_are() -> None:
    other = pa.schema([("n", pa.int64()), ("t", pa.string())])
    given = [batch([1]), batch([2], other), batch([3], other)]
    assert [part.num_rows for part in whole_batches(given)] == [1, 2]
    narrow = pa.dictionary(pa.int8(), pa.string())
    full = [
        pa.record_batch([pa.array([f"{i} {k}" for k in range(100)]).dictionary_encode().cast(narrow)], ["t"])
        for i in range(2)
    ]
    assert sum(part.num_rows for part in whole_batches(full)) == 200
    assert list(whole_batches([])) == []


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="the system lets go of mapped pages by itself")
def test_the_pages_of_a_text_file_are_let_go_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 1 << 20)
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "\n".join(map(str, np.arange(2_000_000))) + "\n")
    file = text_file.TextFile(open_raw(path), None)
    held = mapped(path)
    rows = most = 0
    for part in file.scan(["age"], {"age": pa.int64()}):
        rows += part.num_rows
        most = max(most, mapped(path))
    assert rows == 2_000_000
    assert most - held < 6 << 20  # of 15 MB


def mapped(path: Path) -> int:
    """How many bytes of a mapped file are in memory."""
    lines = Path("/proc/self/smaps").read_text().splitlines() if Path("/proc/self/smaps").exists() else []
    places = [i for i, line in enumerate(lines) if line.endswith(str(path))]
    return sum(
        int(line.split()[1]) << 10 for i in places for line in lines[i : i + 5] if line.startswith("Rss:")
    )
