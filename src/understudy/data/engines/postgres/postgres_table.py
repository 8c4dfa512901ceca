"""A table in PostgreSQL, read as a stream of Arrow batches, or counted where it lies.

A table has no order of its own, so none is asked for: nothing that is counted depends on one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.counting.open_values import merge_tallies
from understudy.data.engines.postgres.address import Address, parse
from understudy.data.engines.postgres.connection import Session
from understudy.data.engines.postgres.types import Kind, kind_of, literal, quoted
from understudy.errors import OperatorError, ParameterError, SchemaError

READABLE = "rmpvf"  # tables, materialised views, partitioned tables, views, foreign tables
MOST_SETS = 31  # as many columns as GROUPING() takes
NESTED = pa.list_(pa.null())  # stands for every type of more than one value a cell


@dataclass(frozen=True, eq=False)
class PostgresTable:
    """The records of a table or a query; the column `unit`, where that is given, says whose they are."""

    session: Session
    relation: str  # what stands in FROM
    kinds: Mapping[str, Kind | None]  # None for a column that does not hold one plain value a cell
    decode: bool = False  # whether texts may be no UTF-8
    unit: str | None = None
    most: int | None = None  # records that are read; all by default

    @classmethod
    def open(cls, address: str) -> PostgresTable:
        """The table at an address, once the server lets it be read."""
        found = parse(address)
        session = Session(found)
        relation, columns = _table(session, found) if found.table else _query(session, found)
        table = cls(session, relation, _kinds(session, columns), decode=_without_encoding(session))
        # Fails without the right to read, and reads nothing.
        session.table(f"{table._select(table.plain().types.names)} LIMIT 0")
        return table

    @property
    def types(self) -> pa.Schema:
        """The names and types of the columns: taken as public."""
        return pa.schema(
            [(name, NESTED if kind is None else kind.meant) for name, kind in self.kinds.items()]
        )

    @property
    def snapshot(self) -> str | None:
        """Always None: a database does not say when its records last changed."""
        return None

    def by_unit(self, unit: str) -> PostgresTable:
        """The table with a column of units, in which equal units have one form: 1.0 and 1.00 are both 1."""
        self._kind(unit)
        return replace(self, unit=unit)

    def first(self, most: int) -> PostgresTable:
        """The table cut to so many records by the server, which otherwise sends all, whoever stops listening."""
        return replace(self, most=most)

    def plain(self) -> PostgresTable:
        """The same table without the columns that do not hold one plain value a cell."""
        return replace(self, kinds={name: kind for name, kind in self.kinds.items() if kind is not None})

    def check(self, columns: Iterable[str]) -> None:
        """Refuse columns that do not hold one plain value a cell."""
        for name in columns:
            self._kind(name)

    def few(self, column: str) -> bool:
        """Whether the column's type usually has far fewer values than records: public, unlike their number."""
        return self._kind(column).few

    def scan(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """All records in batches, with `columns` in that order; their types are the server's, not `types`."""
        for batch in self.session.batches(self._select(columns)):
            yield pa.RecordBatch.from_arrays(self._plain(batch, len(columns)), names=list(columns))

    def tally(self, columns: Sequence[str]) -> Iterator[tuple[str, pa.Array, pa.Array]]:
        """How many records hold each value of each column alone, counted by the server; the lists come in parts.

        A part is a column's name, some of its values (null among them), and their numbers of records.
        """
        for start in range(0, len(columns), MOST_SETS):
            yield from self._tally(columns[start : start + MOST_SETS])

    def _tally(self, columns: Sequence[str]) -> Iterator[tuple[str, pa.Array, pa.Array]]:
        names = [f"c{place}" for place in range(len(columns))]
        sets = ", ".join(f"({name})" for name in names)
        query = (
            f"SELECT {', '.join(names)}, grouping({', '.join(names)}) AS absent, count(*) AS records "
            f"FROM ({self._select(columns)}) AS kept GROUP BY GROUPING SETS ({sets})"
        )
        everything = (1 << len(columns)) - 1
        for batch in self.session.batches(query):
            arrays = self._plain(batch, len(columns))
            absent, records = (pa.array(batch.column(len(columns) + place)) for place in (0, 1))
            for place, name in enumerate(columns):
                # A bit for each column that a line does not speak of, the first column's the highest.
                mine = pc.equal(absent, everything ^ (1 << (len(columns) - 1 - place)))
                yield name, arrays[place].filter(mine), records.filter(mine)

    def count_values(self, column: str) -> dict[Any, int]:
        """How many records hold each value of a column, counted by the server; missing values and NaN aside."""
        return merge_tallies((values, records) for _, values, records in self.tally([column]))

    # -- queries ---------------------------------------------------------------------------------------------

    def _select(self, columns: Sequence[str]) -> str:
        """The query for some columns, which the answer calls c0, c1, ...: so a column may have any name."""
        shown = ", ".join(f"{self._ask(name)} AS c{place}" for place, name in enumerate(columns))
        cut = "" if self.most is None else f" LIMIT {self.most:d}"
        return f"SELECT {shown} FROM {self.relation} AS t{cut}"

    def _ask(self, name: str) -> str:
        kind = self._kind(name)
        whose = kind.whose if name == self.unit else None
        return (whose or kind.expression).format(f"t.{quoted(name)}")

    def _kind(self, name: str) -> Kind:
        if name not in self.kinds:
            raise SchemaError(f"column {name!r} is not in the data.", hint="remove it, or correct its name.")
        kind = self.kinds[name]
        if kind is None:
            raise SchemaError(
                f"column {name!r} holds lists, documents or bytes, not one plain value a cell.",
                hint="leave it out, or give a query that takes a plain value from it.",
            )
        return kind

    def _plain(self, batch: pa.RecordBatch, columns: int) -> list[pa.Array]:
        """The first columns of a batch, with bytes that are not UTF-8 replaced where there may be any."""
        arrays = [batch.column(place) for place in range(columns)]
        return [_decoded(array) for array in arrays] if self.decode else arrays


def _table(session: Session, address: Address) -> tuple[str, dict[str, int]]:
    """What stands in FROM, and the columns that may be read with their types."""
    name = ".".join(map(quoted, address.table))
    found = session.table(
        "SELECT relkind::text AS kind, has_table_privilege(oid, 'SELECT') AS whole, "
        "has_any_column_privilege(oid, 'SELECT') AS some, oid::int8 AS oid "
        f"FROM pg_class WHERE oid = to_regclass({literal(name)})"
    ).to_pylist()
    if not found:
        raise OperatorError(
            f"there is no {address}.",
            hint="check the name, its schema and its capitals, and that the user may see it.",
        )
    (about,) = found
    if about["kind"] not in READABLE:
        raise OperatorError(f"{address} is an index or a sequence.", hint="name a table or a view.")
    if not about["some"] and not about["whole"]:
        raise OperatorError(f"{address}: the user may not read it.", hint="ask for the right to SELECT.")
    columns = session.table(
        "SELECT attname::text AS name, atttypid::int8 AS type FROM pg_attribute "
        f"WHERE attrelid = {about['oid']} AND attnum > 0 AND NOT attisdropped "
        "AND has_column_privilege(attrelid, attnum, 'SELECT') ORDER BY attnum"
    ).to_pylist()
    return name, {column["name"]: column["type"] for column in columns}


def _query(session: Session, address: Address) -> tuple[str, dict[str, int]]:
    """What stands in FROM for a query, and its columns with their types; no record is looked at."""
    relation = f"(\n{address.query}\n)"  # on lines of its own: it may end in a comment
    names = session.table(f"SELECT * FROM {relation} AS t LIMIT 0").schema.names
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"{address} has two columns named {name!r}.", hint="give every column its own name."
            )
    if not names:
        return relation, {}
    # An outer join that never matches: one line of nulls, each of its column's type.
    asked = ", ".join(f"pg_typeof(t.{quoted(name)})::oid::int8 AS c{i}" for i, name in enumerate(names))
    (types,) = session.table(
        f"SELECT {asked} FROM (VALUES (1)) AS one LEFT JOIN (SELECT * FROM {relation} AS s) AS t ON false"
    ).to_pylist()
    return relation, {name: types[f"c{i}"] for i, name in enumerate(names)}


def _kinds(session: Session, columns: Mapping[str, int]) -> dict[str, Kind | None]:
    """How each column travels: by its type, or by the base type where its type is a domain."""
    if not columns:
        raise OperatorError(f"{session.address} has no columns.", hint="name a table with some.")
    listed = ", ".join(str(int(oid)) for oid in set(columns.values()))
    bases = session.table(
        "WITH RECURSIVE base AS ("
        f"SELECT oid AS asked, oid FROM pg_type WHERE oid IN ({listed}) UNION ALL "
        "SELECT asked, typbasetype FROM base JOIN pg_type USING (oid) WHERE typtype = 'd') "
        "SELECT asked::int8 AS asked, typtype::text AS sort, "
        "CASE WHEN typnamespace = 'pg_catalog'::regnamespace OR typname = 'citext' THEN typname::text "
        "ELSE '' END AS name FROM base JOIN pg_type USING (oid) WHERE typtype <> 'd'"
    ).to_pylist()
    kinds = {line["asked"]: kind_of(line["name"], line["sort"]) for line in bases}
    return {name: kinds.get(oid) for name, oid in columns.items()}


def _without_encoding(session: Session) -> bool:
    (encoding,) = session.table("SELECT current_setting('server_encoding') AS e")["e"].to_pylist()
    return bool(encoding == "SQL_ASCII")


def _decoded(array: pa.Array) -> pa.Array:
    """The texts with bytes that are not UTF-8 replaced, which only a database without an encoding holds."""
    if not pa.types.is_string(array.type):
        return array
    return pa.array(
        [
            None if text is None else text.decode("utf-8", "replace")
            for text in array.view(pa.binary()).to_pylist()
        ],
        pa.string(),
    )
