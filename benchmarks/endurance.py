"""What stays in memory: after fit upon fit in one process, and of a large text file that is streamed.

    python -m benchmarks.endurance [--fits 200] [--rows 1e7]

The process says after so many fits what it holds. A text file of made-up records is fitted in a process of its own,
whose memory is looked at every tenth of a second: all of it, and the part of it that is pages of files.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import understudy as us

SHOWN = (10, 25, 50, 100, 150, 200, 400)
COLUMNS = 10
PIECE = 1_000_000  # records that are made at a time
SCHEMA = "\n".join(
    ["[table]", 'name = "made_up"']
    + [f'[columns.c{i}]\ntype = "integer"\nmin = 0\nmax = 9999\nbins = 32' for i in range(COLUMNS)]
)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--rows", type=float, default=1e7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.fits:
            many_fits(given.fits, Path(folder))
        if given.rows:
            large_text(int(given.rows), Path(folder))


def many_fits(fits: int, folder: Path) -> None:
    """What the process holds after so many fits and samples, each on a ledger of its own."""
    rng = np.random.default_rng(0)
    table = pa.table({f"c{i}": rng.integers(0, 5, 2000) for i in range(5)})
    schema = us.Schema({name: us.Integer(0, 4) for name in table.column_names}, name="made_up")
    for number in range(1, fits + 1):
        ledger = folder / f"{number}.db"
        release = us.fit(table, schema, epsilon=1.0, delta=1e-9, mechanism="mst", ledger=ledger)
        release.sample(1000, seed=number)
        if number in SHOWN or number == fits:
            print(f"after {number:>4} fits: {held(os.getpid())['VmRSS'] / 1024:,.1f} MB", flush=True)


def large_text(rows: int, folder: Path) -> None:
    """The most that a fit on a large text file holds."""
    path = folder / "large.csv"
    rng = np.random.default_rng(0)
    types = pa.schema([(f"c{i}", pa.int64()) for i in range(COLUMNS)])
    with pyarrow.csv.CSVWriter(path, types) as file:
        for start in range(0, rows, PIECE):
            count = min(PIECE, rows - start)
            columns = [pa.array(rng.integers(0, 10_000, count)) for _ in range(COLUMNS)]
            file.write_table(pa.Table.from_arrays(columns, schema=types))
    (folder / "schema.toml").write_text(SCHEMA)
    budget = ["--epsilon", "1", "--delta", "1e-9", "--mechanism", "mst"]
    files = ["--schema", folder / "schema.toml", "--ledger", folder / "large.db", "-o", folder / "release"]
    command = [sys.executable, "-m", "understudy", "fit", f"csv:{path}", *budget, *map(str, files)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most: dict[str, int] = {}
    while run.poll() is None:
        for name, size in held(run.pid).items():
            most[name] = max(most.get(name, 0), size)
        time.sleep(0.1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"a text file of {rows:,} records and {path.stat().st_size / 1e6:,.0f} MB, streamed: "
        f"at most {most['VmRSS'] / 1024:,.0f} MB held, at most {most['RssFile'] / 1024:,.0f} MB of files among "
        f"them; {used.ru_utime + used.ru_stime:.1f} processor seconds"
    )


def held(process: int) -> dict[str, int]:
    """What a process holds, in units of 1,024 bytes; nothing once it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    parted = (line.split() for line in lines if line.startswith(("VmRSS", "RssFile")))
    return {name.rstrip(":"): int(size) for name, size, *_ in parted}


if __name__ == "__main__":
    main()
