"""What it costs to begin: importing, `--help`, and compiling every kernel for the first time on a machine.

python -m benchmarks.startup
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

import understudy

RUNS = 7

# One small fit goes through every room: counting, noise, estimation and sampling.
WHOLE_TRIP = """
import pyarrow as pa
import understudy as us
from understudy.domain import Category, Integer, Schema

people = pa.table({"sex": ["F", "M"] * 200, "age": [20, 30, 40, 50] * 100, "city": ["x", "y", "z", "x"] * 100})
schema = Schema(
    {"sex": Category(("F", "M")), "age": Integer(20, 59, bins=4), "city": Category(("x", "y", "z"))}, name="people"
)
release = us.fit(people, schema, epsilon=1.0, delta=1e-9, mechanism=us.MST(), ledger=us.Ledger("ledger"))
assert release.sample(100).num_rows == 100
"""


def main() -> None:
    """Print the three figures."""
    print(f"understudy {understudy.__version__}, Python {platform.python_version()}; best of {RUNS}")
    bare = best([sys.executable, "-c", "pass"])
    imported = best([sys.executable, "-c", "import understudy"])
    helped = best([sys.executable, "-m", "understudy", "--help"])
    print(f"  Python itself      {bare:.3f} s")
    print(f"  import understudy  {imported:.3f} s   (at most 0.3)")
    print(f"  understudy --help  {helped:.3f} s   (at most 0.5)")
    with tempfile.TemporaryDirectory() as folder:
        caches = {**os.environ, "NUMBA_CACHE_DIR": os.path.join(folder, "numba")}
        first = processor([sys.executable, "-c", WHOLE_TRIP], caches, folder)
        again = processor([sys.executable, "-c", WHOLE_TRIP.replace('"ledger"', '"another"')], caches, folder)
    if first is None or again is None:
        print("  first fit          SKIPPED, it did not run to its end")
        return
    print(f"  first fit ever     {first:.2f} s, later ones {again:.2f} s, of processor time: ", end="")
    print(f"compiling costs {first - again:.2f} s, once a machine (at most 10)")


def best(command: list[str]) -> float:
    """The best of some runs: what the command costs when the machine does nothing else."""
    times = [timed(command, os.environ, None) for _ in range(RUNS)]
    return min(seconds for seconds in times if seconds is not None)


def processor(command: list[str], environment: Mapping[str, str], folder: str | None) -> float | None:
    """The processor time that a command took, which a busy machine does not stretch; None when it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if timed(command, environment, folder) is None:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(command: list[str], environment: Mapping[str, str], folder: str | None) -> float | None:
    """How long a command took, or None when it failed."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        print(done.stderr.decode(errors="replace")[-2000:])
        return None
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
