"""MST over a folder of Parquet, streamed: time beside a bare scan and the kernel alone, peak memory, growth.

    python -m benchmarks.streaming                 10 million rows x 20 columns
    python -m benchmarks.streaming --rows 1e8      the figure of the README: 100 million

Everything that is timed runs in a process of its own, whose peak memory is the system's own account of it.
The data are simulated into a temporary folder, and removed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import understudy as us
from understudy.data import Histogram
from understudy.data.files.file_set import FileSet
from understudy.privacy import Seeded
from understudy.transforms.encode import Encoder

SIZES = (2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50, 60, 75, 100, 5, 9)
TEXTS = 4  # every fourth column holds texts, the others whole numbers
FILE_ROWS = 2_000_000
DISTINCT = 10  # files with records of their own; any more are copies of these, which take as long to read
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-9, "mechanism": "mst"}


def main() -> None:
    """Print every figure beside its limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--only", choices=["counting", "generation"])
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        tell(STEPS[given.step[0]], Path(given.step[1]))
        return
    print(f"understudy {us.__version__}, pyarrow {pa.__version__}, numpy {np.__version__}, ", end="")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {given.rows:,.0f} rows x {len(SIZES)} columns"
    )
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        large, small = Path(folder) / "large", Path(folder) / "small"
        simulate(int(given.rows), large)
        simulate(int(given.rows / 10), small)
        run("warm", small)  # compiles what is compiled once
        if given.only != "generation":
            counting(large, small)
        if given.only != "counting":
            generation(large)


def counting(large: Path, small: Path) -> None:
    """Streamed against its own parts, against a tenth of the rows, and against memory."""
    scan, kernel, streamed = (run(step, large) for step in ("scan", "kernel", "streamed"))
    tenth, memory = run("streamed", small), run("memory", small)
    floor = scan["seconds"] + kernel["seconds"]
    line("bare scan of the files", f"{scan['seconds']:.1f} s")
    line("kernel alone, same cells", f"{kernel['seconds']:.1f} s")
    line(
        "MST, streamed",
        f"{streamed['seconds']:.1f} s",
        f"{streamed['seconds'] / floor:.2f} x both (limit 1.5)",
    )
    line("  peak memory", f"{streamed['peak']:,.0f} MB", "(limit 3,000)")
    line(
        "  a tenth of the rows",
        f"{tenth['seconds']:.1f} s",
        f"{streamed['seconds'] / tenth['seconds']:.1f} x (limit 11)",
    )
    line(
        "  the same in memory",
        f"{memory['seconds']:.1f} s",
        f"{tenth['seconds'] / memory['seconds']:.2f} x (limit 1.5)",
    )
    same = tenth["answers"] == memory["answers"]
    line("  the same release", "yes, to the last digit" if same else "NO")


def generation(large: Path) -> None:
    """A sample of as many rows, to Parquet, beside writing the same records and the same bytes."""
    if not (large / "people.release").exists():
        run("streamed", large)
    drawn, written, copied = (run(step, large) for step in ("generate", "write", "copy"))
    line("generation to Parquet", f"{drawn['seconds']:.1f} s")
    line(
        "  writing the same records",
        f"{written['seconds']:.1f} s",
        f"{drawn['seconds'] / written['seconds']:.2f} x",
    )
    line(
        "  writing the same bytes",
        f"{copied['seconds']:.1f} s",
        f"{drawn['seconds'] / copied['seconds']:.1f} x",
    )
    line("  peak memory", f"{drawn['peak']:,.0f} MB", "(limit 2,000)")


# --- one process each --------------------------------------------------------------------------------------


def scan(folder: Path) -> None:
    """Every column of every file, decoded and dropped."""
    for path in sorted((folder / "people").iterdir()):
        with pq.ParquetFile(path) as file:
            for _ in file.iter_batches(1 << 18):
                pass


def kernel(folder: Path) -> Callable[[], None]:
    """Every column, every pair and a tree of pairs, over codes that are in memory: the first file's, repeated."""
    schema = us.Schema.load(folder / "people.toml")
    encoder, files = Encoder(schema), sorted((folder / "people").iterdir())
    batches = list(FileSet.open(str(files[0])).scan(list(schema.columns), {}))
    codes = encoder.forward(pa.Table.from_batches(batches))
    rows = sum(pq.ParquetFile(path).metadata.num_rows for path in files)
    names = encoder.domain.names
    requests = [
        [(name,) for name in names],
        list(combinations(names, 2)),
        list(pairwise(names)),
    ]

    def count() -> None:
        for cliques in requests:
            histogram, left = Histogram(encoder.domain, cliques), rows
            while left:
                part = {name: column[:left] for name, column in codes.items()}
                histogram.add(part, checked=True)
                left -= len(next(iter(part.values())))

    return count


def streamed(folder: Path) -> Any:
    """The release of the folder."""
    return fit(f"parquet:{folder / 'people'}", folder)


def memory(folder: Path) -> Any:
    """The release of the same records, read into memory."""
    return fit(pq.read_table(folder / "people"), folder)


def fit(data: Any, folder: Path) -> Any:
    """A release, and its noisy counts as a word to compare."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:  # a job that a ledger holds is not done again
        return _fit(data, folder, Path(fresh) / "ledger.db")


def _fit(data: Any, folder: Path, ledger: Path) -> Any:
    release = us.fit(data, folder / "people.toml", source=Seeded(1), ledger=ledger, **BUDGET)
    release.save(folder / "people.release")
    return hash(tuple(float(value) for m in release.measurements for value in m.values))


def generate(folder: Path) -> None:
    """A sample of as many records as there are."""
    from understudy.pipeline.drawing.sample_folder import sample_to_folder

    rows = sum(pq.ParquetFile(path).metadata.num_rows for path in (folder / "people").iterdir())
    sample_to_folder(us.load(folder / "people.release"), folder / "synthetic", rows, seed=1)


def write(folder: Path) -> Callable[[], None]:
    """A part of the sample, already in memory, written by PyArrow as often as there are parts."""
    (folder / "written").mkdir()
    parts = sorted((folder / "synthetic").glob("*.parquet"))
    table = pq.read_table(parts[0])

    def again() -> None:
        for path in parts:
            pq.write_table(table, folder / "written" / path.name)

    return again


def copy(folder: Path) -> None:
    """The bytes of the sample written once more, each file made safe on disk as the sample's were."""
    (folder / "copy").mkdir()
    for path in sorted((folder / "synthetic").glob("*.parquet")):
        content = path.read_bytes()
        with open(folder / "copy" / path.name, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())


STEPS: dict[str, Callable[[Path], Any]] = {
    "warm": memory,
    "scan": scan,
    "kernel": kernel,
    "streamed": streamed,
    "memory": memory,
    "generate": generate,
    "write": write,
    "copy": copy,
}


def tell(step: Callable[[Path], Any], folder: Path) -> None:
    """Do one step and print what it took."""
    start = time.perf_counter()
    answers = step(folder)
    if callable(answers):  # what came before it does not count
        start = time.perf_counter()
        answers()
        answers = None
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"seconds": seconds, "peak": peak, "answers": answers}))


def run(step: str, folder: Path) -> Any:
    """What a step took, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.streaming", "--step", step, str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "0"}
    )
    return json.loads(done.stdout.splitlines()[-1])


def line(*words: str) -> None:
    """One line of the table."""
    print(f"  {words[0]:<28}{words[1]:>14}  {' '.join(words[2:])}", flush=True)


def simulate(rows: int, folder: Path) -> None:
    """A folder of Parquet files, and its schema."""
    (folder / "people").mkdir(parents=True)
    described = ['[table]\nname = "people"\n']
    for place, size in enumerate(SIZES):
        values = f'type = "category"\nvalues = {[f"v{code}" for code in range(size)]}'
        bounds = f'type = "integer"\nmin = 0\nmax = {size - 1}'
        described.append(f"[columns.c{place}]\n{bounds if place % TEXTS else values}\n")
    (folder / "people.toml").write_text("".join(described))
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        path, count = folder / "people" / f"part-{number:05}.parquet", min(FILE_ROWS, rows - start)
        if number >= DISTINCT and count == FILE_ROWS:
            shutil.copy(folder / "people" / f"part-{number % DISTINCT:05}.parquet", path)
        else:
            pq.write_table(records(count, number), path)


def records(rows: int, seed: int) -> pa.Table:
    """Records in which every column leans on the one before it."""
    rng = np.random.default_rng(seed)
    before, columns = rng.integers(0, 1 << 20, rows), {}
    for place, size in enumerate(SIZES):
        before = np.where(rng.random(rows) < 0.6, before, rng.integers(0, 1 << 20, rows))
        codes = pa.array(before % size)
        texts = pa.array([f"v{code}" for code in range(size)])
        columns[f"c{place}"] = codes if place % TEXTS else texts.take(codes)
    return pa.table(columns)


if __name__ == "__main__":
    main()
