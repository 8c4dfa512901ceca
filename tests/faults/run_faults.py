"""Faults, one after the other: runs that are killed at random instants, disks that fill up, servers that go.

    python tests/faults/run_faults.py [--kills 200] [--seed 0] [--engines csv,parquet,duckdb] [--spark 0]

After each, always: what the ledger says was spent covers what was released, no partial file lies under a final name,
what was said is a word and no traceback, and the same command goes on without charging again. Prints the seed and how
often each held; leaves with 1 where one did not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import servers
import surroundings
from breakages import COMMANDS, ENGINES, Bench
from launching import Forked

sys.path.insert(0, str(Path(__file__).parents[1]))


def main() -> int:
    """The number of faults after which something was not as promised, as an exit code."""
    words = argparse.ArgumentParser(description="kill, fill and crowd runs, and see that promises hold")
    words.add_argument(
        "--kills", type=int, default=200, help="runs to be killed, over all engines and commands"
    )
    words.add_argument("--seed", type=int, default=0, help="of the instants")
    words.add_argument("--engines", default=",".join(ENGINES), help="comma separated")
    words.add_argument(
        "--servers", type=int, default=10, help="times to stop PostgreSQL, and to kill its clients"
    )
    words.add_argument("--studio", type=int, default=20, help="times to kill a run of the studio's")
    words.add_argument("--spark", type=int, default=0, help="runs on Spark to be broken; slow")
    words.add_argument("--verbose", action="store_true", help="a line a fault, as they come")
    asked = words.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        launch = Forked(folder / "said")
        bench = Bench(folder, asked.seed, tuple(asked.engines.split(",")), launch=launch)
        if asked.verbose:
            bench.tell = lambda line: print(line, flush=True)
        for engine in bench.engines:
            where = bench.fresh()
            launch.preload(bench.words("synth", engine, where, where / "made.csv"), folder)
        usual = bench.seconds()
        print(f"seed {asked.seed}; a run takes {usual:.2f} s", flush=True)
        left_out = [
            bench.kill(asked.kills * 4 // 5, usual),
            bench.kill(asked.kills - asked.kills * 4 // 5, usual, COMMANDS[2:]),
            bench.crowd(8),
            bench.fill_disk(),
            bench.forbid(),
            surroundings.full_at_each_write(bench),
            surroundings.other_users(bench),
            surroundings.clock_set_back(bench),
            surroundings.two_in_one_folder(bench),
            surroundings.files_that_move(bench, 12, usual),
            servers.studio_killed(bench, asked.studio, 3 * usual),
            servers.postgres_killed(bench, asked.servers, usual)
            if asked.servers
            else "PostgreSQL was not asked for",
            servers.spark_killed(bench, asked.spark) if asked.spark else "Spark was not asked for",
        ]
    for what, (held, broken) in bench.told.items():
        print(f"{what:<46} {held:5} held  {broken:5} broken")
    for line in bench.broken:
        print(f"BROKEN: {line}")
    for line in filter(None, left_out):
        print(f"left out: {line}")
    print(
        f"seed {asked.seed}: {sum(held for held, _ in bench.told.values())} faults survived, {len(bench.broken)} not"
    )
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
