"""Releases from PostgreSQL: what travels, what a fault costs, and what the outside gets to see."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import understudy as us
from postgres_server import GUARDED, PASSWORD, Server
from understudy.cli import understudy as command_line
from understudy.data.engines.postgres.connection import Session
from understudy.domain import Schema
from understudy.errors import OperatorError, ParameterError, SchemaError, UnderstudyError
from understudy.mechanisms import MST, Independent
from understudy.pipeline.sources.in_memory import InMemory
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import open_records
from understudy.privacy import Ledger, Seeded
from understudy.transforms.split import Floor

BUDGET: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-5}
CANARY = "canary-9b1d"
SCHEMA = Schema.from_toml("""
[table]
name = "people"
[columns.sex]
type = "category"
values = ["M", "F"]
[columns.age]
type = "integer"
min = 0
max = 99
[columns.member]
type = "boolean"
[columns.born]
type = "date"
min = 1930-01-01
max = 2020-12-31
every = "year"
[columns.pay]
type = "number"
min = 0
max = 1000
bins = 10
[columns.seen]
type = "datetime"
min = 2020-01-01T00:00:00
max = 2021-12-31T00:00:00
every = "month"
""")
FEW = SCHEMA.columns.keys() - {"pay", "seen"}
LEARNED = Schema.from_toml('[table]\nname = "people"\n[columns.sex]\ntype = "category"\ndiscover = true\n')


def people(rows: int) -> pa.Table:
    """Records with misfits and nulls in every column."""
    rng = np.random.default_rng(rows)

    def some(*values: Any) -> list[Any]:
        return [values[i] for i in rng.integers(0, len(values), rows)]

    start = datetime(2019, 11, 3, 5, 6, 7)
    return pa.table(
        {
            "who": pa.array(some(*range(rows // 3 + 1), None), pa.int64()),
            "sex": pa.array(some("M", "F", "m", "", None), pa.string()),
            "age": pa.array(some(*range(-5, 120), None), pa.int32()),
            "member": pa.array(some(True, False, None), pa.bool_()),
            "born": pa.array(some(*(datetime(1900 + i, 3, 4).date() for i in range(140)), None), pa.date32()),
            "pay": pa.array(some(*np.linspace(-50, 1100, 77).tolist(), None), pa.float64()),
            "seen": pa.array(
                some(*(start + timedelta(days=9 * i) for i in range(100)), None), pa.timestamp("us")
            ),
        }
    )


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every query whose answer may be long, as it is asked."""
    asked: list[str] = []
    original = Session.batches

    def batches(self: Session, query: str) -> Iterator[pa.RecordBatch]:
        asked.append(query)
        return original(self, query)

    monkeypatch.setattr(Session, "batches", batches)
    return asked


# --- what travels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [None, "who"])
def test_columns_counted_by_the_server_are_counted_to_the_last_unit(
    postgres: Server, unit: str | None
) -> None:
    schema = Schema(SCHEMA.columns, unit=unit, max_records_per_unit=2 if unit else None)
    data = people(800)
    address = postgres.address(postgres.load(data))
    records = open_records(address, Reading(schema))
    cliques = [(name,) for name in SCHEMA.columns] + [()]
    table = InMemory(data).encode(schema)
    for engine in (records.encode_alone(schema), records.encode(schema)):
        for found, wanted in zip(engine.count(cliques), table.count(cliques), strict=True):
            assert found.clique == wanted.clique
            np.testing.assert_array_equal(found.counts, wanted.counts)


def test_a_run_that_asks_for_columns_alone_moves_no_record_but_of_columns_with_many_values(
    postgres: Server, queries: list[str], tmp_path: Path
) -> None:
    address = postgres.address(postgres.load(people(300)))
    few = Schema({name: SCHEMA.columns[name] for name in SCHEMA.columns if name in FEW}, name="few")
    us.fit(address, few, **BUDGET, mechanism=Independent(), check=False, ledger=tmp_path / "l")
    assert len(queries) == 1 and "GROUPING SETS" in queries[0]
    queries.clear()
    us.fit(address, SCHEMA, **BUDGET, mechanism=Independent(), check=False, ledger=tmp_path / "l")
    (row_query,) = [query for query in queries if "GROUPING SETS" not in query]
    assert '"pay"' in row_query and '"seen"' in row_query
    assert not any(f'"{name}"' in row_query for name in FEW)


def test_a_run_that_asks_for_columns_together_reads_the_records_once_and_counts_nothing_twice(
    postgres: Server, queries: list[str], tmp_path: Path
) -> None:
    address = postgres.address(postgres.load(people(300)))
    us.fit(address, SCHEMA, **BUDGET, mechanism=MST(), ledger=tmp_path / "l")
    assert len(queries) == 1 and "GROUPING SETS" not in queries[0]


def test_what_travels_depends_on_the_schema_and_not_on_the_records(
    postgres: Server, queries: list[str]
) -> None:
    asked = []
    for data in (people(300), people(0), people(1)):
        name = f"same_{len(asked)}"
        records = open_records(postgres.address(postgres.load(data, name)), Reading(SCHEMA))
        records.encode_alone(SCHEMA).count([(column,) for column in SCHEMA.columns])
        asked.append([query.replace(name, "t") for query in queries])
        queries.clear()
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize("mechanism", [MST(), Independent()], ids=lambda mechanism: mechanism.name)
def test_a_table_of_which_only_names_and_types_are_known_gives_the_release_of_the_same_records_in_memory(
    postgres: Server, tmp_path: Path, mechanism: Any
) -> None:
    data = people(700).drop(["who"])
    address = postgres.address(postgres.load(data))
    one, other = (
        us.fit(table, **BUDGET, mechanism=mechanism, source=Seeded(3), ledger=tmp_path / "l", name="people")
        for table in (data, address)
    )
    assert one.schema.to_toml() == other.schema.to_toml()
    for first, second in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(first.values, second.values)


def test_numbers_of_any_length_and_instants_are_numbers_and_instants(
    postgres: Server, tmp_path: Path
) -> None:
    postgres.execute(
        "CREATE TABLE exact AS SELECT (i % 50)::numeric(12, 2) / 4 AS price, "
        "timestamptz '2020-01-01 00:00+02' + i * interval '1 hour' AS moment FROM generate_series(1, 3000) AS i",
        "INSERT INTO exact VALUES ('NaN', 'infinity'), (1e300, '-infinity'), (NULL, NULL)",
    )
    release = us.fit(postgres.address("exact"), **BUDGET, ledger=tmp_path / "l")
    assert {name: column.type for name, column in release.schema.columns.items()} == {
        "price": "number",
        "moment": "datetime",
    }
    sample = release.sample(500, seed=1)
    prices = [price for price in sample["price"].to_pylist() if price is not None]
    assert np.median(prices) == pytest.approx(6, abs=4)
    assert all(moment.tzinfo is not None for moment in sample["moment"].to_pylist() if moment is not None)
    assert datetime(2019, 1, 1, tzinfo=UTC) < sorted(filter(None, sample["moment"].to_pylist()))[250]


@pytest.mark.parametrize("unit", [None, "who"])
def test_transforms_apply_before_records_are_coded_and_bounded(
    postgres: Server, tmp_path: Path, unit: str | None
) -> None:
    data = people(400)
    schema = Schema(
        {name: SCHEMA.columns[name] for name in ("sex", "age")},
        name="p",
        unit=unit,
        max_records_per_unit=1 if unit else None,
    )
    floor = Floor("age", 10)
    name = postgres.load(data)
    postgres.execute(f"ALTER TABLE {name} ADD COLUMN tags text[]")
    one, other = (
        us.fit(table, schema, **BUDGET, transforms=[floor], source=Seeded(3), ledger=tmp_path / "l")
        for table in (data, postgres.address(name))
    )
    for first, second in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(first.values, second.values)


# --- what a fault costs -------------------------------------------------------------------------------------


def test_what_cannot_be_opened_costs_nothing(postgres: Server, tmp_path: Path) -> None:
    name = postgres.load(people(20))
    postgres.execute(f"ALTER TABLE {name} ADD COLUMN tags text[]")
    ledger = Ledger(tmp_path / "ledger")
    tags = Schema.from_toml('[columns.tags]\ntype = "category"\ndiscover = true\n')
    nowhere = Schema.from_toml('[columns.nowhere]\ntype = "boolean"\n')
    refused: list[tuple[str, Schema | None, type[Exception]]] = [
        (postgres.address("nobody"), SCHEMA, OperatorError),
        (postgres.address(name, database="nowhere"), SCHEMA, OperatorError),
        (postgres.address(name, user=GUARDED, password=CANARY), SCHEMA, OperatorError),
        (postgres.address(name, user=GUARDED, password=PASSWORD), SCHEMA, OperatorError),
        (postgres.address(name), None, SchemaError),
        (postgres.address(name), tags, SchemaError),
        (postgres.address(name), nowhere, SchemaError),
        (f"{postgres.uri()}&query=SELECT 1 AS sex", None, ParameterError),
        ("postgresql:people", SCHEMA, ParameterError),
    ]
    for address, schema, error in refused:
        with pytest.raises(error) as caught:
            us.fit(address, schema, **BUDGET, ledger=ledger)
        assert CANARY not in str(caught.value) and PASSWORD not in str(caught.value)
    assert ledger.names() == []


def test_a_connection_lost_while_a_complete_schema_is_coded_costs_nothing(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.execute(
        "CREATE TABLE long AS SELECT i % 100 AS age, repeat('x', 300) AS filler FROM generate_series(1, 300000) AS i"
    )
    ledger = Ledger(tmp_path / "ledger")
    ages = Schema({"age": SCHEMA.columns["age"], "filler": SCHEMA.columns["sex"]})
    original = Session.batches

    def dying(self: Session, query: str) -> Iterator[pa.RecordBatch]:
        for batch in original(self, query):
            yield batch
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            )

    monkeypatch.setattr(Session, "batches", dying)
    with pytest.raises(OperatorError, match="lost"):
        us.fit(postgres.address("long"), ages, **BUDGET, ledger=ledger)
    assert ledger.names() == []


def test_a_run_cut_off_after_its_charge_goes_on_under_its_label_with_the_answers_it_had(
    postgres: Server, tmp_path: Path
) -> None:
    address = postgres.address(postgres.load(people(900)))
    schema = Schema({**LEARNED.columns, "age": SCHEMA.columns["age"]}, name="people")
    ledger = Ledger(tmp_path / "ledger")

    def cut_off(stage: str) -> None:
        if stage == "coding the records":
            postgres.stop()

    try:
        with pytest.raises(OperatorError, match="--job"):
            us.fit(address, schema, **BUDGET, ledger=ledger, job="first", stage=cut_off)
    finally:
        postgres.start()
    (job,) = ledger.account("people").jobs.values()
    answers = [charge.answer for charge in job.charges]
    assert len(answers) == 1 and answers[0] is not None, "the values were found, and nothing else was asked"
    spent = ledger.account("people").spent

    release = us.fit(address, schema, **BUDGET, ledger=ledger, job="first")
    (job,) = ledger.account("people").jobs.values()
    assert job.charges[0].answer == answers[0], "no second draw"
    assert ledger.account("people").spent == spent, "charged once"
    again = us.fit(address, schema, **BUDGET, ledger=ledger, job="first")
    for one, other in zip(release.measurements, again.measurements, strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_without_a_label_two_runs_are_two_runs(postgres: Server, tmp_path: Path) -> None:
    address, ledger = postgres.address(postgres.load(people(50))), Ledger(tmp_path / "ledger")
    for _ in range(2):
        us.fit(address, SCHEMA, **BUDGET, mechanism=Independent(), ledger=ledger)
    assert len(ledger.account("people").jobs) == 2, "a database may have changed in between"


# --- what the outside sees ----------------------------------------------------------------------------------


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command_line, [*arguments], standalone_mode=False)


def test_a_password_is_in_no_file_and_no_word_of_a_run(postgres: Server, tmp_path: Path) -> None:
    name = postgres.load(people(200))
    postgres.execute(f"GRANT SELECT ON {name} TO {GUARDED}")
    address = postgres.address(name, user=GUARDED, password=PASSWORD)
    ledger = ("--ledger", str(tmp_path / "ledger"))
    budget = ("--epsilon", "1", "--delta", "1e-9")
    made = run(
        *("synth", address, *budget, *ledger, "-o", str(tmp_path / "s.csv"), "--unit", "who"),
        *("--release", str(tmp_path / "r.release")),
    )
    assert made.exception is None, made.output
    said = [made.output, run("ledger", address, *ledger).output, run("ledger", *ledger).output]
    said.append(run("ledger", address, *ledger, "--limit-epsilon", "3", "--limit-delta", "1e-8").output)
    said.append(run("schema", address).output)
    assert Ledger(tmp_path / "ledger").names() == [name]
    content = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    for secret in (PASSWORD, quote(PASSWORD, safe=""), GUARDED):
        assert not any(secret in text for text in said)
        assert not any(secret.encode() in found for found in content)


def test_the_command_leaves_with_one_for_the_server_and_two_for_the_address(
    postgres: Server, tmp_path: Path
) -> None:
    options = (
        "--epsilon",
        "1",
        "--delta",
        "1e-9",
        "-o",
        str(tmp_path / "s.csv"),
        "--ledger",
        str(tmp_path / "l"),
    )
    for address, code in (
        (postgres.address("nobody"), 1),
        (f"postgresql://u:{CANARY}@/d?host={tmp_path}#t", 1),
        (f"postgresql://u:{CANARY}@/d?host={tmp_path}", 2),
        (f"postgresql://u:{CANARY}#x@/d", 2),
        ("postgresql://h/d?query=SELECT 1", 2),
    ):
        error = run("synth", address, *options).exception
        assert isinstance(error, UnderstudyError) and error.exit_code == code, error
        assert CANARY not in str(error)
    assert not (tmp_path / "s.csv").exists() and not (tmp_path / "l").exists()


def test_without_the_driver_a_person_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(OperatorError, match=r'pip install "understudy\[postgres\]"'):
        us.fit("postgresql://h/d#people", SCHEMA, **BUDGET, ledger=tmp_path / "l")


def test_a_query_is_charged_under_the_name_that_it_is_given(postgres: Server, tmp_path: Path) -> None:
    name, ledger = postgres.load(people(100)), Ledger(tmp_path / "ledger")
    address = f"{postgres.uri()}&query=SELECT sex, age FROM {name} WHERE age > 17 -- adults"
    release = us.fit(address, **BUDGET, ledger=ledger, name="adults", mechanism=Independent())
    assert ledger.names() == ["adults"]
    assert set(release.schema.columns) == {"sex", "age"}
