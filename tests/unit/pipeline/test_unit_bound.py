"""How many records of a unit are used: learned where nobody said, by noisy counts, and told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.data import write
from understudy.errors import SchemaError
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import open_records
from understudy.pipeline.unit_bound import STARTS, check_countable, chosen
from understudy.privacy import Seeded
from understudy.privacy.curator.unit_sizes import UnitSizes

COLUMNS = {"sex": us.Category(("F", "M")), "age": us.Integer(0, 99)}
SCHEMA = us.Schema(COLUMNS, name="t", unit="who")
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def people(units: int = 3_000) -> pa.Table:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(units), rng.geometric(0.5, units))
    owners = [None if n % 50 == 0 else f"p{n}" for n in who.tolist()]
    return pa.table(
        {"who": owners, "sex": rng.choice(["F", "M"], len(who)), "age": rng.integers(0, 99, len(who))}
    )


def sizes(*units: int, scale: float = 20.0) -> UnitSizes:
    return UnitSizes(STARTS, np.array([*units, *[0] * (len(STARTS) - len(units))]), scale)


def test_the_least_bound_is_taken_that_leaves_out_few_records() -> None:
    assert chosen(sizes(10_000)).most == 1
    assert chosen(sizes(10_000, 200)).most == 1  # 200 of 10,400 records
    assert chosen(sizes(5_000, 5_000)).most == 2
    assert chosen(sizes(1_000, 1_000, 1_000, 1_000)).most == 4
    halves = chosen(sizes(5_000, 5_000))
    assert halves.records == 15_000 and halves.left_out == 0


def test_cells_of_noise_alone_have_no_say() -> None:
    found = chosen(sizes(10_000, *[100] * (len(STARTS) - 1)))  # 100 is within five scales of nothing
    assert found.most == 1 and found.records == 10_000
    few = chosen(sizes(50, 30, scale=20.0))
    assert few.most == 1 and few.records is None and "too few units" in few.said


def test_a_unit_without_a_bound_learns_one_and_says_what_is_left_out(tmp_path: Path) -> None:
    assert SCHEMA.max_records_per_unit == "learn" and us.Schema.from_toml(SCHEMA.to_toml()) == SCHEMA
    release = us.fit(people(), SCHEMA, **BUDGET, ledger=tmp_path / "l.db", source=Seeded(1))
    most = release.schema.max_records_per_unit
    assert most in (3, 4, 5) and release.certificate["neighbours"]["records"] == most
    assert release.verify().holds and release.spent[0]["stage"] == "units"
    said = release.certificate["warnings"][-1]
    assert f"at most {most} records of each unit are used (learned)" in said and "left out" in said
    release.save(tmp_path / "t.release")
    assert us.load(tmp_path / "t.release").schema.max_records_per_unit == most


def test_a_bound_that_is_given_costs_no_question(tmp_path: Path) -> None:
    release = us.fit(
        people(), SCHEMA, **BUDGET, max_records_per_unit=2, ledger=tmp_path / "l.db", source=Seeded(1)
    )
    assert release.schema.max_records_per_unit == 2
    assert "units" not in [stage["stage"] for stage in release.spent]


def test_the_same_run_again_has_the_same_bound_and_is_charged_once(tmp_path: Path) -> None:
    write(people(), tmp_path / "t.csv")
    runs = [us.fit(tmp_path / "t.csv", SCHEMA, **BUDGET, ledger=tmp_path / "l.db") for _ in range(2)]
    assert runs[0].certificate == runs[1].certificate
    assert us.Ledger(tmp_path / "l.db").account("t").spent[0] == pytest.approx(1.0)


def test_every_source_counts_the_same_units(tmp_path: Path) -> None:
    table = people(400)
    write(table, tmp_path / "t.csv")
    write(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.db")) as base:
        base.register("arriving", table)
        base.execute("CREATE TABLE t AS SELECT * FROM arriving")
    sources: list[Any] = [
        table, tmp_path / "t.csv", f"csv:{tmp_path}/t.csv", f"parquet:{tmp_path}/t.parquet",
        f"duckdb:{tmp_path}/t.db?table=t",
    ]  # fmt: skip
    found = [open_records(source, Reading(SCHEMA)).count_units("who") for source in sources]
    assert all(counts == found[0] for counts in found) and sum(found[0].values()) == 392


def test_records_that_cannot_be_counted_by_unit_are_refused() -> None:
    records: Any = object()
    assert not check_countable(records, us.Schema(COLUMNS, unit="who", max_records_per_unit=2))
    with pytest.raises(SchemaError, match="cannot be learned from this kind of data"):
        check_countable(records, SCHEMA)


def test_an_engine_alone_needs_to_be_told(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="max_records_per_unit is not known yet"):
        us.table(people(50), SCHEMA)


def test_the_plan_says_what_a_bound_costs() -> None:
    said = us.plan(SCHEMA, **BUDGET).advice[-1]
    assert "learned privately" in said and "with 8" in said
    fixed = us.plan(us.Schema(COLUMNS, unit="who", max_records_per_unit=4), **BUDGET)
    assert "It is 4 here." in fixed.advice[-1] and fixed.groups[0].name != "units"
    assert us.plan(SCHEMA, **BUDGET).groups[0].name == "units"
