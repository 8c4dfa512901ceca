"""CSV to codes and codes to CSV of 661,000 x 98 whole numbers, beside PyArrow's own read and write.

python -m benchmarks.encoding
"""

from __future__ import annotations

import json
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import understudy
from understudy.data import read, write
from understudy.domain import Integer, Schema
from understudy.transforms import Encoder, reading_types

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "bench" / "wide98"
RUNS = 5


def main() -> None:
    """Print the best of five runs of each, taken in turn, and their ratios."""
    if not DATA.exists():
        print("encoding: SKIPPED, the wide98 table is not beside the checkout")
        return
    sizes = json.loads((DATA / "domain.json").read_text())
    schema = Schema(
        {name: Integer(0, size - 1, bins=size, missing=False) for name, size in sizes.items() if size > 1}
    )
    encoder, types = Encoder(schema), reading_types(schema)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "wide98.csv", Path(folder) / "back.csv"
        table = pq.read_table(DATA / "wide98.parquet").select(list(schema.columns))
        pacsv.write_csv(table, source)
        codes = encoder.forward(table)
        best = race(
            {
                "PyArrow reads": lambda: pacsv.read_csv(source),
                "CSV to codes": lambda: encoder.forward(read(source, types=types)),
                "PyArrow writes": lambda: pacsv.write_csv(table, target),
                "codes to CSV": lambda: write(encoder.reverse(codes), target),
            }
        )
    rows, columns = table.num_rows, table.num_columns
    print(f"{rows:,} x {columns}, best of {RUNS}; understudy {understudy.__version__}, ", end="")
    print(f"pyarrow {pa.__version__}, Python {platform.python_version()}")
    for ours, theirs in (("CSV to codes", "PyArrow reads"), ("codes to CSV", "PyArrow writes")):
        ratio = best[ours] / best[theirs]
        print(
            f"  {ours}  {best[ours]:6.2f} s   {theirs:14} {best[theirs]:6.2f} s   {ratio:.2f} times (at most 1.5)"
        )


def race(tasks: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The best time of each task, all taken in turn so that a busy machine hurts them alike."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(RUNS):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
