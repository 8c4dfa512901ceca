"""Tables in a real PostgreSQL: types, snapshots, units, names that would be code, and servers that go away."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest

from postgres_server import GUARDED, PASSWORD, Server
from understudy.data.counting.bytes_of_values import unit_bytes
from understudy.data.engines.postgres.postgres_table import PostgresTable
from understudy.errors import OperatorError, ParameterError, SchemaError
from understudy.pipeline.sources.streamed import first_pieces_of

SECRET = "canary-7f3a"


def fetched(table: PostgresTable, *columns: str) -> dict[str, list[Any]]:
    """Everything that a scan of some columns gives."""
    batches = list(table.scan(columns))
    return {
        name: [value for batch in batches for value in batch.column(name).to_pylist()] for name in columns
    }


def tallied(table: PostgresTable, *columns: str) -> dict[str, Counter[Any]]:
    found: dict[str, Counter[Any]] = {name: Counter() for name in columns}
    for name, values, records in table.tally(columns):
        found[name].update(dict(zip(values.to_pylist(), records.to_pylist(), strict=True)))
    return found


# --- types --------------------------------------------------------------------------------------------------

PLAIN = {
    "bool": ("true", True),
    "int2": ("-7", -7),
    "int4": ("7", 7),
    "int8": ("9223372036854775807", 2**63 - 1),
    "float4": ("1.5", 1.5),
    "float8": ("-2.5", -2.5),
    "numeric(12,2)": ("12.50", "12.50"),
    "numeric": ("1e400", "1" + "0" * 400),
    "text": ("'naïve ☃'", "naïve ☃"),
    "varchar(9)": ("'ab'", "ab"),
    "char(5)": ("'ab'", "ab"),
    "date": ("'2020-02-29'", date(2020, 2, 29)),
    "timestamp": ("'2020-01-02 03:04:05.000006'", datetime(2020, 1, 2, 3, 4, 5, 6)),
    "timestamptz": ("'2020-01-02 03:04:05+02'", datetime(2020, 1, 2, 1, 4, 5, tzinfo=UTC)),
    "time": ("'12:30'", "12:30:00"),
    "interval": ("'1 day 2 hours'", "P1DT2H"),
    "uuid": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "inet": ("'10.0.0.1'", "10.0.0.1/32"),
    "bit(3)": ("'101'", "101"),
    "mood": ("'happy'", "happy"),
    "percentage": ("40", 40),
}


@pytest.fixture(scope="module")
def every_type(request: pytest.FixtureRequest) -> PostgresTable:
    from postgres_server import server

    made = server()
    columns = ", ".join(f'"{name}" {name}' for name in PLAIN)
    values = ", ".join(text for text, _ in PLAIN.values())
    made.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE DOMAIN share AS int4 CHECK (VALUE >= 0)",
        "CREATE DOMAIN percentage AS share CHECK (VALUE <= 100)",
        f"CREATE TABLE every_type ({columns})",
        f"INSERT INTO every_type VALUES ({values})",
        "INSERT INTO every_type (bool) VALUES (NULL)",
    )
    return PostgresTable.open(made.address("every_type"))


@pytest.mark.parametrize("kind", PLAIN)
def test_a_value_of_every_plain_type_arrives_and_so_does_a_null(every_type: PostgresTable, kind: str) -> None:
    assert fetched(every_type, kind)[kind] == [PLAIN[kind][1], None]
    assert tallied(every_type, kind)[kind] == {PLAIN[kind][1]: 1, None: 1}


def test_the_types_that_are_taken_as_public_are_those_of_the_columns(every_type: PostgresTable) -> None:
    types = {field.name: field.type for field in every_type.types}
    assert types["numeric"] == pa.float64(), "numbers, though they travel as text"
    assert types["mood"] == pa.string()
    assert types["percentage"] == pa.int32(), "a domain is its base type"
    assert types["timestamptz"] == pa.timestamp("us", tz="UTC")


def test_moments_that_arrow_cannot_hold_stay_on_their_side_of_every_bound(postgres: Server) -> None:
    postgres.execute(
        "CREATE TABLE extremes (d date, t timestamp, z timestamptz, n numeric, f float8)",
        "INSERT INTO extremes VALUES ('infinity', 'infinity', 'infinity', 'NaN', 'NaN'), "
        "('-infinity', '-infinity', '-infinity', '-Infinity', '-Infinity'), "
        "('5874897-12-31', '294276-12-31', '294276-12-31', 'Infinity', 'Infinity'), "
        "('4713-01-01 BC', '4713-01-01 BC', '4713-01-02 BC', 0, '-0')",
    )
    table = PostgresTable.open(postgres.address("extremes"))
    (batch,) = table.scan(["d", "t", "z", "n"])
    for name in ("d", "t", "z"):
        column = batch.column(name)
        years = [int(text[: text.index("-", 1)]) for text in column.cast(pa.string()).to_pylist()]
        assert [year > 9999 for year in years] == [True, False, True, False]
        assert [year < 1 for year in years] == [False, True, False, True]
    assert batch.column("n").to_pylist() == ["NaN", "-Infinity", "Infinity", "0"]
    assert table.count_values("f") == {"-inf": 1, "inf": 1, "0": 1}
    assert all(sum(table.count_values(name).values()) == 4 for name in ("d", "t", "z"))


@pytest.mark.parametrize(
    "kind", ["int4[]", "json", "jsonb", "bytea", "xml", "point", "int4range", "pair", "tsvector"]
)
def test_a_column_of_more_than_one_value_a_cell_is_refused_by_name_only_when_it_is_asked_for(
    postgres: Server, kind: str
) -> None:
    postgres.execute(
        "DROP TABLE IF EXISTS nested", "DROP TYPE IF EXISTS pair", "CREATE TYPE pair AS (a int, b int)"
    )
    postgres.execute(f"CREATE TABLE nested (plain int, odd {kind})", "INSERT INTO nested VALUES (1, NULL)")
    table = PostgresTable.open(postgres.address("nested"))
    assert fetched(table, "plain") == {"plain": [1]}
    assert fetched(table.plain(), *table.plain().types.names) == {"plain": [1]}
    for ask in (
        lambda: list(table.scan(["odd"])),
        lambda: table.by_unit("odd"),
        lambda: table.check(["odd"]),
    ):
        with pytest.raises(SchemaError, match=r"'odd'.*plain value"):
            ask()


def test_texts_of_a_database_without_an_encoding_never_fail(postgres: Server) -> None:
    postgres.execute(
        "CREATE DATABASE raw ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    postgres.execute(
        r"CREATE TABLE t AS SELECT convert_from('\xff41'::bytea, 'SQL_ASCII') AS x UNION ALL SELECT 'plain'",
        database="raw",
    )
    table = PostgresTable.open(postgres.address("t", database="raw"))
    assert sorted(fetched(table, "x")["x"]) == ["plain", "\ufffdA"]
    assert table.count_values("x") == {"plain": 1, "\ufffdA": 1}


# --- names --------------------------------------------------------------------------------------------------

HOSTILE = [
    '"; DROP TABLE victim; --',
    "'; DROP TABLE victim; --",
    'a"b',
    "c0",
    "place",
    "ctid2",
    "{0}",
    "%s $1 ?",
    "naïve ☃",
    "new\nline",
    "select",
    " ",
    "\\",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_would_be_code_is_only_a_name(postgres: Server, name: str) -> None:
    identifier = '"' + name.replace('"', '""') + '"'
    postgres.execute(
        "CREATE TABLE IF NOT EXISTS victim (x int)",
        f"DROP SCHEMA IF EXISTS {identifier} CASCADE",
        f"CREATE SCHEMA {identifier}",
        f"CREATE TABLE {identifier}.{identifier} ({identifier} text, u int)",
        f"INSERT INTO {identifier}.{identifier} VALUES ('x', 1), ('x', 1), ('y', 2), (NULL, NULL)",
    )
    table = PostgresTable.open(postgres.address(f"{identifier}.{identifier}"))
    assert table.types.names == [name, "u"]
    assert fetched(table, name, "u") == {name: ["x", "x", "y", None], "u": [1, 1, 2, None]}
    assert table.count_values(name) == {"x": 2, "y": 1}
    assert fetched(table.by_unit(name), name, "u")[name] == ["x", "x", "y", None]
    PostgresTable.open(postgres.address("victim"))


@pytest.mark.parametrize("name", [*HOSTILE, "people'; DROP TABLE victim; --"])
def test_a_table_that_is_not_there_is_named_and_nothing_is_run(postgres: Server, name: str) -> None:
    postgres.execute("CREATE TABLE IF NOT EXISTS victim (x int)")
    missing = '"nobody ' + name.replace('"', '""') + '"'
    with pytest.raises(OperatorError, match="there is no table"):
        PostgresTable.open(postgres.address(missing))
    PostgresTable.open(postgres.address("victim"))


def test_two_columns_of_one_name_are_refused(postgres: Server) -> None:
    with pytest.raises(ParameterError, match="two columns named 'a'"):
        PostgresTable.open(f"{postgres.uri()}&query=SELECT 1 AS a, 2 AS a")


def test_a_table_without_columns_and_an_index_are_refused(postgres: Server) -> None:
    postgres.execute("CREATE TABLE hollow ()", "CREATE TABLE solid (x int PRIMARY KEY)")
    with pytest.raises(OperatorError, match="no columns"):
        PostgresTable.open(postgres.address("hollow"))
    with pytest.raises(OperatorError, match="index"):
        PostgresTable.open(postgres.address("solid_pkey"))


# --- records ------------------------------------------------------------------------------------------------


def test_a_table_of_several_batches_arrives_whole_and_no_more_than_once(postgres: Server) -> None:
    postgres.execute(
        "CREATE TABLE large AS SELECT i, repeat('x', 100) AS wide FROM generate_series(1, 300000) AS i"
    )
    table = PostgresTable.open(postgres.address("large"))
    batches = list(table.scan(["i", "wide"]))
    assert len(batches) > 1
    assert sorted(value for batch in batches for value in batch.column("i").to_pylist()) == list(
        range(1, 300001)
    )


def test_an_empty_table_and_a_table_of_one_record_are_tables(postgres: Server) -> None:
    for rows in (0, 1):
        table = PostgresTable.open(postgres.address(postgres.load({"x": pa.array([5] * rows, pa.int32())})))
        assert fetched(table, "x") == {"x": [5] * rows}
        assert table.count_values("x") == ({5: 1} if rows else {})
        assert fetched(table.by_unit("x"), "x") == {"x": [5] * rows}


def test_all_scans_of_a_run_see_the_records_of_its_beginning(postgres: Server) -> None:
    name = postgres.load({"x": [1, 2, 3]})
    table = PostgresTable.open(postgres.address(name))
    postgres.execute(f"INSERT INTO {name} VALUES (4)", f"DELETE FROM {name} WHERE x = 1")
    assert fetched(table, "x") == {"x": [1, 2, 3]}
    assert table.count_values("x") == {1: 1, 2: 1, 3: 1}
    again = PostgresTable.open(postgres.address(name))
    assert fetched(again, "x") == {"x": [2, 3, 4]}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM kept RETURNING x",
        "SELECT nextval('s')",
        "WITH d AS (DELETE FROM kept RETURNING x) SELECT x FROM d",
    ],
)
def test_a_query_that_writes_is_refused(postgres: Server, query: str) -> None:
    postgres.execute("CREATE SEQUENCE IF NOT EXISTS s", "CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS x")
    with pytest.raises(OperatorError):
        list(first_pieces_of(PostgresTable.open(f"{postgres.uri()}&query={query}").plain(), 1 << 20))
    assert fetched(PostgresTable.open(postgres.address("kept")), "x") == {"x": [1]}


def test_a_query_may_end_in_a_comment_or_a_semicolon(postgres: Server) -> None:
    table = PostgresTable.open(f"{postgres.uri()}&query=SELECT 1 AS x -- one\n;")
    assert fetched(table, "x") == {"x": [1]}


def test_views_partitions_and_queries_are_read_like_tables(postgres: Server) -> None:
    postgres.execute(
        "CREATE TABLE whole (k int, u int) PARTITION BY LIST (k)",
        "CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1)",
        "CREATE TABLE whole_2 PARTITION OF whole FOR VALUES IN (2)",
        "INSERT INTO whole VALUES (2, 7), (1, 7), (1, 8)",
        "CREATE VIEW seen AS SELECT * FROM whole",
        "CREATE MATERIALIZED VIEW frozen AS SELECT * FROM whole",
    )
    for address in (
        *map(postgres.address, ("whole", "seen", "frozen")),
        f"{postgres.uri()}&query=TABLE whole",
    ):
        table = PostgresTable.open(address)
        assert table.count_values("k") == {1: 2, 2: 1}
        assert sorted(fetched(table.by_unit("u"), "u")["u"]) == [7, 7, 8]


# --- counting where the records lie -------------------------------------------------------------------------


def test_every_column_of_a_wide_table_is_counted_as_if_it_had_been_read(postgres: Server) -> None:
    columns: dict[str, Any] = {
        f"n{i}": [(row * i) % (i + 2) or None for row in range(200)] for i in range(70)
    }
    columns |= {f"t{i}": [str(row % (i + 1)) for row in range(200)] for i in range(10)}
    table = PostgresTable.open(postgres.address(postgres.load(columns)))
    assert tallied(table, *columns) == {name: Counter(values) for name, values in columns.items()}


def test_texts_that_a_collation_takes_for_the_same_are_counted_apart(postgres: Server) -> None:
    if not postgres.offers("SELECT FROM pg_collation WHERE collprovider = 'i'"):
        pytest.skip("this server was built without ICU")
    postgres.execute(
        "CREATE COLLATION careless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE letters (x text COLLATE careless)",
        "INSERT INTO letters VALUES ('a'), ('A'), ('á'), ('a ')",
    )
    table = PostgresTable.open(postgres.address("letters"))
    assert table.count_values("x") == {"a": 1, "A": 1, "á": 1, "a ": 1}


# --- units --------------------------------------------------------------------------------------------------


def test_units_that_the_server_takes_for_one_are_one(postgres: Server) -> None:
    postgres.execute(
        "CREATE TABLE odd_units (f float8, n numeric, c char(4))",
        "INSERT INTO odd_units VALUES ('NaN', 'NaN', NULL), (NULL, NULL, ''), "
        "(1, 1.0, 'a'), (1, 1.00, 'a '), (1e300, 1e300, 'A')",
    )
    table = PostgresTable.open(postgres.address("odd_units"))
    for unit, others in (("f", b"1e+300"), ("n", b"1" + b"0" * 300), ("c", b"A")):
        found = pa.chunked_array([batch.column(0) for batch in table.by_unit(unit).scan([unit])])
        one = b"a" if unit == "c" else b"1"
        assert Counter(unit_bytes(found).to_pylist()) == {None: 2, one: 2, others: 1}


def test_a_unit_that_is_not_a_column_is_refused(postgres: Server) -> None:
    table = PostgresTable.open(postgres.address(postgres.load({"x": [1]})))
    with pytest.raises(SchemaError, match="'nobody'"):
        table.by_unit("nobody")


# --- faults -------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_said_so(tmp_path: Any) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(OperatorError, match=r"no server answers.*nothing was charged"):
        PostgresTable.open(f"postgresql://reader:{SECRET}@/town?host={tmp_path}#people")


def test_a_wrong_password_is_refused_and_shown_nowhere(postgres: Server) -> None:
    name = postgres.load({"x": [1]})
    postgres.execute(f"GRANT SELECT ON {name} TO {GUARDED}")
    with pytest.raises(OperatorError, match="did not accept the user and the password") as caught:
        PostgresTable.open(postgres.address(name, user=GUARDED, password=SECRET))
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    table = PostgresTable.open(postgres.address(name, user=GUARDED, password=PASSWORD))
    assert fetched(table, "x") == {"x": [1]}
    assert PASSWORD not in f"{table!r} {table.session.address}"


def test_a_database_that_is_not_there_is_said_so(postgres: Server) -> None:
    with pytest.raises(OperatorError, match="no such database"):
        PostgresTable.open(postgres.address("t", database="nowhere"))


def test_a_table_that_the_user_may_not_read_is_refused_when_it_is_opened(postgres: Server) -> None:
    name = postgres.load({"x": [1]})
    with pytest.raises(OperatorError, match="may not read"):
        PostgresTable.open(postgres.address(name, user=GUARDED, password=PASSWORD))


def test_a_user_who_may_read_some_columns_reads_those(postgres: Server) -> None:
    name = postgres.load({"u": [1, 1, 2], "x": [7, 5, 6], "hidden": ["a", "b", "c"]})
    postgres.execute(f"GRANT SELECT (u, x) ON {name} TO {GUARDED}")
    table = PostgresTable.open(postgres.address(name, user=GUARDED, password=PASSWORD))
    assert table.types.names == ["u", "x"]
    assert table.count_values("x") == {5: 1, 6: 1, 7: 1}


def test_a_query_that_is_none_is_refused_when_it_is_opened(postgres: Server) -> None:
    with pytest.raises(OperatorError, match="not valid") as caught:
        PostgresTable.open(f"{postgres.uri()}&query=SELEC '{SECRET}'")
    assert SECRET not in str(caught.value)


def test_a_query_that_fails_on_a_record_does_not_quote_it(postgres: Server) -> None:
    name = postgres.load({"x": ["1"] * 50 + [SECRET]})
    table = PostgresTable.open(f"{postgres.uri()}&query=SELECT x::int AS x FROM {name}")
    with pytest.raises(OperatorError, match="fails on some record") as caught:
        fetched(table, "x")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize("how", ["terminated", "stopped"])
def test_a_connection_lost_in_the_middle_of_a_scan_is_an_error_and_never_a_shorter_table(
    postgres: Server, how: str
) -> None:
    name = f"long_{how}"
    postgres.execute(
        f"CREATE TABLE {name} AS SELECT '{SECRET}' || repeat('x', 400) AS wide FROM generate_series(1, 200000)"
    )
    table = PostgresTable.open(postgres.address(name))
    scan = table.scan(["wide"])
    assert sum(batch.num_rows for batch in islice(scan, 1)) > 0
    if how == "terminated":
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
    else:
        postgres.stop()
    try:
        with pytest.raises(OperatorError, match="run it again") as caught:
            list(scan)
        assert SECRET not in str(caught.value) and "wide" not in str(caught.value)
        with pytest.raises(OperatorError):
            table.count_values("wide")
    finally:
        if how == "stopped":
            postgres.start()
    assert PostgresTable.open(postgres.address(name)).types.names == ["wide"]


def test_a_scan_that_is_given_up_leaves_a_table_that_can_be_read(postgres: Server) -> None:
    name = postgres.load({"x": list(range(200_000)), "y": ["some text"] * 200_000})
    table = PostgresTable.open(postgres.address(name))
    scan = table.scan(["x", "y"])
    next(scan)
    scan.close()
    assert sum(table.count_values("y").values()) == 200_000
