"""Measure how close synthetic records come to real ones: python -m benchmarks.accuracy [--sets adult ...] [...].

Every cell (data set, epsilon, system, run) is kept when it ends, and a later call goes on where this one stopped; a
cell of ours is played again when a file that played it has changed. Without a choice of sets, systems or epsilons,
everything is played, small subsamples too, and docs/accuracy.md is written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy.cells import ROOT, Cell, Outcome, Store
from benchmarks.accuracy.data_sets import available
from benchmarks.accuracy.play import play_ours
from benchmarks.accuracy.systems import AGAINST, EPSILONS, NEW, RUNS, SMALL_ROWS, SMALL_RUNS, ours
from benchmarks.accuracy.tables import compact, excesses

MOST_EXCESS = 0.02


def main(words: list[str] | None = None) -> int:
    """Play what is not played yet, print what was found."""
    asked = _arguments(words)
    store = Store(asked.cache)
    if not asked.sets:
        print("SKIPPED: no shared data beside the repository")
        return 0
    done = store.played()
    for batch in _batches(asked):
        left = [cell for cell in batch if _to_play(done.get(cell), asked.seconds)]
        if left:
            begun = time.perf_counter()
            for cell, outcome in play_ours(left, store, asked.seconds):
                _say(cell, outcome, time.perf_counter() - begun)
    played = {
        cell: outcome
        for cell, outcome in store.played().items()
        if cell.data in asked.sets and cell.epsilon in asked.epsilons and cell.system in asked.systems
    }
    print(compact(played, asked.sets, asked.epsilons))
    _print_excesses(played)
    return 0


def _batches(asked: argparse.Namespace) -> Iterator[list[Cell]]:
    """Cells that one process plays; the first run of every cell before the second of any."""
    runs = asked.runs or RUNS
    for wave in (range(1), range(1, runs)):
        for data in asked.sets:
            for epsilon in asked.epsilons:
                for system in asked.systems:
                    yield [Cell(data, epsilon, system, run) for run in wave]
    if asked.small:
        for data in asked.sets:
            for rows in SMALL_ROWS:
                for epsilon in asked.epsilons:
                    for system in (NEW, AGAINST):
                        yield [
                            Cell(data, epsilon, system, run, rows) for run in range(asked.runs or SMALL_RUNS)
                        ]


def _to_play(outcome: Outcome | None, limit_s: float) -> bool:
    return outcome is None or (bool(outcome.failed) and outcome.limit_s < limit_s)


def _say(cell: Cell, outcome: Outcome, seconds: float) -> None:
    rows = f" ({cell.rows} rows)" if cell.rows else ""
    found = outcome.failed or f"{outcome.pairs:.4f} / {outcome.triples:.4f}"
    print(
        f"{cell.data}{rows} epsilon {cell.epsilon:g} {cell.system} run {cell.run}: {found} ({seconds:.0f} s)",
        file=sys.stderr,
        flush=True,
    )


def _print_excesses(played: dict[Cell, Outcome]) -> None:
    found = excesses(played, NEW)
    small = {place: both for place, both in found.items() if place[1] or both[0].runs >= SMALL_RUNS}
    if not small:
        return
    print(f"\n{NEW} over {AGAINST}: mean excess, one-sided 99% bound (pairs; triples)")
    for (data, rows, epsilon), (pairs, triples) in small.items():
        mark = "" if max(pairs.bound, triples.bound) <= MOST_EXCESS else "  <-- above 2%"
        print(
            f"  {data:<18}{rows or 'all':>6} rows, epsilon {epsilon:<5g}{pairs.mean:+.1%} {pairs.bound:+.1%}; "
            f"{triples.mean:+.1%} {triples.bound:+.1%}  x{pairs.runs}{mark}"
        )


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument(
        "--sets", nargs="*", default=available(), help="data sets; all that are there by default"
    )
    parser.add_argument("--epsilons", nargs="*", type=float, default=list(EPSILONS))
    parser.add_argument("--systems", nargs="*", default=ours(), help="by name; all by default")
    parser.add_argument("--runs", type=int, help="how often every cell is played")
    parser.add_argument("--seconds", type=float, default=600.0, help="the most that a cell may take")
    parser.add_argument("--small", action="store_true", help="subsamples of 100, 300 and 1,000 records too")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "accuracy", help="finished cells")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
