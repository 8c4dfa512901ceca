"""What it costs to compare a synthetic table with the real one: `understudy evaluate` from file to figures.

    python -m benchmarks.comparing [--rows 1e6]

Made-up records of ten columns in two Parquet files, compared in a process of their own, whose processor seconds and
peak memory are the system's account of it. Kernels are compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZES = (2, 3, 5, 8, 10, 12, 20, 40, 60, 100)
SCHEMA = "\n".join(
    ["[table]", 'name = "made_up"']
    + [f'[columns.c{i}]\ntype = "integer"\nmin = 0\nmax = {size - 1}' for i, size in enumerate(SIZES)]
)
PIECE = 1_000_000  # records that are made at a time


def main() -> None:
    """Print processor seconds and peak memory at the number of records that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        compare(Path(given.step))
        return
    rows = int(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        for place, records in ((small, 1000), (large, rows)):
            place.mkdir()
            (place / "schema.toml").write_text(SCHEMA)
            write(place / "real.parquet", records, 0)
            write(place / "synthetic.parquet", records, 1)
        run(small)  # compiles
        found = run(large)
    print(
        f"{rows:,} records of {len(SIZES)} columns compared with as many: {found['processor']:.1f} processor "
        f"seconds, {found['seconds']:.1f} s, {found['megabytes']:,.0f} MB"
    )


def write(path: Path, rows: int, seed: int) -> None:
    """So many records, each column leaning on the one before; written a piece at a time."""
    rng = np.random.default_rng(seed)
    types = pa.schema([(f"c{i}", pa.int16()) for i in range(len(SIZES))])
    with pq.ParquetWriter(path, types) as file:
        for start in range(0, rows, PIECE):
            count = min(PIECE, rows - start)
            columns, before = [], rng.integers(0, 1 << 15, count)
            for size in SIZES:
                before = np.where(rng.random(count) < 0.6, before, rng.integers(0, 1 << 15, count))
                columns.append(pa.array((before % size).astype(np.int16)))
            file.write_table(pa.Table.from_arrays(columns, schema=types))


def run(place: Path) -> dict[str, Any]:
    """What a comparison took, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.comparing", "--step", str(place)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(place: Path) -> None:
    """Compare the two tables, write the page, and print what that took."""
    import understudy as us

    start = time.perf_counter()
    found = us.evaluate(place / "real.parquet", place / "synthetic.parquet", place / "schema.toml")
    found.report(place / "page.html")
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "processor": used.ru_utime + used.ru_stime,
                "megabytes": used.ru_maxrss / 1024,
                "figures": [figure.by_table for figure in found.evaluation.figures],
            }
        )
    )


if __name__ == "__main__":
    main()
