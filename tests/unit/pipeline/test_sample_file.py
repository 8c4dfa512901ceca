"""A sample that is written as it is drawn is the sample that is drawn, and a fault while drawing leaves no file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import understudy as us
from understudy.data import read
from understudy.pipeline.drawing import samples
from understudy.pipeline.drawing.sample_file import sample_to_file


@pytest.fixture
def release(tmp_path: Path) -> us.Release:
    schema = us.Schema({"a": us.Integer(-3, 6), "b": us.Category(("x", "y"))}, name="t")
    table = pa.table({"a": [k % 10 - 3 for k in range(400)], "b": ["xy"[k % 2] for k in range(400)]})
    return us.fit(table, schema, epsilon=1.0, delta=1e-9, mechanism="independent", ledger=tmp_path / "ledger")


def test_records_drawn_ahead_are_those_drawn_in_turn(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "CHUNK_VALUES", 200)  # a hundred records of two columns at once
    out = tmp_path / "out.parquet"
    assert sample_to_file(release, out, 350, seed=7) == 350
    assert read(out).equals(pa.concat_tables(release.sample_chunks(350, seed=7, chunk=100)))


def test_a_fault_while_records_are_drawn_ahead_leaves_no_file(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(self: Any, *given: Any, **settings: Any) -> Iterator[Any]:
        yield release.sample(10, seed=1)
        raise RuntimeError("no more")

    monkeypatch.setattr(us.Release, "sample_chunks", drawn)
    with pytest.raises(RuntimeError, match="no more"):
        sample_to_file(release, tmp_path / "out.csv", 20)
    assert not (tmp_path / "out.csv").exists()
