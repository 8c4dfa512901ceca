"""How long the contest's scores take: simulated census pairs of 300,000 and 1,000,000 records x 98 columns.

python benchmarks/scoring.py [rows ...]
"""

from __future__ import annotations

import platform
import sys
import time

import numba
import numpy as np

from understudy.evaluation import ContestTests
from understudy_contest import census1940
from understudy_contest.contest_scores import Scorer

ROWS = (300_000, 1_000_000)


def measure(rows: int) -> dict[str, float]:
    """Seconds of each stage, and the overall error of one simulation against another."""
    found: dict[str, float] = {}
    start = time.perf_counter()
    true = census1940.simulate(rows, "arizona-like", seed=1)
    found["simulate"] = time.perf_counter() - start
    synthetic = census1940.simulate(rows, "arizona-like", seed=2)
    start = time.perf_counter()
    tests = ContestTests.draw(true, 0, largest=census1940.largest())
    found["draw tests"] = time.perf_counter() - start
    start = time.perf_counter()
    scorer = Scorer.of(true, tests)
    found["read truth"] = time.perf_counter() - start
    start = time.perf_counter()
    scores = scorer.score(synthetic)
    found["score"] = time.perf_counter() - start
    found["overall error"] = scores.overall
    return found


def main() -> None:
    """Print one row for each size."""
    print(f"python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}")
    sizes = [int(float(text)) for text in sys.argv[1:]] or list(ROWS)
    measure(1_000)  # compile first
    for index, rows in enumerate(sizes):
        found = measure(rows)
        if index == 0:
            print(f"{'rows':>10}" + "".join(f"{name:>15}" for name in found))
        print(f"{rows:>10,}" + "".join(f"{value:>15.3f}" for value in found.values()))


if __name__ == "__main__":
    main()
