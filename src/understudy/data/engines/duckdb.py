"""Tables and queries of a DuckDB database, as a stream of batches.

The address of a table is `people.db?table=people`, of a query `people.db?query=SELECT ...`; without a file
the query is its own source of data, such as `?query=SELECT * FROM 'folder/*.parquet'`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from understudy.data.files.frames import check_schema
from understudy.data.files.lake_folder import lake_above, lake_below
from understudy.data.files.partition_columns import literal_parent
from understudy.data.scannable import batch_rows
from understudy.data.scratch import ScratchFolder
from understudy.errors import FileError, OperatorError, ParameterError

MEMORY = 512 << 20  # of the database's own work, such as a sort; beyond it goes to a private folder on disk
_NAMED = re.compile(r"'([^']*)'")  # a text in quotes
_READER = re.compile(r"(\w*)\s*\(?\s*\[?\s*\Z")  # what stands before it: the function that it is given to
_NEAR = 200  # characters before a text in which its function is looked for
_LAKE_READERS = ("delta_scan", "iceberg_scan")
# What these say is about the words of a query, never about a record.
_WORDING = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.SyntaxException)


@dataclass(frozen=True, eq=False)
class DatabaseQuery:
    """The answer to one query, asked anew for every scan; the file, if any, is opened for reading alone."""

    path: Path | None
    query: str
    types: pa.Schema
    spill: ScratchFolder

    @property
    def snapshot(self) -> str | None:
        """The database and its time of change; None for a query that reads anything else."""
        if self.path is None:
            return None
        return f"{self.path.resolve()} {self.path.stat().st_mtime_ns} {self.query}"

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """The answer in batches."""
        chosen = ", ".join(map(quoted, columns)) or "1"
        with closing(_connect(self.path, self.spill)) as connection, _faults(self.path, self.query):
            answer = connection.sql(f"SELECT {chosen} FROM ({self.query}) AS answer")
            yield from answer.to_arrow_reader(batch_rows(len(columns)))


def open_database(address: str) -> DatabaseQuery:
    """The table or query at an address, once the database is known to have it."""
    place, _, asked = address.partition("?")
    how, _, what = asked.partition("=")
    if how not in ("table", "query") or not what.strip() or (how == "table" and not place):
        raise ParameterError(
            f"address 'duckdb:{address}' names neither a table nor a query.",
            hint="write duckdb:people.db?table=people, or duckdb:people.db?query=SELECT ...",
        )
    path = Path(place) if place else None
    if path is not None and not os.path.isfile(path):  # False too for a name that no file can have
        raise FileError(f"there is no database {place!r}.", hint="check the path.")
    query = what.strip().rstrip(";") if how == "query" else f"FROM {qualified(what.strip())}"
    spill = ScratchFolder()
    with closing(_connect(path, spill)) as connection, _faults(path, query):
        connection.execute("CALL enable_logging('FileSystem')")
        types = connection.sql(f"SELECT * FROM ({query}) AS answer LIMIT 0").to_arrow_table().schema
        _check_files(connection, query)
    check_schema(types, f"the answer of 'duckdb:{address}'")
    return DatabaseQuery(path, query, types.remove_metadata(), spill)


def _check_files(connection: Any, query: str) -> None:
    """Refuse a query over files of which only a log says whether they are alive: those that it opened for its types,
    and whatever its own words, or those of a view, name."""
    opened = connection.sql("SELECT DISTINCT path FROM duckdb_logs_parsed('FileSystem')").fetchall()
    views = connection.sql("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
    if lake := lake_above({Path(path).parent for (path,) in opened if "://" not in path}):
        raise lake.refusal(query)
    for words in (query, *(view for (view,) in views)):
        for reader, named in named_files(words):
            place = literal_parent(named)
            inside = reader not in _LAKE_READERS and place.parts and place.is_dir()
            if inside and (lake := lake_below(place)):
                raise lake.refusal(named)


def named_files(query: str) -> list[tuple[str, str]]:
    """The texts in quotes of a query that may be paths, each with the function that it is given to, if any."""
    found = [(_reader(query, text.start()), text[1]) for text in _NAMED.finditer(query)]
    return [(reader, named) for reader, named in found if named and "://" not in named and "\n" not in named]


def _reader(query: str, place: int) -> str:
    """The function that a text at that place is given to; empty where there is none."""
    before = _READER.search(query[max(0, place - _NEAR) : place])
    return before[1].lower() if before else ""


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """A table's name, with the names of its schema and catalog where given: a dot separates them."""
    return ".".join(quoted(part) for part in name.split("."))


def _connect(path: Path | None, spill: ScratchFolder) -> Any:
    config = {"memory_limit": f"{MEMORY >> 20}MiB", "temp_directory": str(spill.path)}
    try:
        if path is None:
            return duckdb.connect(":memory:", config=config)
        return duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error:
        raise FileError(
            f"database {str(path)!r} cannot be opened.",
            hint="is it a DuckDB file, undamaged, and not being written by another process?",
        ) from None


@contextmanager
def _faults(path: Path | None, query: str) -> Iterator[None]:
    where = "the query" if path is None else f"database {str(path)!r}"
    try:
        yield
    except _WORDING as error:
        raise ParameterError(f"{where} has no answer to {query!r}: {str(error).splitlines()[0]}") from None
    except duckdb.Error as error:  # its message may quote a value
        raise OperatorError(
            f"{where} failed while it was read ({type(error).__name__}).",
            hint="check the query, the files that it reads, and the space on disk.",
        ) from None
