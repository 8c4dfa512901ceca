"""Tables of every kind come in as the same table."""

import gzip
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from understudy.data import header, read, write
from understudy.data.files.text import delimited
from understudy.domain.dialect import Dialect


def put(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_any_delimiter_and_line_end_is_found(tmp_path: Path, delimiter: str, end: str, last: bool) -> None:
    rows = [["age", "city"], ["3", "x"], ["4", '"y z"']]
    text = end.join(delimiter.join(row) for row in rows) + end * last
    assert read(put(tmp_path, text)).to_pydict() == {"age": [3, 4], "city": ["x", "y z"]}


def test_a_delimiter_of_any_kind_can_be_named(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a:b\n1:2\n"), dialect=Dialect(":")).to_pydict() == {"a": [1], "b": [2]}


def test_the_delimiter_that_fits_every_row_wins_over_the_commoner_one(tmp_path: Path) -> None:
    text = "name;wage, gross, net;x\n" + "a;1,5;2\n" * 3
    assert read(put(tmp_path, text)).column_names == ["name", "wage, gross, net", "x"]


def test_quoted_fields_may_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    text = 'a,b\n"x, y","he said ""no"""\n"two\nlines",5" pipe\n'
    assert read(put(tmp_path, text)).to_pydict() == {
        "a": ["x, y", "two\nlines"],
        "b": ['he said "no"', '5" pipe'],
    }


def test_quoted_line_ends_survive_the_edges_of_blocks(tmp_path: Path) -> None:
    text = "a,b\n" + 'x,"one\ntwo\nthree"\n' * 200_000
    table = read(put(tmp_path, text))
    assert table.num_rows == 200_000
    assert set(table["b"].to_pylist()) == {"one\ntwo\nthree"}


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path: Path) -> None:
    path = put(tmp_path, b'\xef\xbb\xbf"a",b\n1,2\n')
    assert read(path).column_names == ["a", "b"]
    assert header(path).names == ["a", "b"]


def test_a_gzipped_file_reads_like_the_plain_one_whatever_its_name(tmp_path: Path) -> None:
    for name in ("x.csv.gz", "x.csv"):
        path = put(tmp_path, gzip.compress(b"a,b\n1,") + gzip.compress(b"2\n"), name)
        assert read(path).to_pydict() == {"a": [1], "b": [2]}
        assert header(path).names == ["a", "b"]


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\r\n", "\ufeffa,b"])
def test_a_header_without_records_is_a_table_without_records(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text)
    table = read(path, types={"a": pa.int64()})
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])
    assert table.schema.field("a").type == pa.int64()
    assert header(path).names == ["a", "b"]


def test_one_record_is_a_table(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a,b\n1,x")).to_pydict() == {"a": [1], "b": ["x"]}


def test_only_an_empty_cell_is_missing(tmp_path: Path) -> None:
    table = read(put(tmp_path, 'a,b,c\n1,NA,null\n,,NaN\n3,"",x\n'))
    assert table.to_pydict() == {"a": [1, None, 3], "b": ["NA", None, None], "c": ["null", "NaN", "x"]}


def test_other_texts_can_mean_missing(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a\n1\nN\n"), null_texts=["", "N"]).to_pydict() == {"a": [1, None]}


def test_in_a_table_of_one_column_an_empty_line_is_a_missing_value(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a\n1\n\n2\n")).to_pydict() == {"a": [1, None, 2]}


def test_empty_lines_between_records_are_no_records(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a,b\n\n1,2\n\n")).to_pydict() == {"a": [1], "b": [2]}


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    assert read(put(tmp_path, ",a,unnamed_1\n0,1,2\n")).column_names == ["unnamed_1_", "a", "unnamed_1"]


def test_a_value_that_misfits_its_type_makes_its_column_text_and_raises_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n1,2\noops,3\n99999999999999999999,4\n")
    table = read(path, types={"a": pa.int64(), "b": pa.uint8()})
    assert table["a"].to_pylist() == ["1", "oops", "99999999999999999999"]
    assert table.schema.field("b").type == pa.uint8()


@pytest.mark.parametrize(
    ("zone", "cells"),
    [
        (None, ["2020-01-01 00:00:00", "2020-01-01 00:00:00Z"]),
        ("UTC", ["2020-01-01 00:00:00+0100", "2020-01-01 00:00:00"]),
    ],
)
def test_one_time_with_or_without_a_zone_makes_its_column_text(tmp_path: Path, zone, cells) -> None:
    found = read(put(tmp_path, "\n".join(["at", *cells]) + "\n"), types={"at": pa.timestamp("us", zone)})
    assert found.to_pydict() == {"at": cells}


def test_misfits_in_every_column_and_far_down_are_kept_as_text(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(8)]
    good = ",".join(["1"] * 7 + ["2"])
    text = ",".join(names) + "\n" + f"{good}\n" * 100_000 + ",".join(["x"] * 7 + ["3"]) + "\n"
    table = read(put(tmp_path, text), types=dict.fromkeys(names, pa.int64()))
    assert [str(kind) for kind in table.schema.types] == ["string"] * 7 + ["int64"]
    assert table["c0"][-1].as_py() == "x"
    assert table["c7"][-1].as_py() == 3


def test_only_the_columns_asked_for_are_read_in_that_order(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,c\n1,2,x\n")
    assert read(path, columns=["c", "a"]).to_pydict() == {"c": ["x"], "a": [1]}
    misfit = read(path, columns=["c", "a"], types={"c": pa.int64(), "b": pa.date32()})
    assert misfit.to_pydict() == {"c": ["x"], "a": [1]}
    assert read(pa.table({"a": [1], "b": [2]}), columns=["b"]).column_names == ["b"]


def test_a_record_longer_than_a_block_is_read(tmp_path: Path) -> None:
    long = "x" * (3 * delimited.BLOCK)
    table = read(put(tmp_path, f"a,b\n1,{long}\n2,y\n"))
    assert table["b"].to_pylist() == [long, "y"]


def test_a_multibyte_character_at_the_end_of_the_sample_is_no_fault(tmp_path: Path) -> None:
    for shift in range(3):
        text = "a,b\n" + "z" * shift + "€" * (delimited.SAMPLE // 3 + 10) + ",1\n"
        assert read(put(tmp_path, text)).num_rows == 1


def test_unicode_names_and_values_survive(tmp_path: Path) -> None:
    assert read(put(tmp_path, "größe,名前\n1,𝄞\n")).to_pydict() == {"größe": [1], "名前": ["𝄞"]}


def test_a_header_knows_the_likely_types_from_the_first_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "i,f,d,s,b\n1,1.5,2020-01-02,x,true\n" * 1)
    assert [str(kind) for kind in header(path).types] == ["int64", "double", "date32[day]", "string", "bool"]


def test_a_header_of_a_large_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n" + '1,"x, y"\n' * 200_000)
    assert [str(kind) for kind in header(path).types] == ["int64", "string"]


@pytest.mark.parametrize("name", ["x.parquet", "x.pq", "x.arrow", "x.ipc", "x.feather", "x.arrows"])
def test_binary_formats_are_told_by_content(tmp_path: Path, name: str) -> None:
    table = pa.table({"a": [1, None], "s": ["x", None], "d": [date(2020, 1, 2), None]})
    write(table, tmp_path / name)
    renamed = (tmp_path / name).rename(tmp_path / "data.bin")
    assert read(renamed).equals(table)
    assert header(renamed) == table.schema
    assert read(renamed, columns=["s"]).column_names == ["s"]


def test_arrow_objects_of_every_kind_are_tables() -> None:
    table = pa.table({"a": [1, 2]})
    batch = table.to_batches()[0]
    assert read(batch).equals(table)
    assert read(pa.RecordBatchReader.from_batches(table.schema, [batch])).equals(table)
    assert read({"a": table["a"]}).equals(table)
    assert read({"a": table["a"].chunk(0)}).equals(table)
