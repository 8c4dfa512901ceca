"""Files that are read in pieces: cut between records alone, and refused by their types before any record is read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

from understudy.data import write
from understudy.data.files.file_set import FileSet
from understudy.data.files.text import text_file
from understudy.errors import FileError


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "with a byte-order mark"])
def test_a_file_whose_first_cell_is_quoted_is_cut_between_records(tmp_path, monkeypatch, start):
    """A quoted line break is no end of a record, from the very first byte on."""
    monkeypatch.setattr(text_file, "PIECE", 64)
    cells = [f"{number}\n{number % 7}" for number in range(400)]
    lines = "\n".join(f'"{cell}","x"' for cell in cells)
    (tmp_path / "people.csv").write_text(f'{start}"person","b"\n{lines}\n', encoding="utf-8")
    found = FileSet.open(str(tmp_path / "people.csv"), kind="CSV")
    batches = list(found.scan(["person", "b"], {"person": pa.string(), "b": pa.string()}))
    assert len(batches) > 1, "the file was read in one piece"
    assert [cell for batch in batches for cell in batch.column("person").to_pylist()] == cells


@pytest.mark.parametrize("name", ["people.arrow", "people.parquet"])
def test_a_file_of_lists_is_refused_when_it_is_opened(tmp_path, name):
    table = pa.table({"a": [[1, 2], [3]]})
    if name.endswith("arrow"):
        with pa.ipc.new_file(str(tmp_path / name), table.schema) as file:
            file.write_table(table)
    else:
        pa.parquet.write_table(table, tmp_path / name)
    with pytest.raises(FileError, match="one plain value a cell"):
        FileSet.open(str(tmp_path / name))


def test_a_set_of_text_and_typed_files_has_the_types_of_the_typed(tmp_path):
    """Only where every file is text is there a type to be learned."""
    for name in ("one.csv", "two.csv"):
        write(pa.table({"a": [1, 2]}), tmp_path / name)
    assert FileSet.open(str(tmp_path / "*.csv")).untyped == {"a"}
    write(pa.table({"a": [1, 2]}), tmp_path / "three.parquet")
    assert FileSet.open(str(tmp_path)).untyped == frozenset()
