"""Faults, one after the other: runs that are killed at random instants, disks that are full, many at once.

    python tests/faults/run_faults.py [--kills 200] [--seed 0] [--engines csv,parquet,duckdb]

After each, always: what the ledger says was spent covers what was released, no partial file lies under a final name,
and the same command goes on without charging again. Prints the seed and how often each held; leaves with 1 where one
did not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from breakages import ENGINES, Bench


def main() -> int:
    """The number of faults after which something was not as promised, as an exit code."""
    words = argparse.ArgumentParser(description="kill, fill and crowd runs, and see that promises hold")
    words.add_argument(
        "--kills", type=int, default=200, help="runs to be killed, over all engines and commands"
    )
    words.add_argument("--seed", type=int, default=0, help="of the instants")
    words.add_argument("--engines", default=",".join(ENGINES), help="comma separated")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), asked.seed, tuple(asked.engines.split(",")))
        bench.kill(asked.kills)
        bench.crowd(8)
        bench.fill_disk()
        bench.forbid()
    for what, (held, broken) in bench.told.items():
        print(f"{what:<40} {held:5} held  {broken:5} broken")
    for line in bench.broken:
        print(f"BROKEN: {line}")
    print(f"seed {asked.seed}: {sum(held for held, _ in bench.told.values())} faults survived")
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
