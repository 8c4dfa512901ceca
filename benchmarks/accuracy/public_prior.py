"""What a public table brings, and what a misleading one costs: python -m benchmarks.accuracy.public_prior [...].

Records of temporal-match2 after year 0 are private, and year 0 is public: as it is, or with every column shuffled on
its own, so that it says of no pair how it goes together. Cells are kept like all others; docs/accuracy.md shows them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.accuracy.cells import ROOT, Cell, Outcome, Store
from benchmarks.accuracy.data_sets import LATER, is_there
from benchmarks.accuracy.play import play_ours
from benchmarks.accuracy.systems import EPSILONS, WITH_PUBLIC
from benchmarks.accuracy.tables import Summary, summaries
from benchmarks.contest.page import table

KEPT = ROOT / "benchmarks" / "accuracy" / "public_prior.jsonl"  # cells that travel, by whatever code
SYSTEMS = ("adaptive", "aim", "mst", "independent")
HOW = ("", *WITH_PUBLIC)
WORDS = """
Any mechanism of the house may begin at a public table (`public=`, `--public`). The records of temporal-match2 after
year 0 are private here (years 1 to 6, without the column that names the year), and year 0 is public: as it is, or
*shuffled*, every column on its own, so that it says nothing of how columns go together. Pairs / triples, with runs
and processor seconds (`python -m benchmarks.accuracy.public_prior`):
"""


def main(words: list[str] | None = None) -> int:
    """Play what is not played yet, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.public_prior", description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--runs", type=int, default=3, help="how often every cell is played")
    parser.add_argument("--seconds", type=float, default=600.0, help="the most that a run may take")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "accuracy", help="finished cells")
    asked = parser.parse_args(words)
    if not is_there(LATER):
        print("SKIPPED: no shared data beside the repository")
        return 0
    store = Store(asked.cache, KEPT)
    for system in asked.systems:
        for epsilon in asked.epsilons:
            for how in HOW:
                cells = [Cell(LATER, epsilon, system + how, run) for run in range(asked.runs)]
                left = [cell for cell in cells if cell not in store.played()]
                for cell, outcome in play_ours(left, store, asked.seconds) if left else ():
                    found = outcome.failed or f"{outcome.pairs:.4f} / {outcome.triples:.4f}"
                    print(f"{cell.system} at {cell.epsilon:g}: {found}", file=sys.stderr, flush=True)
    found = store.played(stale=True)
    lines = [
        json.dumps({"cell": asdict(cell), "outcome": asdict(outcome)})
        for cell, outcome in found.items()
        if cell.data == LATER
    ]
    KEPT.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    print(section(found))
    return 0


def kept(cache: Path) -> str:
    """The section, from cells in this folder and those that travel with the repository."""
    return section(Store(cache, KEPT).played(stale=True))


def section(played: Mapping[Cell, Outcome]) -> str:
    """The part of the page about public tables: errors without one, with one, and with one that misleads."""
    found = summaries({cell: outcome for cell, outcome in played.items() if cell.data == LATER})
    rows = []
    for system in SYSTEMS:
        for epsilon in EPSILONS:
            mine = [found.get((LATER, system + how, epsilon)) for how in HOW]
            if any(mine):
                rows.append([system, f"{epsilon:g}", *map(_shown, mine)])
    if not rows:
        return "Not run."
    heads = ["", "epsilon", "without", "with year 0", "with year 0 shuffled"]
    return f"{WORDS.strip()}\n\n{table(heads, rows)}"


def _shown(found: Summary | None) -> str:
    if found is None:
        return ""
    return f"{found.pairs:.4f} / {found.triples:.4f} (x{found.runs}, {found.processor_s:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
