"""Faults of files: refused with the line, and with not a byte of what the file holds."""

import gzip
import os
import traceback
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.data import header, read
from understudy.data.files import raw_file
from understudy.data.files.table_file import ArrowTableFile
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, ParameterError, SizeError

CANARY = "canary7391"


def refused(path: Path, *says: str, **options: object) -> str:
    """The error's text, once it says what it should and shows nothing of the file."""
    with pytest.raises(FileError) as caught:
        read(path, **options)
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in shown
    for text in says:
        assert text in str(caught.value)
    return str(caught.value)


def put(folder: Path, content: bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"  \r\n "])
def test_an_empty_file_is_no_table(tmp_path: Path, content: bytes) -> None:
    refused(put(tmp_path, content), "is empty")


def test_a_missing_file_a_folder_and_an_odd_path_are_named(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere.csv", "nowhere.csv", "no file")
    refused(tmp_path, "is a folder")
    with pytest.raises(FileError):
        read("people\0.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_a_file_without_permission_cannot_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, b"a\n1\n")
    path.chmod(0)
    refused(path, "cannot be read")


@pytest.mark.parametrize("row", [f"{CANARY}", f"{CANARY},1,2,3", f'"{CANARY},1,2'])
def test_a_ragged_row_or_an_open_quote_is_located(tmp_path: Path, row: str) -> None:
    text = f"a,b,c\n1,2,3\n4,5,6\n{row}\n7,8,9\n"
    refused(put(tmp_path, text.encode()), "line 4")


def test_a_ragged_row_far_down_is_located_too(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n" * 400_000 + f"1,2,{CANARY}\n" + "1,2\n" * 10
    refused(put(tmp_path, text.encode()), "line 400,002", "3 fields where the header has 2")


def test_an_open_quote_far_down_is_located_at_its_beginning(tmp_path: Path) -> None:
    text = "a,b\n" + '1,"x"\n' * 300_000 + f'1,"{CANARY}\n' + "1,2\n" * 300_000
    refused(put(tmp_path, text.encode()), "line 300,002", "quote")


def test_text_after_a_closing_quote_is_not_guessed_at(tmp_path: Path) -> None:
    refused(put(tmp_path, f'a,b\n1,"x\n2,"{CANARY}\n'.encode()), "line 2", "quote")


def test_a_quote_in_the_header_that_never_closes_is_refused(tmp_path: Path) -> None:
    refused(put(tmp_path, f'a,"b{CANARY}\n1,2\n'.encode()), "line 1")


@pytest.mark.parametrize("types", [None, {"a": pa.int64()}, {"b": pa.string()}])
def test_nul_bytes_are_refused_with_their_line(tmp_path: Path, types: dict | None) -> None:
    refused(put(tmp_path, f"a,b\n1,2\n3,{CANARY}\0\n".encode()), "line 3", "NUL", types=types)


@pytest.mark.parametrize("types", [None, {"b": pa.string()}, {"b": pa.int64()}, {"b": pa.float64()}])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path, types: dict | None) -> None:
    rows = b"a,b\n" + b"1,2\n" * 3 + CANARY.encode("latin-1") + b",caf\xe9\n"
    refused(put(tmp_path, rows), "line 5", "UTF-8", types=types)


def test_text_that_stops_being_utf8_far_down_is_refused(tmp_path: Path) -> None:
    rows = b"a,b\n" + b"1,xyz\n" * 400_000 + b"1,caf\xe9\n"
    refused(put(tmp_path, rows), "line 400,002", "UTF-8")


def test_a_header_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    refused(put(tmp_path, b"a,caf\xe9\n1,2\n"), "line 1", "UTF-8")


def test_two_columns_of_one_name_are_told_by_place(tmp_path: Path) -> None:
    refused(put(tmp_path, f"{CANARY},b,{CANARY}\n1,2,3\n".encode()), "columns 1 and 3")


def test_a_column_that_the_file_lacks_is_named(tmp_path: Path) -> None:
    refused(put(tmp_path, f"{CANARY},b\n1,2\n".encode()), "'wage'", columns=["wage"])
    with pytest.raises(ParameterError):
        read(put(tmp_path, b"a,b\n1,2\n"), columns="a")


@pytest.mark.parametrize("bad", ["", ",,", '"', "\n", "é"])
def test_an_impossible_delimiter_is_refused(tmp_path: Path, bad: str) -> None:
    path = put(tmp_path, b"a,b\n1,2\n")
    with pytest.raises(ParameterError, match="delimiter"):
        read(path, dialect=Dialect(bad))


@pytest.mark.parametrize(
    "magic", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"]
)
def test_archives_and_spreadsheets_are_recognised(tmp_path: Path, magic: bytes) -> None:
    refused(put(tmp_path, magic + CANARY.encode() * 20, "people.csv"), "Hint")


def test_a_truncated_or_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(20_000)))
    refused(put(tmp_path, packed[: len(packed) // 2], "cut.csv.gz"), "truncated gzip")
    broken = bytearray(packed)
    broken[len(broken) // 2] ^= 255
    refused(put(tmp_path, bytes(broken), "broken.csv.gz"), "gzip")
    refused(put(tmp_path, b"a,b\n1,2\n", "plain.csv.gz"), "not the gzip file")
    refused(put(tmp_path, packed[:5], "stub.csv.gz"), "gzip")


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_file, "UNPACKED_FREELY", 4 << 20)
    path = put(tmp_path, gzip.compress(b"a,b\n" + b"1,1\n" * 4_000_000), "bomb.csv.gz")
    assert path.stat().st_size < 100_000
    refused(path, "unpacks to more than")
    assert read(path, allow_large=True).num_rows == 4_000_000


def test_an_honest_gzip_file_of_any_ratio_below_the_bound_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(b"a,b\n" + b"1,1\n" * 100_000), "small.csv.gz")
    assert read(path).num_rows == 100_000


@pytest.fixture
def parquet(tmp_path: Path) -> bytes:
    pq.write_table(pa.table({"a": [CANARY] * 50}), tmp_path / "whole.parquet")
    return (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_a_truncated_parquet_file_is_refused(tmp_path: Path, parquet: bytes, name: str) -> None:
    for keep in (4, 10, len(parquet) // 2, len(parquet) - 1):
        refused(put(tmp_path, parquet[:keep], name), "damaged")


def test_a_parquet_file_with_flipped_bytes_never_shows_them(tmp_path: Path, parquet: bytes) -> None:
    for place in range(4, len(parquet) - 8, 7):
        broken = bytearray(parquet)
        broken[place] ^= 0x55
        path = put(tmp_path, bytes(broken), "broken.parquet")
        shown = ""
        try:
            read(path)
        except (FileError, SizeError) as error:
            shown = "".join(traceback.format_exception(error))
        assert CANARY not in shown


def test_an_encrypted_parquet_file_is_recognised(tmp_path: Path, parquet: bytes) -> None:
    refused(put(tmp_path, b"PARE" + parquet[4:-4] + b"PARE", "x.parquet"), "encrypted")


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather", "x.arrows"])
def test_text_under_the_name_of_a_binary_format_is_refused(tmp_path: Path, name: str) -> None:
    refused(put(tmp_path, f"a,b\n{CANARY},2\n".encode(), name), "Hint")


@pytest.mark.parametrize("keep", [8, 30, 200])
def test_a_truncated_arrow_file_is_refused(tmp_path: Path, keep: int) -> None:
    table = pa.table({"a": [CANARY] * 50})
    for name, opener in (("x.arrow", pa.ipc.new_file), ("x.arrows", pa.ipc.new_stream)):
        with opener(str(tmp_path / "whole"), table.schema) as sink:
            sink.write_table(table)
        refused(put(tmp_path, (tmp_path / "whole").read_bytes()[:keep], name), "damaged")


@pytest.mark.parametrize("needed", [None, ()])
def test_an_arrow_file_whose_columns_have_no_name_in_utf8_is_refused(
    tmp_path: Path, needed: tuple[str, ...] | None
) -> None:
    table = pa.table({"column": [1, 2], "other": [CANARY, "b"]})
    for name, opener in (("x.arrow", pa.ipc.new_file), ("x.arrows", pa.ipc.new_stream)):
        with opener(str(tmp_path / "whole"), table.schema) as sink:
            sink.write_table(table)
        damaged = (tmp_path / "whole").read_bytes().replace(b"column", b"col\xeemn")
        refused(put(tmp_path, damaged, name), "damaged", needed=needed)
        with pytest.raises(FileError, match="damaged"):
            ArrowTableFile(raw_file.open_raw(str(tmp_path / name)), needed)


MANY_VALUES = {
    "list": [[1, 2], [3]],
    "struct": [{"x": CANARY}, {"x": "b"}],
    "bytes": [CANARY.encode(), b"\xff"],
}


@pytest.mark.parametrize("values", MANY_VALUES.values(), ids=MANY_VALUES)
def test_cells_that_hold_more_than_a_value_are_refused(tmp_path: Path, values: list) -> None:
    table = pa.table({"fine": [1, 2], "nested": values})
    pq.write_table(table, tmp_path / "x.parquet")
    refused(tmp_path / "x.parquet", "'nested'")
    with pytest.raises(ParameterError, match="'nested'"):
        read(table)


def test_a_parquet_file_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "x.parquet")
    refused(tmp_path / "x.parquet", "two columns named 'a'")
    with pytest.raises(ParameterError, match="two columns named 'a'"):
        read(table)


def test_a_small_file_that_declares_billions_of_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    ones = pa.table({f"c{i}": pa.array([0] * 100_000, pa.int8()) for i in range(4)})
    with pq.ParquetWriter(path, ones.schema) as writer:
        for _ in range(3):
            writer.write_table(ones)
    from understudy.data.files import reading

    before, reading.MOST_CELLS = reading.MOST_CELLS, 1_000_000
    try:
        with pytest.raises(SizeError, match="300,000 records"):
            read(path)
    finally:
        reading.MOST_CELLS = before


def test_a_header_alone_is_checked_like_the_whole(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="columns 1 and 2"):
        header(put(tmp_path, b"a,a\n1,2\n"))
    with pytest.raises(FileError, match="is empty"):
        header(put(tmp_path, b""))


@pytest.mark.parametrize("way", ["{}/a.parquet", "parquet:{}/a.parquet", "{}/b.arrow", "{}"])
def test_lists_and_bytes_that_the_schema_leaves_out_do_not_refuse_a_file(tmp_path: Path, way: str) -> None:
    made = pa.table({"sex": ["F", "M"], "tags": [["a"], []], "photo": pa.array([b"\0", b"\1"])})
    folder = tmp_path / "people"
    folder.mkdir()
    if way.endswith("arrow"):
        with pa.OSFile(str(folder / "b.arrow"), "wb") as file, pa.ipc.new_file(file, made.schema) as out:
            out.write_table(made)
    else:
        pq.write_table(made, folder / "a.parquet")
    data = way.format(folder)
    known = us.Schema({"sex": us.Category(("F", "M"))}, name="people")
    assert us.table(data, known).count([("sex",)])[0].counts.sum() == 2
    assert list(us.draft_schema(data).columns) == ["sex"]
    with pytest.raises(
        us.UnderstudyError, match="'tags'"
    ):  # without a schema nobody said that it is left out
        us.fit(data, epsilon=1, delta=1e-9, ledger=tmp_path / "ledger.db")
    with pytest.raises(us.UnderstudyError, match="'tags'"):
        us.table(data, us.Schema({"tags": us.Category(("a",))}))
