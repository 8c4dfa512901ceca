"""Tables and queries of other databases through their ADBC drivers, as a stream of batches.

SQLite keeps a type with every cell and not with a column, and its driver takes a column's type from the first cells
that it sees. So nothing is left for it to tell: the database is asked for each cell as text with a mark before it, or
for an empty text where there is no value, and columns come as those of a text file do, each cell by itself. Others
declare the types of their columns, which are taken as they stand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.engines.batch_source import PLAIN, BatchSource, faults, library
from understudy.data.engines.duckdb import qualified, quoted
from understudy.data.files.frames import check_schema
from understudy.data.scannable import batch_rows
from understudy.errors import FileError, ParameterError

Connect = Callable[[], Any]  # a connection of a driver's

_MARK = "="  # before every text, so that an empty one is told from none
_BATCH_ROWS = "adbc.sqlite.query.batch_rows"


def open_sqlite(address: str) -> BatchSource:
    """The table or query at an address such as `people.db?table=people`, every cell of it as text."""
    place, query = _asked(address)
    path = Path(place)
    if not path.is_file():
        raise FileError(f"there is no database {place!r}.", hint="check the path.")
    driver = library("adbc_driver_sqlite.dbapi", "sqlite")
    what = f"the database {place!r}"

    def connect() -> Any:
        return driver.connect(f"file:{quote(str(path.resolve()))}?mode=ro")

    names = _types(connect, query, what).names
    types = pa.schema([(name, pa.string()) for name in names])
    check_schema(types, what, ParameterError)

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        chosen = ", ".join(f"{_as_text(name)} AS {quoted(name)}" for name in columns)
        with closing(connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.adbc_statement.set_options(**{_BATCH_ROWS: str(batch_rows(len(columns)))})
            cursor.execute(f"SELECT {chosen} FROM ({query}) AS answer")
            for batch in cursor.fetch_record_batch():
                if batch.num_rows:
                    yield pa.record_batch([_unmarked(column) for column in batch.columns], names=columns)

    return BatchSource(what, types, batches, f"{_stamps(path)} {query}", untyped=frozenset(names))


def open_snowflake(address: str, what: str, query: str) -> BatchSource:
    """A query of Snowflake's, whose address is what its driver calls a uri: user:password@account/database/schema."""
    driver = library("adbc_driver_snowflake.dbapi", "snowflake")
    return _declared(lambda: driver.connect(address), query, what)


def open_bigquery(address: str, what: str, query: str) -> BatchSource:
    """A query of BigQuery's, at project/dataset; who asks is found by Google's own settings of this machine."""
    project, _, dataset = address.partition("/")
    driver = library("adbc_driver_bigquery.dbapi", "bigquery")
    keys = {"adbc.bigquery.sql.project_id": project, "adbc.bigquery.sql.dataset_id": dataset}
    return _declared(lambda: driver.connect(db_kwargs=keys), query, what)


def _declared(connect: Connect, query: str, what: str) -> BatchSource:
    """The answer of a database that declares the types of its columns."""
    found = _types(connect, query, what)
    types = pa.schema([(field.name, PLAIN.get(field.type, field.type)) for field in found])
    check_schema(types, what, ParameterError)
    query = query.strip().rstrip(";")

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        chosen = ", ".join(map(quoted, columns))
        with closing(connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(f"SELECT {chosen} FROM ({query}) AS answer")
            yield from cursor.fetch_record_batch()

    return BatchSource(what, types, batches)


def _types(connect: Connect, query: str, what: str) -> pa.Schema:
    """The columns of an answer, of which no record is asked for."""
    with (
        faults(what, "is it there, and does it have that table?"),
        closing(connect()) as connection,
        closing(connection.cursor()) as cursor,
    ):
        cursor.execute(f"SELECT * FROM ({query}) AS answer LIMIT 0")
        return cursor.fetch_arrow_table().schema


def _asked(address: str) -> tuple[str, str]:
    """The file, and the query that asks for the table or is given."""
    place, _, asked = address.partition("?")
    how, _, words = asked.partition("=")
    if how not in ("table", "query") or not words.strip() or not place:
        raise ParameterError(
            f"address 'sqlite:{address}' names neither a table nor a query.",
            hint="write sqlite:people.db?table=people, or sqlite:people.db?query=SELECT ...",
        )
    plain = words.strip().rstrip(";")
    return place, plain if how == "query" else f"SELECT * FROM {qualified(plain)}"


def _as_text(name: str) -> str:
    """A cell as a text that is never missing; bytes are no value."""
    cell = quoted(name)
    return f"CASE WHEN typeof({cell}) IN ('null', 'blob') THEN '' ELSE '{_MARK}' || CAST({cell} AS TEXT) END"


def _unmarked(column: pa.Array) -> pa.Array:
    """The texts without their marks, and missing where there is none; bytes that are no text as U+FFFD."""
    try:
        texts = column.cast(pa.binary()).cast(pa.string())  # where all of it is text
    except pa.ArrowInvalid:  # each cell is decoded by itself
        cells = column.cast(pa.binary()).to_pylist()
        texts = pa.array([cell.decode("utf-8", "replace") for cell in cells], pa.string())
    return pc.if_else(pc.equal(pc.binary_length(texts), 0), None, pc.utf8_slice_codeunits(texts, 1))


def _stamps(path: Path) -> str:
    """The file and its time of change, and those of the log of changes that lies beside it."""
    log = path.with_name(path.name + "-wal")
    times = (str(os.stat(file).st_mtime_ns) for file in (path, log) if file.exists())
    return " ".join([str(path.resolve()), *times])
