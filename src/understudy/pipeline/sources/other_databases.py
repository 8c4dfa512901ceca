"""Tables and queries of SQLite, Snowflake and BigQuery, streamed through their ADBC drivers."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import ClassVar

from understudy.data.engines.adbc_query import open_bigquery, open_snowflake, open_sqlite
from understudy.data.engines.batch_source import BatchSource
from understudy.data.engines.duckdb import qualified
from understudy.data.files.file_set import table_name
from understudy.domain.dialect import Dialect
from understudy.errors import ParameterError
from understudy.pipeline.sources.streamed import StreamedSource


class SqliteSource(StreamedSource):
    """A table or a query of a file of SQLite's: sqlite:people.db?table=people."""

    @property
    def name(self) -> str | None:
        """The table's name, or the name of the file where a query is asked."""
        place, _, asked = self._address.partition("?")
        how, _, what = asked.partition("=")
        return what.strip().split(".")[-1] if how == "table" else table_name(place)

    @property
    def places(self) -> tuple[str, ...]:
        """The file, and what SQLite puts beside it."""
        place = self._address.partition("?")[0]
        return (place, f"{place}-wal", f"{place}-shm", f"{place}-journal")

    def scannable(self, dialect: Dialect | None) -> BatchSource:
        return open_sqlite(self._address)

    @property
    def _address(self) -> str:
        return str(os.fspath(self.data)).removeprefix("sqlite:")


class WarehouseSource(StreamedSource):
    """A table of a warehouse, or a query: snowflake://user@account/database/schema#people."""

    prefix: ClassVar[str]

    @property
    def name(self) -> str | None:
        """The table's name; a query has none."""
        table = self._parts[1]
        return None if _is_query(table) else table.split(".")[-1]

    def scannable(self, dialect: Dialect | None) -> BatchSource:
        place, table = self._parts
        if not place or not table:
            raise ParameterError(
                f"an address that begins {self.prefix} ends in #table or #SELECT ...",
                hint=f"write {self.prefix}...#people",
            )
        query = table if _is_query(table) else f"SELECT * FROM {qualified(table)}"
        return self._opened(place, f"the table at {self.prefix}", query)

    @abstractmethod
    def _opened(self, place: str, what: str, query: str) -> BatchSource:
        """The answer to a query."""

    @property
    def _parts(self) -> tuple[str, str]:
        """Who to connect to, which may hold a password, and what to ask for."""
        place, _, table = str(os.fspath(self.data)).removeprefix(self.prefix).partition("#")
        return place, table.strip()


class SnowflakeSource(WarehouseSource):
    """A table of Snowflake's."""

    prefix = "snowflake://"

    def _opened(self, place: str, what: str, query: str) -> BatchSource:
        return open_snowflake(place, what, query)


class BigQuerySource(WarehouseSource):
    """A table of BigQuery's: bigquery://project/dataset#people."""

    prefix = "bigquery://"

    def _opened(self, place: str, what: str, query: str) -> BatchSource:
        return open_bigquery(place, what, query)


def _is_query(words: str) -> bool:
    return words.lower().startswith(("select ", "with ", "(select "))
