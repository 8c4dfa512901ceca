"""A text file of any dialect reads as the plain one, whole and in pieces, and what is written reads back."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from understudy.data import read, write
from understudy.data.files.file_set import FileSet
from understudy.data.files.raw_file import open_raw
from understudy.data.files.text import text_file
from understudy.data.files.text.header_line import layout_of
from understudy.data.files.text.seen_dialect import seen_dialect
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, SchemaError

NAMES = ["Stadt", "Höhe, m", "n"]
ROWS = [
    ["Köln", "1,5", "12"],
    ['say "x"', "a;b|c\td", "-3"],
    ["two\nlines", "", "0"],
    ["", "é", ""],
    ["München", "plain", "7"],
]
WANTED = {name: [row[place] or None for row in ROWS * 30] for place, name in enumerate(NAMES)}
QUOTING = {"needed": csv.QUOTE_MINIMAL, "texts": csv.QUOTE_NONNUMERIC, "all": csv.QUOTE_ALL}


def put(path: Path, dialect: Dialect, mark: str = "") -> Path:
    """The table above, written by the standard library."""
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=dialect.delimiter or ",",
        quoting=QUOTING[dialect.quoting or "needed"],  # type: ignore[arg-type]
        lineterminator=dialect.line_end or "\n",
    )
    writer.writerow(NAMES)
    writer.writerows([[*row[:2], int(row[2]) if row[2] else ""] for row in ROWS * 30])
    content = (mark + text.getvalue()).encode(dialect.encoding or "utf-8")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


DIALECTS = [
    Dialect(),
    Dialect(";", "latin-1", "needed", "\r\n"),
    Dialect("\t", "cp1252", "all", "\n"),
    Dialect("|", "utf-16-le", "texts", "\r\n"),
    Dialect(";", "utf-16-be", "all", "\r"),
    Dialect(",", "utf-8-sig", "all", "\r\n"),
    Dialect(";", "utf-32-le", "needed", "\n"),
    Dialect("|", "mac-roman", "texts", "\n"),
]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_a_file_of_any_dialect_reads_alike_whole_and_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect, name: str
) -> None:
    mark = "\ufeff" if "16" in str(dialect.encoding) or "32" in str(dialect.encoding) else ""
    path = put(tmp_path / name, dialect, mark)
    known = dialect if dialect.encoding in ("latin-1", "cp1252", "mac-roman") else None
    assert read(path, rest=pa.string(), dialect=known).to_pydict() == WANTED
    monkeypatch.setattr(text_file, "PIECE", 64)
    files = FileSet.open(str(path), dialect=known)
    batches = [batch for batch in files.scan(NAMES, {})]
    assert len(batches) > 10
    assert pa.Table.from_batches(batches).to_pydict() == WANTED
    told = files.dialect
    assert told is not None and (told.delimiter, told.line_end) == (
        dialect.delimiter or ",",
        dialect.line_end or "\n",
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_what_is_written_in_a_dialect_reads_back_and_shows_it(tmp_path: Path, dialect: Dialect) -> None:
    table = pa.table({**WANTED, "n": [None if n is None else int(n) for n in WANTED["n"]]})
    write(table, tmp_path / "t.csv", dialect=dialect)
    assert read(tmp_path / "t.csv", rest=pa.string(), dialect=dialect).to_pydict() == WANTED
    seen = seen_dialect(open_raw(tmp_path / "t.csv"))
    expected = Dialect(*dialect.to_dict().values()) if dialect.to_dict() else dialect
    if dialect.encoding == "mac-roman":  # one of many that bytes alone do not tell apart
        seen, expected = Dialect(seen.delimiter, None, seen.quoting), Dialect("|", None, "texts")
    if dialect.encoding == "cp1252":  # as latin-1, where none of its own characters occurs
        expected = Dialect(dialect.delimiter, "latin-1", dialect.quoting)
    usual = {"delimiter": ",", "quoting": "needed", "line_end": "\n"}
    assert seen.to_dict() == {k: v for k, v in expected.to_dict().items() if v != usual.get(k)}


def test_only_cells_that_need_quotes_get_them(tmp_path: Path) -> None:
    write(
        pa.table({"a": ["x", "y;z", None, ""], "b": [1, 2, 3, 4]}), tmp_path / "t.csv", dialect=Dialect(";")
    )
    assert (tmp_path / "t.csv").read_text() == 'a;b\nx;1\n"y;z";2\n;3\n"";4\n'


def test_numbers_written_as_texts_stay_without_quotes_where_only_texts_have_them(tmp_path: Path) -> None:
    from understudy.data import Writer

    with Writer(tmp_path / "t.csv", dialect=Dialect(";", quoting="texts"), numbers={"x"}) as file:
        file.write(pa.table({"x": ["1,5", None], "s": ["a", None]}))
    assert (tmp_path / "t.csv").read_text() == '"x";"s"\n1,5;"a"\n;\n'


def test_a_missing_text_stands_without_quotes_among_texts_that_have_them(tmp_path: Path) -> None:
    table = pa.table({"s": ["a", None], "b": [True, None]})
    write(table, tmp_path / "t.csv", dialect=Dialect(quoting="texts"), missing={"s": "NA", "b": "a,b"})
    assert (tmp_path / "t.csv").read_text() == '"s","b"\n"a",true\nNA,"a,b"\n'


def test_a_line_that_says_what_separates_the_fields_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\ufeffsep=;\r\na,b;c\r\n1,5;x\r\n2;y\r\n")
    wanted = {"a,b": ["1,5", "2"], "c": ["x", "y"]}
    assert read(path, rest=pa.string()).to_pydict() == wanted
    assert pa.Table.from_batches(FileSet.open(str(path)).scan(["a,b", "c"], {})).to_pydict() == wanted
    assert seen_dialect(open_raw(path)).delimiter == ";"
    path.write_text("sep=;\na;b\n1;2\n1;2;3\n")
    with pytest.raises(FileError, match="line 4"):
        read(path)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_empty_lines_before_the_header_make_no_record_of_it(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(ends.join(["", "", "a,b", "1,x", "", "2,y", ""]).encode())
    wanted = {"a": ["1", "2"], "b": ["x", "y"]}
    assert read(path, rest=pa.string()).to_pydict() == wanted
    assert pa.Table.from_batches(FileSet.open(str(path)).scan(["a", "b"], {})).to_pydict() == wanted


def test_a_character_that_an_encoding_lacks_never_stops_a_file(tmp_path: Path) -> None:
    write(pa.table({"a": ["日本", "Köln"]}), tmp_path / "t.csv", dialect=Dialect(encoding="latin-1"))
    assert (tmp_path / "t.csv").read_bytes() == "a\n??\nKöln\n".encode("latin-1")


def test_quotes_are_plain_characters_where_none_is_used(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('size\tn\n"5 inch\t1\n5" pipe\t2\n')
    assert seen_dialect(open_raw(path)) == Dialect(quoting="none")
    known = Dialect(quoting="none")
    table = read(path, rest=pa.string(), dialect=known)
    assert table.to_pydict() == {"size": ['"5 inch', '5" pipe'], "n": ["1", "2"]}
    files = FileSet.open(str(path), dialect=known)
    assert pa.Table.from_batches(files.scan(["size", "n"], {})).to_pydict() == table.to_pydict()
    write(table, tmp_path / "again.tsv", dialect=known)
    assert (tmp_path / "again.tsv").read_text() == path.read_text()


ODD = [
    (Dialect(quote="'"), {"quotechar": "'"}),
    (Dialect(quoting="all", quote="'"), {"quotechar": "'", "quoting": csv.QUOTE_ALL}),
    (Dialect(escape="\\"), {"escapechar": "\\", "doublequote": False}),
    (
        Dialect(";", quoting="all", escape="\\"),
        {"escapechar": "\\", "doublequote": False, "quoting": csv.QUOTE_ALL},
    ),
    (Dialect(quoting="none", escape="\\"), {"escapechar": "\\", "quoting": csv.QUOTE_NONE}),
]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize(("dialect", "how"), ODD, ids=str)
def test_other_quotes_and_escapes_are_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect, how: dict[str, Any], encoding: str
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 64)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=dialect.delimiter or ",", lineterminator="\n", **how).writerows(
        [["s", "Höhe"], *([*row[:1], row[1].replace(";", ",") + "'"] for row in ROWS * 30)]
    )
    path = tmp_path / "t.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    seen = seen_dialect(open_raw(path))
    assert seen == Dialect(**dialect.to_dict(), encoding=None if encoding == "utf-8" else encoding)
    wanted = {"s": WANTED["Stadt"], "Höhe": [row[1].replace(";", ",") + "'" for row in ROWS * 30]}
    table = read(path, rest=pa.string(), dialect=seen)
    assert table.to_pydict() == wanted
    files = FileSet.open(str(path), dialect=seen)
    assert pa.Table.from_batches(files.scan(["s", "Höhe"], {})).to_pydict() == wanted
    write(table, tmp_path / "again.csv", dialect=seen)
    assert read(tmp_path / "again.csv", rest=pa.string(), dialect=seen).to_pydict() == wanted


def test_a_quote_that_never_closes_is_a_fault_also_where_it_is_a_single_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("'a','b'\n'x','y'\n'canary,2\n3,4\n")
    with pytest.raises(FileError, match="quote") as caught:
        read(tmp_path / "t.csv")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("record", ["1;2;3,4,5", '"1,2,3"', "a|b|c|d", "x\ty\tz"])
def test_no_record_changes_the_delimiter_that_a_run_goes_by(tmp_path: Path, record: str) -> None:
    def told(*records: str) -> Any:
        (tmp_path / "t.csv").write_text("\n".join(["a;b, c", *records]) + "\n")
        return layout_of(open_raw(tmp_path / "t.csv"))

    alone, beside = told("1;2"), told(*[record] * 60)
    assert (alone.dialect, alone.names) == (beside.dialect, beside.names)
    assert alone.dialect.delimiter == ";"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16-le", "gbk", "ascii"])
def test_no_byte_of_a_cell_raises_or_changes_another_cell_under_a_declared_encoding(
    tmp_path: Path, encoding: str
) -> None:
    bad = {"utf-16-le": b"\x00\xd8"}.get(encoding, b"\x81\xff\x00\xc3")
    parts = ["a,b\nx,1\n", ",2\ny,3\n"]
    content = parts[0].encode(encoding) + bad + parts[1].encode(encoding)
    (tmp_path / "t.csv").write_bytes(content)
    known = Dialect(encoding=encoding)
    table = read(tmp_path / "t.csv", rest=pa.string(), dialect=known)
    assert table["b"].to_pylist() == ["1", "2", "3"]
    first, cell, last = table["a"].to_pylist()
    assert (first, last) == ("x", "y") and "\ufffd" in cell
    files = FileSet.open(str(tmp_path / "t.csv"), dialect=known)
    assert pa.Table.from_batches(files.scan(["a", "b"], {})).to_pydict() == table.to_pydict()


def test_text_that_is_not_utf8_is_refused_with_the_way_out_where_nothing_is_declared(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("a\nKöln\n".encode("latin-1"))
    with pytest.raises(FileError, match='encoding = "latin-1"'):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "said",
    [
        {"delimiter": "::"},
        {"delimiter": '"'},
        {"delimiter": "§"},
        {"encoding": "klingon"},
        {"encoding": "utf-7"},
        {"encoding": "iso2022_jp"},
        {"encoding": "rot13"},
        {"quoting": "some"},
        {"line_end": "\n\n"},
        {"encoding": 5},
    ],
    ids=str,
)
def test_what_no_text_file_is_written_in_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        Dialect(**said)
