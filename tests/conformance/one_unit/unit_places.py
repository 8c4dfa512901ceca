"""Where records may lie: functions that put pieces of one table somewhere, and answer what `fit` is given."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import odd_cells
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import dataset
from unit_cells import NARROW, PLAIN, Kinds, Rows, table
from unit_people import people

from postgres_server import server
from spark_session import frame, session

Put = Callable[[list[Rows], Path], Any]  # pieces of one table, in order -> the data, once they were put there


def joined(pieces: list[Rows]) -> Rows:
    """All pieces as one."""
    return [row for piece in pieces for row in piece]


def arrow(kinds: Kinds, then: Callable[[pa.Table], Any] = lambda made: made) -> Put:
    """One Arrow table, one chunk a piece, as whatever `then` makes of it."""
    return lambda pieces, folder: then(pa.concat_tables(table(piece, kinds) for piece in pieces))


def pandas_objects(pieces: list[Rows], folder: Path) -> pd.DataFrame:
    rows = joined(pieces)
    columns = {}
    for name in PLAIN:
        column = np.empty(len(rows), object)  # filled cell by cell, so that NumPy does not unpack lists
        for place, row in enumerate(rows):
            column[place] = row[name]
        columns[name] = pd.Series(column, dtype=object)
    return pd.DataFrame(columns)


def polars_objects(pieces: list[Rows], folder: Path) -> pl.DataFrame:
    rows = joined(pieces)
    return pl.DataFrame([pl.Series(name, [row[name] for row in rows], dtype=pl.Object) for name in PLAIN])


def pandas_nullable(made: pa.Table) -> pd.DataFrame:
    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype()}
    kinds[pa.float64()] = pd.Float64Dtype()
    return made.to_pandas(types_mapper=kinds.get, date_as_object=False)


def pandas_categories(made: pa.Table) -> pd.DataFrame:
    """Every column a category, every other one ordered; the values listed are those that occur."""
    plain = made.to_pandas(date_as_object=False)
    for place, name in enumerate(plain.columns):
        plain[name] = plain[name].astype(pd.CategoricalDtype(ordered=bool(place % 2)))
    return plain


def polars_categories(made: pa.Table) -> pl.DataFrame:
    from_arrow = pl.from_arrow(made)
    return from_arrow.with_columns(
        pl.col("who", "zip").cast(pl.Categorical), pl.col("town").cast(pl.Enum(_towns()))
    )


def _towns() -> list[str]:
    return list(
        dict.fromkeys(
            ["Aa", "1", "true", "0.5", *(cell for cell in odd_cells.typed(pa.string()) if cell is not None)]
        )
    )


def csv_bytes(rows: Rows, names: Sequence[str] = tuple(PLAIN)) -> bytes:
    """A file of text, every cell that needs it in quotes."""
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def csv_file(pieces: list[Rows], folder: Path) -> str:
    (folder / "people.csv").write_bytes(csv_bytes(joined(pieces)))
    return str(folder / "people.csv")


def csv_utf16(pieces: list[Rows], folder: Path) -> str:
    """A file that is not in UTF-8, with other delimiters and line ends."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, tuple(PLAIN), delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(joined(pieces))
    (folder / "people.csv").write_bytes(out.getvalue().encode("utf-16"))
    return str(folder / "people.csv")


def json_lines(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        lines = "".join(json.dumps(row) + "\n" for row in piece)
        (folder / f"part-{number}.jsonl").write_text(lines)
    return str(folder)


def excel_sheet(pieces: list[Rows], folder: Path) -> str:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(list(PLAIN))
    for row in joined(pieces):
        sheet.append([row[name] or None for name in PLAIN])
    book.save(folder / "people.xlsx")
    return str(folder / "people.xlsx")


def csv_packed(pieces: list[Rows], folder: Path) -> str:
    (folder / "people.csv.gz").write_bytes(gzip.compress(csv_bytes(joined(pieces)), mtime=0))
    return str(folder / "people.csv.gz")


def csv_folder(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        (folder / f"part-{number}.csv").write_bytes(csv_bytes(piece))
    return str(folder)


def parquet_file(kinds: Kinds) -> Put:
    def put(pieces: list[Rows], folder: Path) -> str:
        made = pa.concat_tables(table(piece, kinds) for piece in pieces)
        pq.write_table(made, folder / "people.parquet", row_group_size=16)
        return str(folder / "people.parquet")

    return put


def parquet_folder(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        pq.write_table(table(piece, PLAIN), folder / f"part-{number}.parquet")
    return str(folder)


# Two kinds of files side by side: what is whole in one is a double, or text, in the other.
DOUBLES = {**PLAIN, "age": pa.float64(), "grade": pa.float64(), "points": pa.float64()}


def arrow_dataset(pieces: list[Rows], folder: Path) -> dataset.Dataset:
    return dataset.dataset(parquet_folder(pieces, folder))


def delta_table(pieces: list[Rows], folder: Path) -> str:
    """A Delta table over an older state of itself, whose records are dead."""
    from deltalake import write_deltalake

    for mode, rows in (
        ("error", joined(pieces)),
        ("overwrite", pieces[0]),
        *(("append", p) for p in pieces[1:]),
    ):
        write_deltalake(folder / "people", table(rows, PLAIN), mode=mode)
    return str(folder / "people")


def iceberg_table(pieces: list[Rows], folder: Path) -> str:
    """An Iceberg table over an older state of itself, whose records are dead; the newest file that describes it."""
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{folder}")
    try:
        catalog.create_namespace("town")
        made = catalog.create_table("town.people", table([], PLAIN).schema)
        made.append(table(joined(pieces), PLAIN))
        made.overwrite(table(pieces[0], PLAIN))
        for piece in pieces[1:]:
            made.append(table(piece, PLAIN))
        return str(made.metadata_location).removeprefix("file://")
    finally:
        catalog.engine.dispose()


def parquet_of_two_types(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        kinds = DOUBLES if number % 2 else PLAIN
        fit = [{name: _fit(cell, kinds[name]) for name, cell in row.items()} for row in piece]
        pq.write_table(table(fit, kinds), folder / f"part-{number}.parquet")
    return str(folder)


def _fit(cell: Any, kind: pa.DataType) -> Any:
    """A whole number as a file of doubles holds it."""
    return float(cell) if kind == pa.float64() and cell is not None else cell


def text_beside_parquet(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        if number % 2:
            pq.write_table(table(piece, dict.fromkeys(PLAIN, pa.string())), folder / f"part-{number}.parquet")
        else:
            (folder / f"part-{number}.csv").write_bytes(csv_bytes(piece))
    return str(folder)


def hive(pieces: list[Rows], folder: Path) -> str:
    """A folder for every town, with a file for each piece."""
    kinds = {name: kind for name, kind in PLAIN.items() if name != "town"}
    for number, piece in enumerate(pieces):
        for town in {row["town"] for row in piece}:
            name = "__HIVE_DEFAULT_PARTITION__" if town is None else quote(town[:50], safe="")
            place = folder / f"town={name}"
            place.mkdir(exist_ok=True)
            rows = [row for row in piece if row["town"] == town]
            pq.write_table(table(rows, kinds), place / f"part-{number}.parquet")
    return f"parquet:{folder}"


def arrow_files(pieces: list[Rows], folder: Path) -> str:
    for number, piece in enumerate(pieces):
        made = table(piece, NARROW)
        with (
            pa.OSFile(str(folder / f"part-{number}.arrow"), "wb") as out,
            pa.ipc.new_file(out, made.schema) as file,
        ):
            file.write_table(made)
    return f"{folder}/*.arrow"


def duckdb_table(pieces: list[Rows], folder: Path) -> str:
    with duckdb.connect(str(folder / "town.db")) as connection:
        connection.register("records", table(joined(pieces), PLAIN))
        connection.execute("CREATE TABLE people AS SELECT * FROM records")
    return f"duckdb:{folder}/town.db?table=people"


def sqlite_table(pieces: list[Rows], folder: Path) -> str:
    """Texts, of which SQLite makes numbers where a column is declared to hold some: cell by cell."""
    names = tuple(PLAIN)
    declared = {"age": "INTEGER", "points": "REAL", "grade": "NUMERIC"}
    with closing(sqlite3.connect(folder / "town.sqlite")) as connection, connection:
        columns = ", ".join(f"{name} {declared.get(name, 'TEXT')}" for name in names)
        connection.execute(f"CREATE TABLE people ({columns})")
        marks = ", ".join("?" * len(names))
        rows = [[row[name] for name in names] for row in joined(pieces)]
        connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    return f"sqlite:{folder}/town.sqlite?table=people"


def duckdb_join(pieces: list[Rows], folder: Path) -> str:
    """Half of a record's columns in another table: which of the two is the smaller decides in what order they come.

    The odd unit has many records in the first table that meet none in the second, so that it is the larger with them.
    """
    rows = [{"record": number, **row} for number, row in enumerate(joined(pieces))]
    kinds = {"record": pa.int64(), **PLAIN}
    left = {name: kinds[name] for name in ("record", "who", "age", "zip", "town", "grade")}
    right = {name: kind for name, kind in kinds.items() if name == "record" or name not in left}
    blank = dict.fromkeys(PLAIN)
    more = [{"record": -number, **blank} for number in range(1, 300)]
    unmet = [{"record": -number, **blank} for number in range(300, 2000)] if len(rows) > len(people()) else []
    with duckdb.connect(str(folder / "town.db")) as connection:
        connection.register("first", table([*rows[::-1], *unmet], left))
        connection.register("second", table([*rows, *more], right))
        connection.execute("CREATE TABLE l AS FROM first")
        connection.execute("CREATE TABLE r AS FROM second")
    return f"duckdb:{folder}/town.db?query=SELECT * EXCLUDE (record) FROM l JOIN r USING (record)"


def postgres_table(pieces: list[Rows], folder: Path) -> str:
    made = server()
    return made.address(made.load(table(joined(pieces), PLAIN)))


def postgres_view(pieces: list[Rows], folder: Path) -> str:
    made = server()
    name = made.load(table(joined(pieces), PLAIN))
    made.execute(f"CREATE VIEW {name}_view AS SELECT * FROM {name}")
    return made.address(f"{name}_view")


def postgres_query(pieces: list[Rows], folder: Path) -> str:
    """A join of the records with themselves, each met once."""
    made = server()
    rows = [{"record": number, **row} for number, row in enumerate(joined(pieces))]
    name = made.load(table(rows, {"record": pa.int64(), **PLAIN}))
    shown = ", ".join(f"t.{column}" for column in PLAIN)
    return f"{made.uri()}&query=SELECT {shown} FROM {name} AS t JOIN {name} AS s USING (record)"


def spark_frame(pieces: list[Rows], folder: Path) -> Any:
    return frame(pa.concat_tables(table(piece, PLAIN) for piece in pieces))


def spark_folder(pieces: list[Rows], folder: Path) -> Any:
    """Files as Spark itself reads them: in an order that their sizes decide."""
    parquet_folder(pieces, folder)
    return session().read.parquet(str(folder))


def spark_view(pieces: list[Rows], folder: Path) -> str:
    name = f"people_{folder.name}".replace("-", "_")
    spark_folder(pieces, folder).createOrReplaceTempView(name)
    return f"spark:{name}"


def spark_files(put: Put, prefix: str) -> Put:
    return lambda pieces, folder: session() and f"spark:{prefix}:{put(pieces, folder)}"


def pandas_numpy(made: pa.Table) -> pd.DataFrame:
    return made.to_pandas(date_as_object=False)
