"""Kinds of sources: the one list that every command and `release.sample` read.

A new kind is one file in this folder and one line of `BUILT_IN`. Another package adds its own by an entry point:

    [project.entry-points."understudy.sources"]
    mine = "my_package.source:KIND"        # a SourceKind, or several
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from understudy.errors import FileError, ParameterError
from understudy.plugins import loaded, offered

if TYPE_CHECKING:  # the list is read by `understudy ledger`, which should not load what it lists
    import pyarrow as pa

    from understudy.domain.dialect import Dialect
    from understudy.pipeline.sources.records import Reading, Records, Source

SOURCES = "understudy.sources"  # the group of entry points


@dataclass(frozen=True)
class SourceKind:
    """All that the house needs to know of a kind of source before any data is looked at.

    name        a word for it: "postgresql"
    source      the class (or function) that makes a `Source` of the data, or where it is: "package.module:Class"
    summary     how such data is given, in a few words
    addresses   how its addresses begin: ("postgresql:", "postgres:")
    recognises  whether anything else, such as a frame or a folder, is of this kind, or where the function that says
                so is; it is asked of all sorts of data, so it should be quick and import nothing
    sample      what `release.sample` calls for records whose `kind` is `name`, or where that is: with the release,
                the number of records, `seed` and `within`, and where conditions are set `only`, which says which
                records are wanted. None: an Arrow table, or a frame of the library given
    """

    name: str
    source: str | Callable[[Any], Source]
    summary: str
    addresses: tuple[str, ...] = ()
    recognises: str | Callable[[Any], bool] | None = None
    sample: str | Callable[..., Any] | None = None


def is_spark_frame(data: Any) -> bool:
    """Whether the data is a DataFrame of Spark's: of a classic session, of Spark Connect, or pandas on Spark."""
    return type(data).__module__.startswith("pyspark.") and type(data).__name__ == "DataFrame"


def is_arrow_dataset(data: Any) -> bool:
    """Whether the data is a `pyarrow.dataset.Dataset`."""
    return type(data).__module__ == "pyarrow._dataset" and type(data).__name__.endswith("Dataset")


# A line a kind: nothing else in the house lists them. The last takes whatever no other recognises.
BUILT_IN = (
    SourceKind(
        "postgresql",
        "understudy.pipeline.sources.postgres:PostgresSource",
        "a table or a query of PostgreSQL: postgresql://user@host/database#table",
        ("postgresql:", "postgres:"),
    ),
    SourceKind(
        "spark",
        "understudy.pipeline.sources.spark:SparkSource",
        "a DataFrame of Spark's, a table of its session (spark:name), or files that its workers read",
        ("spark:",),
        recognises=is_spark_frame,
        sample="understudy.pipeline.drawing.spark_sample:sample_on_spark",
    ),
    SourceKind(
        "duckdb",
        "understudy.pipeline.sources.streamed:DatabaseSource",
        "a table or a query of a DuckDB file: duckdb:people.db?table=people",
        ("duckdb:",),
    ),
    SourceKind(
        "sqlite",
        "understudy.pipeline.sources.other_databases:SqliteSource",
        "a table or a query of a SQLite file: sqlite:people.db?table=people",
        ("sqlite:",),
    ),
    SourceKind(
        "snowflake",
        "understudy.pipeline.sources.other_databases:SnowflakeSource",
        "a table or a query of Snowflake: snowflake://user:password@account/database/schema#people",
        ("snowflake:",),
    ),
    SourceKind(
        "bigquery",
        "understudy.pipeline.sources.other_databases:BigQuerySource",
        "a table or a query of BigQuery: bigquery://project/dataset#people",
        ("bigquery:",),
    ),
    SourceKind(
        "delta",
        "understudy.pipeline.sources.datasets:DeltaSource",
        "the folder of a Delta table, read by its log: people/, or delta:people/",
        ("delta:",),
        recognises="understudy.pipeline.sources.datasets:is_delta",
    ),
    SourceKind(
        "iceberg",
        "understudy.pipeline.sources.datasets:IcebergSource",
        "the newest file of an Iceberg table's metadata: people/metadata/00002-....metadata.json",
        ("iceberg:",),
        recognises="understudy.pipeline.sources.datasets:is_iceberg",
    ),
    SourceKind(
        "dataset",
        "understudy.pipeline.sources.datasets:DatasetSource",
        "a dataset of Arrow's (pyarrow.dataset), also in an object store",
        recognises=is_arrow_dataset,
    ),
    SourceKind(
        "files",
        "understudy.pipeline.sources.streamed:FilesSource",
        "files that are streamed: parquet:people/, csv:people.csv, a folder, a pattern, or one that is large",
        ("parquet:", "csv:", "jsonl:"),
        recognises="understudy.pipeline.sources.streamed:is_large",
    ),
    SourceKind(
        "table",
        "understudy.pipeline.sources.in_memory:MemorySource",
        "a file of a moderate size (CSV, JSON lines, Excel, Parquet, Arrow), or a frame (pandas, Polars, Arrow)",
    ),
)


@cache
def kinds() -> tuple[SourceKind, ...]:
    """Every kind there is, those of other packages by name before those of the house, whose last takes all."""
    found = {kind.name: kind for kind in BUILT_IN}
    others: list[SourceKind] = []
    for package, kind in offered(SOURCES, SourceKind):
        if found.setdefault(kind.name, kind) is not kind:
            raise ParameterError(
                f"two packages offer a source {kind.name!r}.", hint=f"uninstall one: {package}."
            )
        others.append(kind)
    owners: dict[str, SourceKind] = {}
    for kind in (*BUILT_IN, *others):
        for prefix in kind.addresses:
            if owners.setdefault(prefix, kind) is not kind:
                raise ParameterError(
                    f"sources {owners[prefix].name!r} and {kind.name!r} both have addresses that begin {prefix!r}.",
                    hint="uninstall the package of one.",
                )
    return (*others, *BUILT_IN)


def kind_of(data: Any) -> SourceKind:
    """The kind of some data: an address is told by how it begins, all else is asked of each kind in turn."""
    return _addressed(data) or next(
        (kind for kind in kinds() if kind.recognises and loaded(kind.recognises)(data)), BUILT_IN[-1]
    )


def is_address(data: Any) -> bool:
    """Whether data is the address of some source; one may hold a password, so no message should show it."""
    return _addressed(data) is not None


def source_of(data: Any) -> Source:
    """The source of some data; nothing is read, and nobody connected to."""
    _check_known(data)
    made: Source = loaded(kind_of(data).source)(os.fspath(data) if is_address(data) else data)
    return made


# How data is given that no kind here takes, and what to do; the address itself is not shown: it may hold a password.
_ELSEWHERE = {
    ("s3:", "gs:", "gcs:", "abfs:", "abfss:", "az:", "adl:", "hdfs:", "oss:"): (
        "is in an object store",
        "in Python give a dataset of Arrow's: us.fit(pyarrow.dataset.dataset(address), ...); or copy it here.",
    ),
    ("http:", "https:", "ftp:", "sftp:"): ("is on a server of files", "fetch it first."),
    (
        "mysql:",
        "mariadb:",
        "mssql:",
        "sqlserver:",
        "oracle:",
        "redshift:",
    ): (
        "is a table of a database that is not read from here",
        "in Python give what its driver fetches as Arrow; or export the table as Parquet.",
    ),
}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")
_DATABASES = {
    b"SQLite format 3\0": ("SQLite", "say which table of it: sqlite:people.db?table=people"),
    b"DUCK": ("DuckDB", "say which table of it: duckdb:people.db?table=people"),
}


def _check_known(data: Any) -> None:
    """Refuse, with a way out, an address of a kind that is not read, and a database that is given as a file."""
    if not isinstance(data, str | os.PathLike) or is_address(data):
        return
    path = os.fspath(data)
    for beginnings, (what, hint) in _ELSEWHERE.items():
        scheme = next((known for known in beginnings if path.lower().startswith(known + "//")), None)
        if scheme:
            raise ParameterError(f"the table at {scheme}// {what}.", hint=hint)
    if unknown := _SCHEME.match(path):
        raise ParameterError(
            f"an address that begins {unknown[0]} is of no kind that is read here.",
            hint=f"give the path of a file, or an address that begins {', '.join(_beginnings())}.",
        )
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return
    if path.lower().endswith(".json") and start.lstrip().startswith(b"["):
        raise FileError(
            f"{path!r} is one list of JSON, not a record a line.", hint="write JSON lines: jq -c '.[]'"
        )
    for magic, (what, hint) in _DATABASES.items():
        if start.startswith(magic) or (what == "DuckDB" and start[8:12] == magic):
            raise FileError(f"{path!r} is a database of {what}, not a table.", hint=hint)


def open_records(data: Any, reading: Reading) -> Records:
    """The records of a file, a frame, or whatever else a kind of source recognises."""
    return source_of(data).open(reading)


def name_of(data: Any) -> str | None:
    """What the ledger calls data that nobody named: a file by its name, a table of a database by its own."""
    return source_of(data).name


def places_of(data: Any) -> tuple[str, ...]:
    """The files, folders and patterns in which some data lies, as far as its source knows; nothing is read."""
    from understudy.pipeline.sources.records import LiesInFiles

    source = source_of(data)
    return source.places if isinstance(source, LiesInFiles) else ()


def first_records(
    data: Any, most: int, *, dialect: Dialect | None = None, types: Mapping[str, pa.DataType] | None = None
) -> pa.Table:
    """Values of at most so many records, for a person or a comparison; never for a release.

    `dialect` is how text is written, as far as it is known, and `types` are those in which to try to read a CSV
    file's columns (see `data.read`); the others come as text.
    """
    return source_of(data).first_records(most, dialect=dialect, types=types)


def first_pieces(
    data: Any, most: int, *, dialect: Dialect | None = None, types: Mapping[str, pa.DataType] | None = None
) -> Iterator[pa.Table]:
    """The same a piece at a time, at least one: of what is streamed as it comes, of any other source all at once."""
    from understudy.pipeline.sources.records import ComesInPieces

    source = source_of(data)
    if isinstance(source, ComesInPieces):
        return source.first_pieces(most, dialect=dialect)
    return iter([source.first_records(most, dialect=dialect, types=types)])


def seen_dialect(data: Any, declared: Dialect) -> Dialect:
    """How text is written as its records show it, for drafts and comparisons; for other sources what was declared."""
    from understudy.pipeline.sources.records import LooksAtText

    source = source_of(data)
    return source.seen_dialect(declared) if isinstance(source, LooksAtText) else declared


def sampler(kind: str) -> Callable[..., Any] | None:
    """Who draws records for a release whose `kind` this is; None where an Arrow table is drawn and converted."""
    found = next((known.sample for known in kinds() if known.name == kind), None)
    drawn: Callable[..., Any] | None = loaded(found)
    return drawn


def _beginnings() -> list[str]:
    return sorted({prefix for kind in kinds() for prefix in kind.addresses})


def _addressed(data: Any) -> SourceKind | None:
    if not isinstance(data, str | os.PathLike):
        return None
    address = os.fspath(data)
    return next((kind for kind in kinds() if kind.addresses and address.startswith(kind.addresses)), None)
