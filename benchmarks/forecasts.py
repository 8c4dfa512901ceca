"""What a plan forecasts, beside what a run then has: python -m benchmarks.forecasts [SET ...].

The mean error of all pairs of columns (total variation of the model, which the plan calls the error to expect of
pairs), and the seconds of a run, by the processor and by the clock. SET is one of the benchmark of accuracy, or
<name>.csv with <name>-domain.json in data/<name> of the shared data.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.accuracy.data_sets import DataSet, is_there, read_set

import understudy as us

DELTA = 1e-9
MOST_PAIRS = 300  # looked at, where columns are many


def main(words: list[str] | None = None) -> int:
    """Print a line for each set and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecasts", description=__doc__)
    parser.add_argument("sets", nargs="*", default=["adult", "salary", "titanic", "nltcs"], metavar="SET")
    parser.add_argument("--epsilons", nargs="+", type=float, default=(0.1, 1.0, 10.0))
    parser.add_argument("--mechanism", default="adaptive")
    asked = parser.parse_args(words)
    warnings.simplefilter("ignore")
    us.plan(us.Schema({"a": us.Integer(0, 3), "b": us.Integer(0, 3)}, rows=100), epsilon=1.0, delta=DELTA)
    print(
        "set, epsilon: pairs forecast, found, ratio; seconds forecast, of a processor, by the clock; of the plan"
    )
    for name in asked.sets:
        if not is_there(name):
            print(f"{name}: SKIPPED, no such data beside the repository")
            continue
        for epsilon in asked.epsilons:
            print(_line(read_set(name), epsilon, asked.mechanism), flush=True)
    return 0


def _line(records: DataSet, epsilon: float, mechanism: str) -> str:
    schema = us.Schema(
        {
            name: us.Integer(0, max(1, size - 1), bins=max(2, size), missing=False, ordered=False)
            for name, size in records.sizes.items()
        },
        name="set",
        rows=records.rows,
    )
    begun = time.perf_counter()
    plan = us.plan(schema, epsilon=epsilon, delta=DELTA, mechanism=mechanism)
    planned = time.perf_counter() - begun
    table = pa.table({name: pa.array(column) for name, column in records.columns.items()})
    with tempfile.TemporaryDirectory() as folder:
        begun, used = time.perf_counter(), time.process_time()
        release = us.fit(
            table, schema, epsilon=epsilon, delta=DELTA, mechanism=mechanism, ledger=Path(folder) / "ledger"
        )
        seconds, processor = time.perf_counter() - begun, time.process_time() - used
    found, expected = _error(records, release), plan.pair_error or float("nan")
    return (
        f"{records.name}, {epsilon:g}: {expected:.4f}, {found:.4f}, {expected / found:.2f}; "
        f"{plan.seconds:.1f} s, {processor:.1f} s, {seconds:.1f} s; {1000 * planned:.0f} ms"
    )


def _error(records: DataSet, release: us.Release) -> float:
    """The mean total variation of the model over pairs of columns."""
    pairs = list(combinations(records.sizes, 2))
    if len(pairs) > MOST_PAIRS:
        some = np.random.default_rng(0).choice(len(pairs), MOST_PAIRS, replace=False)
        pairs = [pairs[place] for place in some]
    off = []
    for one, other in pairs:
        made = np.asarray(release.marginal((one, other)).counts, np.float64).ravel()
        cells = records.columns[one].astype(np.int64) * max(2, records.sizes[other]) + records.columns[other]
        real = np.bincount(cells, minlength=made.size) / records.rows
        off.append(float(np.abs(real - made / made.sum()).sum()) / 2)
    return float(np.mean(off))


if __name__ == "__main__":
    sys.exit(main())
