"""Tables go out whole or not at all, and read back as they were."""

import errno
import os
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.data import Writer, check_writable, read, write
from understudy.data.files.atomic import whole_file
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, ParameterError

TABLE = pa.table(
    {
        "i": [1, None, 3],
        "f": [1.0, None, 3.0],
        "s": ["x", None, "y, z"],
        "d": [date(2020, 1, 2), None, date(1900, 1, 1)],
        "b": [True, None, False],
    }
)
FORMATS = ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arrow", "t.arrows", "t.feather"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_reads_back_with_the_same_types_and_missing_cells(tmp_path: Path, name: str) -> None:
    write(TABLE, tmp_path / name)
    back = read(tmp_path / name)
    assert back.to_pydict() == TABLE.to_pydict()
    assert back.schema.types == TABLE.schema.types
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_without_records_is_a_header(tmp_path: Path, name: str) -> None:
    write(TABLE.slice(0, 0), tmp_path / name)
    assert read(tmp_path / name).column_names == TABLE.column_names
    assert read(tmp_path / name).num_rows == 0


def test_missing_values_are_written_as_the_text_of_their_column(tmp_path: Path) -> None:
    write(TABLE.select(["i", "f", "b"]), tmp_path / "t.csv", missing={"i": "N", "f": "", "b": "?"})
    assert (tmp_path / "t.csv").read_text() == "i,f,b\n1,1.0,true\nN,,?\n3,3.0,false\n"


def test_whole_numbers_in_a_column_of_floats_stay_floats(tmp_path: Path) -> None:
    floats = pa.table({"whole": [1.0, -2.0, 1e20, 0.0], "mixed": [1.0, 2.5, float("nan"), float("inf")]})
    write(floats, tmp_path / "t.csv")
    frame = pd.read_csv(tmp_path / "t.csv")
    assert frame.dtypes.tolist() == [np.float64, np.float64]
    assert frame["whole"].tolist() == [1.0, -2.0, 1e20, 0.0]


def test_an_empty_text_is_not_a_missing_value(tmp_path: Path) -> None:
    write(pa.table({"a": ["", None], "b": ["x", "y"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'a,b\n"",x\n,y\n'


def test_names_that_need_quotes_get_them(tmp_path: Path) -> None:
    write(pa.table({'a "b", c': [1], "d": [2]}), tmp_path / "t.csv")
    assert read(tmp_path / "t.csv").column_names == ['a "b", c', "d"]


def test_any_delimiter_can_be_written(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "t.csv", dialect=Dialect(";"))
    assert read(tmp_path / "t.csv").to_pydict() == TABLE.to_pydict()
    with pytest.raises(ParameterError, match="delimiter"):
        write(TABLE, tmp_path / "u.csv", dialect=Dialect("::"))


texts = st.text(
    alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8
)


@settings(max_examples=many(100))
@given(rows=st.lists(st.tuples(st.none() | texts, st.none() | st.integers(-(2**63), 2**63 - 1)), max_size=20))
def test_any_text_makes_the_trip_through_csv(rows: list[tuple[Any, Any]], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("trip") / "t.csv"
    table = pa.table(
        {
            "text": pa.array([row[0] for row in rows], pa.string()),
            "number": pa.array([row[1] for row in rows], pa.int64()),
        }
    )
    write(table, path)
    back = read(path, types={"text": pa.string(), "number": pa.int64()})
    assert back.to_pydict() == table.to_pydict()


def test_a_large_table_is_written_in_order(tmp_path: Path) -> None:
    table = pa.table({"n": np.arange(200_000), "s": [f"v{i % 7}" for i in range(200_000)]})
    write(table, tmp_path / "t.csv")
    assert read(tmp_path / "t.csv").equals(table)


@pytest.mark.parametrize("name", FORMATS)
def test_tables_are_appended_to_one_file(tmp_path: Path, name: str) -> None:
    with Writer(tmp_path / name) as file:
        for _ in range(3):
            file.write(TABLE)
        file.write(TABLE.to_batches()[0])
        assert not (tmp_path / name).exists()
    assert read(tmp_path / name).num_rows == 12


def test_tables_of_other_columns_do_not_mix(tmp_path: Path) -> None:
    def mix() -> None:
        with Writer(tmp_path / "t.csv") as file:
            file.write(TABLE)
            file.write(TABLE.select(["i"]))

    with pytest.raises(ParameterError, match="columns"):
        mix()
    assert os.listdir(tmp_path) == []


def test_a_writer_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="nothing was written"), Writer(tmp_path / "t.csv"):
        pass
    assert os.listdir(tmp_path) == []
    with Writer(tmp_path / "t.csv", TABLE.schema):
        pass
    assert read(tmp_path / "t.csv").num_rows == 0
    with pytest.raises(ParameterError, match="with"):
        Writer(tmp_path / "u.csv").write(TABLE)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, ZeroDivisionError, SystemExit])
@pytest.mark.parametrize("name", FORMATS)
def test_an_interrupted_file_never_appears_and_the_old_one_stays(
    tmp_path: Path, failure: type[BaseException], name: str
) -> None:
    (tmp_path / name).write_bytes(b"old")

    def fail() -> None:
        with Writer(tmp_path / name) as file:
            file.write(TABLE)
            raise failure

    with pytest.raises(failure):
        fail()
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        write(TABLE, tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_is_written_to_directly() -> None:
    with pytest.raises(FileError, match="could not be written"):
        write(pa.table({"a": np.arange(100_000)}), "/dev/full")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write(TABLE, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert read(tmp_path / "real.csv").num_rows == 3


@pytest.mark.parametrize("name", ["t", "t.xls", "t.parquet.gz", "t.json"])
def test_a_format_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="extension"):
        Writer(tmp_path / name)


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "t.csv", "a\0b.csv"):
        with pytest.raises(FileError):
            check_writable(path)
    check_writable(tmp_path / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match="folder"):
        write(TABLE, tmp_path / "folder.csv")


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write(TABLE, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_every_flat_type_can_be_written_as_text(tmp_path: Path) -> None:
    odd = {
        "decimal": [Decimal("1.50"), None],
        "time": [time(1, 2), None],
        "duration": pa.array([1, None], pa.duration("s")),
        "half": pa.array([1.0, None], pa.float16()),
        "nothing": pa.nulls(2),
        "dictionary": pa.array(["x", None]).dictionary_encode(),
        "large": pa.array(["x", None], pa.large_string()),
        "view": pa.array(["x", None], pa.string_view()),
    }
    write(pa.table(odd), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == [
        "1.50,01:02:00.000000,1,1.0,,x,x,x",
        ",,,,,,,",
    ]


def test_moments_are_written_readably(tmp_path: Path) -> None:
    write(
        pa.table({"t": pa.array([datetime(2020, 1, 2, 3, 4, 5), None], pa.timestamp("s"))}),
        tmp_path / "t.csv",
    )
    assert read(tmp_path / "t.csv")["t"].to_pylist()[0] == datetime(2020, 1, 2, 3, 4, 5)


def test_what_a_killed_run_left_unfinished_is_swept_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    left = tmp_path / ".out.csv.0123456789ab.part"
    left.write_text("half")
    with whole_file(tmp_path / "out.csv") as file:
        assert not left.exists()
        (held,) = tmp_path.glob(".out.csv.*.part")
        with whole_file(tmp_path / "out.csv") as other:
            assert held.exists()
            other.write(b"a")
        file.write(b"b")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
