"""What it costs to count a table that lies in small pieces, beside the same table in one.

    python -m benchmarks.small_pieces [--rows 1e6]

Made-up records in one Parquet file, in one of row groups of a hundred records, and in files of two hundred. Processor
seconds of reading, coding and counting two pairs of columns by the streamed engine, the best of three.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from understudy.domain import Category, Integer, Number, Schema
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import source_of

WORDS = tuple(f"v{i}" for i in range(40))
SCHEMA = Schema(
    {
        "a": Category(("x", "y", "z")),
        "b": Category(WORDS),
        "n": Integer(min=0, max=99),
        "f": Number(min=0, max=1, bins=20),
    },
    name="pieces",
)


def main() -> None:
    """Print the seconds of each, and how many times those of one piece they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    rows = int(parser.parse_args().rows)
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "a": np.array(["x", "y", "z"])[rng.integers(0, 3, rows)],
            "b": np.array(WORDS)[rng.integers(0, len(WORDS), rows)],
            "n": rng.integers(0, 100, rows),
            "f": rng.random(rows),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pq.write_table(table, place / "one.parquet")
        pq.write_table(table, place / "groups.parquet", row_group_size=100)
        (place / "files").mkdir()
        for start in range(0, rows, 200):
            pq.write_table(table.slice(start, 200), place / "files" / f"part{start:09}.parquet")
        seconds(place / "one.parquet")  # compiles
        whole = min(seconds(place / "one.parquet") for _ in range(3))
        print(f"{rows:,} records in one piece: {whole:.2f} processor seconds")
        for name, words in (("groups.parquet", "row groups of 100"), ("files", "files of 200")):
            found = min(seconds(place / name) for _ in range(3))
            plain = min(bare(place / name) for _ in range(3))
            print(
                f"in {words}: {found:.2f}, {found / whole:.1f} times as long; by Arrow alone, read and let go, "
                f"{plain:.2f}: {found / plain:.1f} times that"
            )


def bare(path: Path) -> float:
    """Processor seconds of Arrow's own reading of the same files, one after the other."""
    start = time.process_time()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with pq.ParquetFile(file) as opened:
            for _ in opened.iter_batches():
                pass
    return time.process_time() - start


def seconds(path: Path) -> float:
    """Processor seconds of one reading."""
    start = time.process_time()
    source_of(f"parquet:{path}").open(Reading(SCHEMA)).encode(SCHEMA).count([("a", "b"), ("n", "f")])
    return time.process_time() - start


if __name__ == "__main__":
    main()
