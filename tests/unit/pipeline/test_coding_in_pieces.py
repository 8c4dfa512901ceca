"""Codes of a table in memory are the same whether it is coded whole or in pieces."""

from __future__ import annotations

import pyarrow as pa
import pytest

from understudy.domain import Category, Integer, Schema
from understudy.pipeline.sources import in_memory

SCHEMA = Schema({"city": Category(("x", "y"), missing=True), "age": Integer(0, 99)}, name="people")


@pytest.mark.parametrize("chunks", [1, 3])
def test_pieces_give_the_codes_of_the_whole(chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    part = pa.table({"age": [5, 0, 99, 41], "city": ["x", None, "y", "x"], "other": [1, 2, 3, 4]})
    records = in_memory.InMemory(pa.concat_tables([part] * chunks))
    whole = records.encode(SCHEMA).columns
    monkeypatch.setattr(in_memory, "PIECE", 3)
    pieces = records.encode(SCHEMA).columns
    for name in SCHEMA.columns:
        assert pieces[name].tolist() == whole[name].tolist() and pieces[name].dtype == whole[name].dtype
