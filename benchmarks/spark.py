"""MST over a folder of Parquet on Spark with two workers, beside the streamed engine on the same files.

    python -m benchmarks.spark                 2 million rows x 20 columns
    python -m benchmarks.spark --rows 1e7

Also the rates that docs/spark.md reckons with: cells coded and cells counted a second on one core, by the very
tasks that Spark's workers run. Starting Spark, its workers and the compiled kernels is not timed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.streaming import SIZES, fit, line, simulate

import understudy as us
from understudy.data.engines import spark_tasks as tasks
from understudy.data.engines.spark import collected, on_workers
from understudy.transforms.encode import Encoder

LIMIT = 2.5
RUNS = 2


def main() -> None:
    """Print every figure beside its limit."""
    import pyspark

    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--files", action="store_true", help="leave the DataFrame out: minutes at 1e7 rows")
    asked = parser.parse_args()
    rows = int(asked.rows)
    print(f"understudy {us.__version__}, pyspark {pyspark.__version__}, pyarrow {pa.__version__}, ", end="")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; {rows:,} rows x {len(SIZES)} columns")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as place:
        folder = Path(place)
        simulate(rows, folder)
        rates(folder)
        compare(folder, frames=not asked.files)


def compare(folder: Path, *, frames: bool) -> None:
    """A release by either engine, in turn: the same noisy counts, and the time of each."""
    spark = session()
    frame = spark.read.parquet(str(folder / "people"))
    methods: dict[str, Callable[[], Any]] = {
        "streamed": lambda: fit(f"parquet:{folder / 'people'}", folder),
        "Spark, files": lambda: fit(f"spark:parquet:{folder / 'people'}", folder),
        "Spark, DataFrame of files": lambda: fit(frame, folder),
        # Fewer partitions, at most as many as there are: the same records, and no plain scan any more.
        "Spark, DataFrame": lambda: fit(frame.coalesce(10_000), folder),
    }
    if not frames:
        del methods["Spark, DataFrame"]
    answers = {name: method() for name, method in methods.items()}  # starts workers, compiles kernels
    handed = min(
        timed(lambda: collected(on_workers(frame, skip(), tasks.PARTIALS), "read")) for _ in range(RUNS)
    )
    cells = frame.count() * len(SIZES)
    line("Spark hands a worker", f"{cells / handed / 2e6:.0f} M", "cells a second, from Parquet to Arrow")
    best = dict.fromkeys(methods, float("inf"))
    for _ in range(RUNS):
        for name, method in methods.items():
            best[name] = min(best[name], timed(method))
    streamed, *_ = best.values()
    for name, seconds in best.items():
        line(f"MST, {name}", f"{seconds:.1f} s", f"{seconds / streamed:.2f} x (limit {LIMIT})")
    line("  noisy counts", "the same" if len(set(answers.values())) == 1 else "DIFFER")
    spark.stop()


def skip() -> tasks.Task:
    """A task that looks at nothing (a closure, so that it reaches the workers whole)."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        return iter(())

    return task


def rates(folder: Path) -> None:
    """What one core codes and counts, and what a task sends to be added up."""
    encoder = Encoder(us.Schema.load(folder / "people.toml"))
    (first, *_) = sorted((folder / "people").iterdir())
    batches = pq.read_table(first).slice(0, 1 << 20).to_batches(max_chunksize=10_000)
    rows, domain = sum(batch.num_rows for batch in batches), encoder.domain
    pack = tasks.Pack(domain, encoder.forward)
    packs = list(pack(batches))
    coding = min(timed(lambda: list(pack(batches))) for _ in range(3))
    pairs = tuple(combinations(domain, 2))
    count = tasks.Count(domain, domain, {}, pairs)
    partials = list(count(packs))
    counting = min(timed(lambda: list(count(packs))) for _ in range(3))
    cells = sum(domain.size(pair) for pair in pairs) + 1
    sent = sum(len(batch.column(1)[0].as_py()) for batch in partials)
    adding = min(timed(lambda: list(tasks.Add(cells)(partials * 8))) for _ in range(3)) / 8
    packed = sum(len(batch.column(1)[0].as_py()) for batch in packs)
    million = 1e6
    line("one core codes", f"{rows * len(SIZES) / coding / million:.0f} M", "cells a second")
    line("one core counts", f"{rows * len(pairs) / counting / million:.0f} M", "increments a second (pairs)")
    line("one core adds", f"{cells / adding / million:.0f} M", "cells a second")
    line("a record's codes take", f"{packed / rows:.1f}", f"bytes for {len(SIZES)} columns")
    line("a task sends", f"{sent / million:.2f} MB", f"for {cells:,} cells of {len(pairs)} pairs")


def session() -> Any:
    """Two workers on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("ERROR")
    return made


def timed(method: Callable[[], Any]) -> float:
    """How long a method takes, with all that it gives kept until the end."""
    start = time.perf_counter()
    result = method()
    seconds = time.perf_counter() - start
    del result
    return seconds


if __name__ == "__main__":
    main()
