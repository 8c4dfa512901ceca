"""Every door tried with damaged things: prints the seed, how many cases of each, and what was wrong.

    python tests/fuzz/run_fuzz.py [--seconds 600] [--seed 0] [--doors release,ledger]
    python tests/fuzz/run_fuzz.py --seed 0 --case release:124       that case alone, again

A case holds when nothing is raised but an error of the house, no message shows a record's value or a password, it
ends soon, takes little memory, and does not take the process down. Leaves with 1 where one did not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzing import DOORS

AT_ONCE = 4  # times the cases of a short run that one process tries: memory that leaks adds up, and is seen


def tried(seed: str, cases: dict[str, tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """What each door said of its cases, from the first so many on; a process that dies is a finding of its own."""
    with tempfile.TemporaryDirectory() as place:
        left = dict(cases)
        while left:
            asked = [f"{door}:{first}:{count}" for door, (first, count) in left.items()]
            words = [sys.executable, str(Path(__file__).with_name("fuzzing.py")), seed, place, *asked]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            for line in done.stdout.splitlines():
                said = json.loads(line)
                yield said
                if "cases" in said:
                    left.pop(said["door"])
            if done.returncode == 0:
                return
            door, _, number = (Path(place) / "case").read_text().rpartition(":")
            why = done.stderr.strip().splitlines()[-1:] or [""]
            yield {
                "door": door,
                "number": int(number),
                "found": f"the process died ({done.returncode}): {why[0]}",
            }
            first, count = left.pop(door)
            after = int(number) + 1
            if after < first + count:
                left = {door: (after, first + count - after), **left}


def short() -> dict[str, tuple[int, int]]:
    """The cases of a short run."""
    return {door: (0, count) for door, (_, count) in DOORS.items()}


def main() -> int:
    """Print the figures; 1 where anything was found."""
    words = argparse.ArgumentParser(
        description="open damaged files, releases, ledgers, schemas and addresses"
    )
    words.add_argument("--seconds", type=float, default=600, help="by the clock, about")
    words.add_argument("--seed", default="0", help="of all that is random")
    words.add_argument("--doors", default=",".join(DOORS), help="comma separated")
    words.add_argument("--case", help="one case alone, as it was printed: release:124")
    asked = words.parse_args()
    if asked.case:
        door, _, number = asked.case.rpartition(":")
        found = [said for said in tried(asked.seed, {door: (int(number), 1)}) if "found" in said]
        print("\n".join(said["found"] for said in found) or "it holds")
        return 1 if found else 0
    doors = asked.doors.split(",")
    totals: dict[str, Counter[str]] = {door: Counter() for door in doors}
    slowest: Counter[str] = Counter()
    broken, part, started = 0, 0, time.monotonic()
    while part == 0 or time.monotonic() - started < asked.seconds:
        steps = {door: DOORS[door][1] * AT_ONCE for door in doors}
        for said in tried(asked.seed, {door: (part * step, step) for door, step in steps.items()}):
            if "found" in said:
                broken += 1
                print(f"BROKEN {said['door']}:{said['number']}: {said['found']}", flush=True)
            else:
                totals[said["door"]].update({key: said[key] for key in ("cases", "opened", "refused")})
                slowest[said["door"]] = max(slowest[said["door"]], said["slowest"])
        part += 1
    for door in doors:
        count = totals[door]
        print(
            f"{door:<12} {count['cases']:7,} cases  {count['opened']:7,} opened  {count['refused']:7,} refused"
            f"  slowest {slowest[door]:.2f} s"
        )
    print(f"seed {asked.seed}: {sum(count['cases'] for count in totals.values()):,} cases, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
