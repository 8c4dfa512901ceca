"""On Spark: units are counted as in memory, keys are unique over workers, and wanted records alone are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import understudy as us
from spark_session import frame, session
from understudy.data import write
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import open_records
from understudy.privacy import Seeded

SCHEMA = us.Schema(
    {"key": us.Id(pattern=r"K\d{4}"), "sex": us.Category(("F", "M")), "age": us.Integer(0, 99)},
    name="t",
    unit="who",
)


def people() -> pa.Table:
    rng = np.random.default_rng(0)
    who = [
        None if n % 9 == 0 else str(n) for n in np.repeat(np.arange(300), rng.integers(1, 5, 300)).tolist()
    ]
    return pa.table(
        {
            "who": who,
            "key": [f"canary{n}" for n in range(len(who))],
            "sex": rng.choice(["F", "M"], len(who)),
            "age": rng.integers(0, 99, len(who)),
        }
    )


def test_units_are_counted_as_in_memory(tmp_path: Path) -> None:
    table = people()
    write(table, tmp_path / "t.csv")
    expected = open_records(table, Reading(SCHEMA)).count_units("who")
    for source in (frame(table, 5), f"spark:csv:{tmp_path}/t.csv"):
        assert open_records(source, Reading(SCHEMA)).count_units("who") == expected


def test_keys_are_unique_over_workers_and_records_are_those_wanted(tmp_path: Path) -> None:
    release = us.fit(
        frame(people(), 3), SCHEMA, epsilon=9.0, delta=1e-6, ledger=tmp_path / "l.db", source=Seeded(1)
    )
    drawn = release.sample_spark(session(), 900, seed=4, partitions=4, where="age >= 40").toArrow()
    assert drawn.num_rows == 900 and pc.min(drawn["age"]).as_py() >= 40
    assert len(drawn["key"].unique()) == 900 and "canary" not in str(drawn["key"].to_pylist())
    assert release.sample(50, where="sex = 'F'").count() == 50
    with pytest.raises(us.UnderstudyError, match="10001 records"):
        release.sample_spark(session(), 10_001)
