"""One unit decides over its own records alone, wherever they lie: which of them count, and of nobody else's."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import KINDS, Kind

import understudy as us
from postgres_server import server
from spark_session import session
from understudy.domain import Category, Integer, Schema
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import open_records

MOST = 2
SCHEMA = Schema(
    {"town": Category(("a", "b", "c", "d")), "age": Integer(min=0, max=9)},
    name="people",
    unit="who",
    max_records_per_unit=MOST,
)
OPEN = replace(SCHEMA, columns={"town": Category(discover=True)})
PAIR = ("town", "age")


def people() -> pa.Table:
    """Units of no record to a dozen, some the same."""
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "who": pa.array([f"p{i:02}" for i in rng.integers(0, 40, 250)]),
            "town": pa.array(rng.choice(["a", "a", "b", "c"], 250)),
            "age": pa.array(rng.integers(0, 10, 250)),
        }
    )


def with_one_more(base: pa.Table, who: str, *, first: bool) -> pa.Table:
    """The same records with those of one unit more: many, and before or after all others."""
    rng = np.random.default_rng(5)
    more = pa.table(
        {
            "who": pa.array([who] * 400),
            "town": pa.array(rng.choice(["b", "c", "d"], 400)),
            "age": pa.array(rng.integers(0, 10, 400)),
        }
    )
    return pa.concat_tables([more, base] if first else [base, more]).combine_chunks()


def counts(data: Any, schema: Schema = SCHEMA) -> np.ndarray:
    (marginal,) = us.table(data, schema).count([PAIR])
    return np.asarray(marginal.counts)


@pytest.fixture(params=KINDS, name="kind")
def _kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def test_one_more_unit_moves_its_own_counts_alone(kind: Kind, tmp_path: Path) -> None:
    base = people()
    before = counts(base)
    for number, (who, first) in enumerate([("!first", True), ("zzz", False)]):
        (folder := tmp_path / str(number)).mkdir()
        table = with_one_more(base, who, first=first)
        moved = counts(kind(table, folder)) - before
        assert (moved >= 0).all() and moved.sum() == MOST
        mine = table.filter(pa.array([owner == who for owner in table["who"].to_pylist()]))
        np.testing.assert_array_equal(moved, counts(mine))


def test_the_order_of_records_decides_nothing(kind: Kind, tmp_path: Path) -> None:
    base = people()
    shuffled = base.take(pa.array(np.random.default_rng(6).permutation(base.num_rows)))
    np.testing.assert_array_equal(counts(kind(shuffled, tmp_path)), counts(base))


def test_values_are_counted_by_unit(kind: Kind, tmp_path: Path) -> None:
    """Of a value that one unit has in hundreds of records, so many count as the schema says, and of no others'."""
    base = people()
    before = open_records(base, Reading(OPEN)).count_values("town", OPEN)
    table = with_one_more(base, "!first", first=True)
    records = open_records(kind(table, tmp_path), Reading(OPEN))
    after = records.count_values("town", OPEN)
    moved = {value: after.get(value, 0) - before.get(value, 0) for value in {*before, *after}}
    assert min(moved.values()) >= 0 and sum(moved.values()) == MOST
    assert after == open_records(table, Reading(OPEN)).count_values("town", OPEN)


# --- ways in whose order one unit can turn round -------------------------------------------------------------

TURNED = Schema({"code": Integer(min=0, max=1)}, name="t", unit="who", max_records_per_unit=1)


def one_way(data: Any) -> list[int]:
    (marginal,) = us.table(data, TURNED).count([("code",)])
    return [int(count) for count in marginal.counts[:2]]


def check_moved_by_one(before: list[int], after: list[int]) -> None:
    assert sum(before) == 2000 and min(before) > 800  # not the first, nor the least
    assert sum(abs(one - other) for one, other in zip(before, after, strict=True)) == 1


def test_a_join_whose_build_side_one_unit_turns_keeps_the_others_records(tmp_path: Path) -> None:
    found = []
    for more in (0, 5000):
        path = tmp_path / f"{more}.db"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE a AS SELECT i AS who FROM range(2000) AS t (i)")
            connection.execute(
                "CREATE TABLE b AS SELECT i % 2000 AS who, i // 2000 AS code FROM range(4000) AS t (i)"
            )
            connection.execute(f"INSERT INTO a SELECT 99999 FROM range({more})")
            connection.execute(f"INSERT INTO b SELECT 99999, 0 FROM range({min(more, 1)})")
        found.append(one_way(f"duckdb:{path}?query=SELECT b.who, b.code FROM a JOIN b ON b.who = a.who"))
    check_moved_by_one(*found)


def test_files_that_one_unit_makes_larger_keep_the_others_records(tmp_path: Path) -> None:
    """Spark reads the larger of two files first: each unit has one code in the one and one in the other."""
    found = []
    for more in (0, 30_000):
        (folder := tmp_path / str(more)).mkdir()
        for code, length in enumerate([9, 8]):
            who = [*range(2000), *([99_999] * more * code)]
            noise = [secrets.token_hex(length) for _ in who]  # which does not pack
            table = pa.table({"who": who, "code": [code] * len(who), "noise": noise})
            pq.write_table(table, folder / f"{code}.parquet")
        frame = session().read.parquet(str(folder))
        found.append(one_way(frame))
        assert one_way(frame.repartition(7)) == one_way(f"spark:parquet:{folder}") == found[-1]
    check_moved_by_one(*found)


def test_a_table_whose_records_the_server_stores_anew_keeps_the_same_ones() -> None:
    """A query that reads in another order, or a row that moves when it is written, changes nothing."""
    made = server()
    name = made.load(
        pa.table({"who": [i % 2000 for i in range(4000)], "code": [i // 2000 for i in range(4000)]})
    )
    before = one_way(made.address(name))
    made.execute(f"UPDATE {name} SET code = code WHERE code = 0")  # now stored behind the others
    made.execute(f"INSERT INTO {name} SELECT 99999, 0 FROM generate_series(1, 100)")
    after = one_way(made.address(name))
    check_moved_by_one(before, after)
    for order in ("code", "code DESC"):
        query = f"{made.uri()}&query=SELECT * FROM {name} ORDER BY {order}"
        assert one_way(query) == after
