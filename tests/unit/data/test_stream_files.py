"""Files that are streamed: pieces that end where records end, faults that name the file and the line."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.data import read
from understudy.data.engines.duckdb import open_database
from understudy.data.files.file_set import FileSet, find_files, looks_large
from understudy.data.files.text import text_file
from understudy.data.scratch import PREFIX, ScratchFolder
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, OperatorError, ParameterError


def whole(source: FileSet) -> pa.Table:
    names = source.types.names
    return pa.Table.from_batches(
        list(source.scan(names, {})), pa.schema([(name, pa.string()) for name in names])
    )


CELLS = st.text(st.sampled_from('ab1,;"\n\r é\t'), max_size=6)


@settings(max_examples=many(200))
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=30),
    piece=st.integers(1, 90),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_a_file_in_pieces_is_the_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], piece: int, end: str
) -> None:
    quoted = [
        [
            f'"{cell.replace(chr(34), chr(34) * 2)}"' if set(cell) & set('",\n\r;\t') or not cell else cell
            for cell in row
        ]
        for row in rows
    ]
    path = tmp_path_factory.mktemp("pieces") / "t.csv"
    path.write_bytes(end.join(["x,y,z", *(",".join(row) for row in quoted)]).encode())
    wanted = read(path, types=dict.fromkeys("xyz", pa.string()), dialect=Dialect(","))
    before, text_file.PIECE = text_file.PIECE, piece
    try:
        assert whole(FileSet.open(str(path), dialect=Dialect(","))).equals(wanted)
    finally:
        text_file.PIECE = before


@settings(max_examples=many(200))
@given(
    cells=st.lists(st.one_of(CELLS, st.sampled_from(["", "1", "2.5", "true", "2020-01-01"])), max_size=30),
    piece=st.integers(1, 60),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    start=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_a_single_column_in_pieces_has_the_values_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], piece: int, end: str, start: bytes
) -> None:
    quoted = [
        f'"{cell.replace(chr(34), chr(34) * 2)}"' if set(cell) & set('",\n\r') else cell for cell in cells
    ]
    path = tmp_path_factory.mktemp("pieces") / "t.csv"
    path.write_bytes(start + end.join(["x", *quoted]).encode())
    wanted = read(path, rest=pa.string(), dialect=Dialect(","))
    before, text_file.PIECE = text_file.PIECE, piece
    try:
        source = FileSet.open(str(path), dialect=Dialect(","))
        found = [row for batch in source.scan(["x"], {}) for row in batch.to_pylist()]
    finally:
        text_file.PIECE = before
    assert found == wanted.to_pylist()


def test_quotes_in_the_middle_of_fields_do_not_move_the_ends_of_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 40)
    lines = "".join(f'{n},5" pipe\n' if n % 3 else f'{n},"a\nb"\n' for n in range(200))
    (tmp_path / "t.csv").write_text(f"x,y\n{lines}")
    wanted = read(tmp_path / "t.csv", types=dict.fromkeys("xy", pa.string()))
    assert whole(FileSet.open(str(tmp_path / "t.csv"))).equals(wanted)


@pytest.mark.parametrize(
    ("line", "said"),
    [("1,2,3", "3 fields"), ('1,"2', "quote"), ("1,\0", "NUL"), ("1,\udcff", "UTF-8")],
)
def test_a_fault_far_into_a_file_is_told_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.setattr(text_file, "PIECE", 100)
    content = "x,y\n" + "1,2\n" * 500 + line + "\n"
    (tmp_path / "t.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(FileError, match=said) as caught:
        whole(FileSet.open(str(tmp_path / "t.csv")))
    assert "line 502" in str(caught.value)


def test_a_text_file_has_no_types_whatever_its_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n" + "1,2020-01-01\n" * 20)
    source = FileSet.open(str(tmp_path / "t.csv"))
    assert set(source.types.types) == {pa.string()} and source.untyped == {"x", "y"}


def thousand(folder: Path, count: int = 40) -> list[Path]:
    paths = []
    for number in range(count):
        paths.append(folder / f"part-{number:04}.parquet")
        pq.write_table(pa.table({"a": list(range(50)), "b": ["x"] * 50}), paths[-1])
    return paths


def test_a_truncated_file_among_many_is_named_before_any_is_read(tmp_path: Path) -> None:
    paths = thousand(tmp_path)
    paths[27].write_bytes(paths[27].read_bytes()[:-20])
    with pytest.raises(FileError, match=r"part-0027.parquet.*damaged"):
        FileSet.open(str(tmp_path))


def test_a_file_damaged_in_its_pages_is_named_when_it_is_read(tmp_path: Path) -> None:
    paths = thousand(tmp_path, 3)
    content = bytearray(paths[1].read_bytes())
    content[4:120] = b"\xff" * 116
    paths[1].write_bytes(content)
    with pytest.raises(FileError, match=r"part-0001.parquet.*damaged"):
        whole(FileSet.open(str(tmp_path)))


def test_a_file_with_other_columns_is_named(tmp_path: Path) -> None:
    thousand(tmp_path, 3)
    pq.write_table(pa.table({"a": [1], "c": ["x"]}), tmp_path / "part-0001.parquet")
    with pytest.raises(FileError, match=r"part-0001.parquet.*no column 'b'"):
        FileSet.open(str(tmp_path))


def test_files_may_differ_in_the_order_and_the_width_of_their_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [7], "a": pa.array([2**40])}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"b": pa.nulls(1), "a": pa.array([None], pa.int64())}), tmp_path / "3.parquet")
    source = FileSet.open(str(tmp_path))
    assert source.types == pa.schema([("a", pa.int64()), ("b", pa.string())])
    assert [batch.to_pylist()[0] for batch in source.scan(["a", "b"], {})] == [
        {"a": 1, "b": "x"},
        {"a": 2**40, "b": "7"},
        {"a": None, "b": None},
    ]


def test_a_file_that_changes_between_two_scans_is_refused(tmp_path: Path) -> None:
    paths = thousand(tmp_path, 2)
    source = FileSet.open(str(tmp_path))
    list(source.scan(["a"], {}))
    pq.write_table(pa.table({"a": [1], "b": ["y"]}), paths[1])
    with pytest.raises(FileError, match=r"part-0001.parquet.*changed"):
        list(source.scan(["a"], {}))


def test_a_folder_stands_for_its_tables_and_nothing_hidden(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.parquet", "a.csv", "sub/c.arrow", "_SUCCESS", ".hidden.csv", "notes.md"):
        (tmp_path / name).write_text("x\n1\n")
    assert [path.name for path in find_files(str(tmp_path))] == ["a.csv", "b.parquet", "c.arrow"]
    assert [path.name for path in find_files(str(tmp_path), "Parquet")] == ["b.parquet"]
    assert [path.name for path in find_files(f"{tmp_path}/*.parquet")] == ["b.parquet"]
    with pytest.raises(FileError, match="no table that matches"):
        find_files(f"{tmp_path}/*.xyz")
    with pytest.raises(FileError, match="no Parquet file in the folder"):
        find_files(str(tmp_path / "sub"), "Parquet")


def test_columns_in_the_names_of_folders_are_columns(tmp_path: Path) -> None:
    table = pa.table(
        {"year": [2020, 2020, 2021, None], "place name": ["a/b", "é", "a/b", "x"], "n": [1, 2, 3, 4]}
    )
    pq.write_to_dataset(table, tmp_path / "t", partition_cols=["year", "place name"])
    for address in (f"{tmp_path}/t", f"{tmp_path}/t/**/*.parquet"):
        source = FileSet.open(address)
        rows = [row for batch in source.scan(["n", "place name", "year"], {}) for row in batch.to_pylist()]
        assert sorted(rows, key=lambda row: row["n"]) == [
            {"n": 1, "place name": "a/b", "year": "2020"},
            {"n": 2, "place name": "é", "year": "2020"},
            {"n": 3, "place name": "a/b", "year": "2021"},
            {"n": 4, "place name": "x", "year": None},
        ]
        assert sum(batch.num_rows for batch in source.scan(["year"], {})) == 4
    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.execute(
            f"COPY t TO '{tmp_path}/u' (FORMAT parquet, PARTITION_BY (year), WRITE_PARTITION_COLUMNS)"
        )
    assert FileSet.open(f"{tmp_path}/u").types.names == ["year", "place name", "n"]  # each once


def test_what_is_streamed_is_decided_by_size_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    assert not looks_large(str(tmp_path / "t.csv"))
    assert looks_large(str(tmp_path)) and looks_large("nowhere/*.csv") and not looks_large("nowhere.csv")
    monkeypatch.setattr("understudy.data.files.file_set.LARGE", 2)
    assert looks_large(str(tmp_path / "t.csv"))


def test_a_prefix_that_a_file_contradicts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    with pytest.raises(FileError, match="is not Parquet"):
        FileSet.open(str(tmp_path / "t.csv"), kind="Parquet")


# --- databases ---------------------------------------------------------------------------------------------


@pytest.fixture(name="town")
def _town(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "town.db")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range AS a, 'secret-' || range AS b FROM range(1000)"
        )
        connection.execute('CREATE SCHEMA "Odd s"; CREATE TABLE "Odd s"."my ""table" AS SELECT 1 AS x')
    return tmp_path / "town.db"


def test_tables_are_found_by_any_name(town: Path) -> None:
    assert open_database(f"{town}?table=people").types.names == ["a", "b"]
    assert open_database(f'{town}?table=Odd s.my "table').types.names == ["x"]
    assert open_database("?query=SELECT 1 AS one;").types.names == ["one"]


def test_batches_of_a_query_are_its_answer(town: Path) -> None:
    source = open_database(f"{town}?query=SELECT a, b FROM people WHERE a < 10 ORDER BY a DESC")
    rows = [row for batch in source.scan(["b", "a"], {}) for row in batch.to_pylist()]
    assert rows[0] == {"b": "secret-9", "a": 9} and len(rows) == 10


def test_a_folder_of_which_a_part_cannot_be_listed_is_not_read_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("year=1", "year=2", "_hidden"):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"a": [1]}), tmp_path / folder / "a.parquet")
    scan = os.scandir

    def forbidden(*closed: str):
        def scanned(path: str | os.PathLike[str]):
            if Path(path).name in closed:
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        return scanned

    monkeypatch.setattr(os, "scandir", forbidden("_hidden"))
    assert len(find_files(str(tmp_path))) == 2
    monkeypatch.setattr(os, "scandir", forbidden("year=2"))
    with pytest.raises(FileError, match="cannot be read"):
        find_files(str(tmp_path))


def test_a_database_that_reads_other_files_does_not_say_when_they_changed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    with duckdb.connect(str(tmp_path / "town.db")) as connection:
        connection.execute(f"CREATE VIEW seen AS FROM '{tmp_path}/a.parquet'")
        connection.execute("CREATE TABLE kept AS SELECT 1 AS a")
    assert open_database(f"{tmp_path}/town.db?table=seen").snapshot is None
    assert open_database(f"{tmp_path}/town.db?query=FROM '{tmp_path}/a.parquet'").snapshot is None
    before = open_database(f"{tmp_path}/town.db?table=kept").snapshot
    assert before is not None and open_database(f"{tmp_path}/town.db?table=kept").snapshot == before
    (tmp_path / "town.db.wal").touch()
    assert open_database(f"{tmp_path}/town.db?table=kept").snapshot != before


@pytest.mark.parametrize(
    "address", ["", "town.db", "?table=people", "town.db?people", "town.db?query=", "#people"]
)
def test_an_address_without_table_or_query_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match="neither a table nor a query"):
        open_database(address)


def test_faults_of_a_database_name_it_and_show_no_value(town: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no database"):
        open_database(f"{tmp_path}/nowhere.db?table=people")
    (tmp_path / "broken.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(FileError, match=r"broken.db.*cannot be opened"):
        open_database(f"{tmp_path}/broken.db?table=people")
    with pytest.raises(ParameterError, match="nobody"):
        open_database(f"{town}?table=nobody")
    source = open_database(f"{town}?query=SELECT CAST(b AS INTEGER) AS c FROM people")
    with pytest.raises(OperatorError, match="failed while it was read") as caught:
        list(source.scan(["c"], {}))
    assert "secret" not in str(caught.value) and caught.value.__cause__ is None


def test_a_query_changes_nothing(town: Path) -> None:
    with pytest.raises((ParameterError, OperatorError)):
        open_database(f"{town}?query=DELETE FROM people")
    with duckdb.connect(str(town), read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM people").fetchall() == [(1000,)]


# --- what is left on disk ----------------------------------------------------------------------------------


def test_a_scratch_folder_is_private_and_goes(tmp_path: Path) -> None:
    folder = ScratchFolder(tmp_path)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    other = ScratchFolder(tmp_path)
    assert folder.path.is_dir()  # in use, so not swept
    folder.close()
    del other
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_is_swept_by_the_next(tmp_path: Path) -> None:
    program = (
        "import sys, time; from understudy.data.scratch import ScratchFolder; f = ScratchFolder(sys.argv[1]);"
        "(f.path / 'records').write_text('private'); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(tmp_path.glob(PREFIX + "*"))) == 1
    ScratchFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_the_sweep_follows_no_link(tmp_path: Path) -> None:
    """Anyone may plant links in a shared folder: nothing behind one is locked, made or removed."""
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    for folder in (shared, mine):
        folder.mkdir()
    (mine / "thesis").write_text("years of work")
    (shared / (PREFIX + "link")).symlink_to(mine)
    left = shared / (PREFIX + "left")
    left.mkdir()
    (left / "lock").symlink_to(mine / "made")
    gone = shared / (PREFIX + "gone")
    gone.mkdir()
    (gone / "inside").symlink_to(mine)
    ScratchFolder(shared).close()
    assert [path.name for path in mine.iterdir()] == ["thesis"]
    assert not gone.exists() and (shared / (PREFIX + "link")).is_symlink()
