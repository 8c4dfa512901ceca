"""How long a plan takes, once one was made: it should follow a slider.

    python -m benchmarks.planning

Milliseconds of processor time a call of `us.plan`, over mechanisms and epsilons, for the schemas of Adult and wide98
and for made-up ones of many columns; and, of the first two, how far the noise that it forecasts is off.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.end_to_end import SHARED, _domain, _schema

import understudy as us
from understudy.mechanisms.registry import as_mechanism
from understudy.pipeline.run_plan import plan_of
from understudy.privacy import Budget, Gaussian, calibrate

DELTA = 1e-9
CALLS = 3  # of which the best counts
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
MECHANISMS = ("independent", "mst", "adaptive", "aim")
TABLES = {"adult": ("data/adult/adult-domain.json", 48_842), "wide98": ("bench/wide98/domain.json", 661_000)}

WIDE = (500, 1000)  # columns of ten codes, 100,000 records


def main() -> None:
    """Print the table."""
    if not SHARED.exists():
        print("SKIPPED: no shared data beside the repository")
        return
    print(
        f"milliseconds a plan (at most 50), delta {DELTA:g}; noise: the largest deviation from the calibrated"
    )
    print(f"{'':<26}" + "".join(f"{f'eps {epsilon:g}':>9}" for epsilon in EPSILONS) + f"{'noise':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (sizes, rows) in TABLES.items():
            schema = us.Schema.load(_schema(Path(folder) / f"{name}.toml", _domain(SHARED / sizes)))
            for mechanism in MECHANISMS:
                _line(f"{name}, {mechanism}", schema, mechanism, rows)
    for columns in WIDE:
        wide = us.Schema({f"c{i}": us.Category(tuple(range(10))) for i in range(columns)}, name="made up")
        for mechanism in MECHANISMS:
            _line(f"{columns:,} columns, {mechanism}", wide, mechanism, 100_000, compared=False)


def _line(label: str, schema: us.Schema, mechanism: str, rows: int, *, compared: bool = True) -> None:
    us.plan(schema, epsilon=0.7, delta=DELTA, mechanism=mechanism, rows=rows)  # the first call loads kernels
    times, off = [], 0.0
    for epsilon in EPSILONS:
        best = float("inf")
        for call in range(CALLS):
            moved = epsilon * (1 + 1e-6 * call)  # as by a slider: what is remembered of an epsilon is no help
            start = time.process_time()
            found = us.plan(schema, epsilon=moved, delta=DELTA, mechanism=mechanism, rows=rows)
            best = min(best, 1e3 * (time.process_time() - start))
        times.append(best)
        if not compared:  # calibrating so many choices takes seconds
            continue
        exact = calibrate(Budget(epsilon, DELTA), plan_of(schema, as_mechanism(mechanism))).losses
        for group in found.groups:
            loss = exact[group.name]
            if isinstance(loss, Gaussian) and group.sigma is not None:
                off = max(off, abs(group.sigma / loss.sigma - 1))
    print(
        f"{label:<26}" + "".join(f"{taken:>9.1f}" for taken in times) + (f"{off:>9.2%}" if compared else ""),
        flush=True,
    )


if __name__ == "__main__":
    main()
