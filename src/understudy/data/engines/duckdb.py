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
from understudy.errors import FileError, OperatorError, ParameterError, UnderstudyError

MEMORY = 512 << 20  # of the database's own work, such as a sort; beyond it goes to a private folder on disk
_NAMED = re.compile(r"'([^']*)'|\"([^\"]*)\"|\$\$(.*?)\$\$", re.S)  # a text in quotes of any kind
_PATH = re.compile(r"[./\\*?]")  # one of these is in a path; names of columns in quotes seldom have one
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
    beyond: bool = False  # whether it reads other files too, itself or by a view

    @property
    def snapshot(self) -> str | None:
        """The database and its time of change, with its log's; None for a query that reads anything else."""
        if self.path is None or self.beyond:
            return None
        changed = [str(file.stat().st_mtime_ns) for file in (self.path, _log(self.path)) if file.exists()]
        return " ".join([str(self.path.resolve()), *changed, self.query])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """The answer in batches."""
        chosen = ", ".join(map(quoted, columns)) or "1"
        with closing(_connect(self.path, self.spill)) as connection, _faults(self.path, self.query):
            answer = connection.sql(f"SELECT {chosen} FROM ({self.query}) AS answer")
            yield from answer.to_arrow_reader(batch_rows(len(columns)))


def open_database(address: str) -> DatabaseQuery:
    """The table or query at an address, once the database is known to have it."""
    path, query = _asked(address)
    spill = ScratchFolder()
    with closing(_connect(path, spill)) as connection, _faults(path, query):
        types, reached = _looked_at(connection, path, query)
        reached.check(query)
    check_schema(types, f"the answer of 'duckdb:{address}'")
    return DatabaseQuery(path, query, types.remove_metadata(), spill, bool(reached.opened))


def places_read(address: str) -> list[str]:
    """Where the records at an address lie: the database, its log, and what the query or a view of its reads.

    Of a database that cannot be opened only what the query's own words say: whoever reads it says what is wrong.
    """
    path, query = _asked(address)
    known = [] if path is None else [str(path), str(_log(path))]
    try:
        with closing(_connect(path, ScratchFolder())) as connection, _faults(path, query):
            reached = _looked_at(connection, path, query)[1]
    except UnderstudyError:
        return known + [named for _, named in named_files(query)]
    return known + sorted({*reached.opened, *(named for _, named in reached.named)})


@dataclass(frozen=True)
class _Reached:
    """Files that a query reads: those that it opened for its types, and those that its words or a view's name."""

    opened: list[str]
    named: list[tuple[str, str]]

    def check(self, query: str) -> None:
        """Refuse a query over files of which only a log says whether they are alive."""
        if lake := lake_above({Path(path).parent for path in self.opened}):
            raise lake.refusal(query)
        for reader, named in self.named:
            place = literal_parent(named)
            inside = reader not in _LAKE_READERS and place.parts and place.is_dir()
            if inside and (lake := lake_below(place)):
                raise lake.refusal(named)


def _looked_at(connection: Any, path: Path | None, query: str) -> tuple[pa.Schema, _Reached]:
    """The types of an answer, and what is read for it."""
    connection.execute("CALL enable_logging('FileSystem')")
    types = connection.sql(f"SELECT * FROM ({query}) AS answer LIMIT 0").to_arrow_table().schema
    opened = connection.sql("SELECT DISTINCT path FROM duckdb_logs_parsed('FileSystem')").fetchall()
    views = connection.sql("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
    own = [] if path is None else [path.resolve(), _log(path).resolve()]
    files = [file for (file,) in opened if "://" not in file and Path(file).resolve() not in own]
    words = (query, *(view for (view,) in views))
    return types, _Reached(files, [found for said in words for found in named_files(said)])


def _asked(address: str) -> tuple[Path | None, str]:
    """The file, where there is one, and the query that asks for the table or is given."""
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
    return path, what.strip().rstrip(";") if how == "query" else f"FROM {qualified(what.strip())}"


def _log(path: Path) -> Path:
    """Where changes lie that a database of DuckDB's has not taken in yet."""
    return path.with_name(path.name + ".wal")


def named_files(query: str) -> list[tuple[str, str]]:
    """The texts in quotes of a query that may be paths, each with the function that it is given to, if any."""
    found = []
    for text in _NAMED.finditer(query):
        named = (text[1] or text[2] or text[3] or "").removeprefix("file://").removeprefix("file:")
        if named and "://" not in named and "\n" not in named and (text[2] is None or _PATH.search(named)):
            found.append((_reader(query, text.start()), named))
    return found


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
