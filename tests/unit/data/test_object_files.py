"""JSON lines and Excel sheets: every cell read by itself, and back in the form it came."""

from __future__ import annotations

import gzip
import json
import sys
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import understudy as us
from understudy.data import read, write
from understudy.data.files.file_set import FileSet
from understudy.errors import FileError, ParameterError, SizeError
from understudy.privacy import Seeded

openpyxl = pytest.importorskip("openpyxl")


def book(path: Path, rows: list[list[Any]], *others: str) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for name in others:
        made.create_sheet(name).append(["else"])
    made.save(path)
    return path


def lines(path: Path, *records: Any) -> Path:
    content = "".join(
        (record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records
    )
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


CELLS = [
    ("x", "x"),
    ("", None),
    (None, None),
    (True, "true"),
    (3, "3"),
    (3.0, "3"),
    (2.5, "2.5"),
    ("00501", "00501"),
    ("=1+1", "=1+1"),
]


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson.gz"])
def test_a_cell_of_json_lines_reads_as_its_own_text(tmp_path: Path, name: str) -> None:
    odd = [([1], None), ({"a": 1}, None), (10**30, str(10**30)), ("\ud800", "?")]
    path = lines(
        tmp_path / name, *({"a": cell, "b": 1} for cell, _ in [*CELLS, *odd]), "", {"b": 2}, '{"a": NaN}'
    )
    wanted = [text for _, text in [*CELLS, *odd]] + [None, None]
    assert read(path, names=["a"]).to_pydict() == {"a": wanted}
    files = FileSet.open(str(path), names=["a", "b", "absent"])
    table = pa.Table.from_batches(files.scan(["absent", "a"], {}))
    assert table.to_pydict() == {"absent": [None] * len(wanted), "a": wanted}


def test_a_cell_of_a_sheet_reads_as_its_own_text(tmp_path: Path) -> None:
    odd: list[tuple[Any, str | None]] = [
        (date(2021, 2, 3), "2021-02-03"),
        (datetime(2021, 2, 3, 4, 5), "2021-02-03 04:05:00"),
        (time(8, 30), "08:30:00"),
        ("#N/A", None),
    ]
    cells = [cell for cell in [*CELLS, *odd] if cell[0] != "=1+1"]
    rows = [["a", "b", None], *([value, 1] for value, _ in cells), [None, None], [None, 2, "beyond"]]
    path = book(tmp_path / "t.xlsx", rows, "second")
    wanted = [text for _, text in cells] + [None]
    assert read(path, columns=["a"]).to_pydict() == {"a": wanted}
    assert pa.Table.from_batches(FileSet.open(str(path)).scan(["a"], {})).to_pydict() == {"a": wanted}
    assert read(path).column_names == ["a", "b"]


TABLE = pa.table(
    {
        "n": pa.array([1, None, -3]),
        "x": pa.array([1.5, None, float("nan")]),
        "text": ["=HYPERLINK(1)", None, "#N/A and a\x07 bell"],
        "ok": [True, None, False],
        "day": [date(2021, 2, 3), None, date(1899, 1, 2)],
        "at": [datetime(2021, 2, 3, 4, 5), None, datetime(2022, 1, 1, 1)],
    }
)


def test_a_sheet_that_is_written_holds_values_and_no_formulas(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "t.xlsx", missing={"n": "N"})
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    header, first, second, third = sheet.iter_rows(values_only=True)
    assert list(header) == TABLE.column_names
    assert first == (1, 1.5, "=HYPERLINK(1)", True, datetime(2021, 2, 3), datetime(2021, 2, 3, 4, 5))
    assert second == ("N", None, None, None, None, None)
    assert third == (-3, None, "#N/A and a bell", False, "1899-01-02", datetime(2022, 1, 1, 1))
    assert sheet["C2"].data_type == "s"


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_json_lines_that_are_written_hold_values(tmp_path: Path, name: str) -> None:
    write(TABLE, tmp_path / name, missing={"n": "N"})
    raw = (tmp_path / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    first, second, third = map(json.loads, text.splitlines())
    assert first == {
        **{"n": 1, "x": 1.5, "text": "=HYPERLINK(1)", "ok": True},
        **{"day": "2021-02-03", "at": "2021-02-03T04:05:00"},
    }
    assert second == {"n": "N", "x": None, "text": None, "ok": None, "day": None, "at": None}
    assert third["x"] is None and third["text"] == "#N/A and a\x07 bell"


@pytest.mark.parametrize(
    ("line", "number"), [("canary", 2), ("[1]", 2), ('{"a": canary}', 2), ("[" * 100_000, 2), ('"a"', 2)]
)
def test_a_line_that_is_no_object_is_located_and_not_shown(tmp_path: Path, line: str, number: int) -> None:
    path = lines(tmp_path / "t.jsonl", {"a": 1}, line)
    with pytest.raises(FileError, match=f"line {number}") as caught:
        read(path, names=["a"])
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("content", [b"PK\x03\x04 no book", b"PK"])
def test_a_damaged_book_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        read(tmp_path / "t.xlsx")


def test_a_sheet_without_a_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no header"):
        read(book(tmp_path / "t.xlsx", [[None, None]]))


def test_more_records_than_a_sheet_has_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("understudy.data.files.spreadsheet.MOST_ROWS", 2)
    with pytest.raises(SizeError, match="room"):
        write(TABLE, tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())


def test_without_the_library_excel_files_say_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "t.xlsx", [["a"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for attempt in (lambda: read(path), lambda: write(TABLE, tmp_path / "u.xlsx")):
        with pytest.raises(ParameterError, match=r"understudy\[excel\]"):
            attempt()


def test_names_are_not_looked_for_in_private_records(tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", {"a": 1}, {"a": 2, "canary": 3})
    for data in (str(path), f"jsonl:{path}"):
        with pytest.raises(ParameterError, match="understudy schema") as caught:
            us.fit(data, epsilon=1.0, delta=1e-6, ledger=tmp_path / "l.db")
        assert "canary" not in str(caught.value)


@pytest.mark.parametrize("kind", ["jsonl", "xlsx"])
def test_a_table_comes_back_in_the_kind_of_file_that_it_came_in(tmp_path: Path, kind: str) -> None:
    records = [{"sex": "FM"[n % 2], "age": n % 40, "born": date(2000, 1 + n % 12, 3)} for n in range(300)]
    if kind == "xlsx":
        path = book(tmp_path / "p.xlsx", [list(records[0]), *(list(r.values()) for r in records)])
    else:
        path = lines(tmp_path / "p.jsonl", *({**r, "born": str(r["born"]), "tags": [1]} for r in records))
    schema = us.draft_schema(path)
    assert [column.type for column in schema.columns.values()] == ["category", "integer", "date"]
    assert ("hold lists or objects and not one plain value: tags" in schema.comment) == (kind == "jsonl")
    sources = [path, str(tmp_path / f"*.{kind}")]
    drawn = [
        us.fit(
            data,
            schema,
            epsilon=8.0,
            delta=1e-6,
            mechanism="independent",
            name="p",
            job=str(number),
            ledger=tmp_path / "l.db",
            source=Seeded(1),
        ).sample(50, seed=1)
        for number, data in enumerate(sources)
    ]
    assert drawn[0].equals(drawn[1])
    write(drawn[0], tmp_path / f"made.{kind}")
    made = read(tmp_path / f"made.{kind}")
    assert made.column_names == ["sex", "age", "born"]
    assert set(made["sex"].to_pylist()) <= {"F", "M", None}
