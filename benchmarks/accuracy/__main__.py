"""Measure how close synthetic records come to real ones: python -m benchmarks.accuracy [--sets adult ...] [...].

Every cell (data set, epsilon, system, run) is kept when it ends, and a later call goes on where this one stopped; a
cell of ours is played again when a file that played it has changed. Without a choice of sets, systems or epsilons,
everything of ours is played, small subsamples too, and docs/accuracy.md is written; peers only with --peers, which
takes hours.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.accuracy import page
from benchmarks.accuracy.cells import ROOT, Cell, Outcome, Store
from benchmarks.accuracy.data_sets import available, is_there, shared
from benchmarks.accuracy.play import play_ours
from benchmarks.accuracy.rivals import PEERS, play_peer
from benchmarks.accuracy.systems import (
    AGAINST,
    EPSILONS,
    FEW_RUNS,
    NEW,
    REFERENCES,
    RUNS,
    SMALL_ROWS,
    SMALL_RUNS,
    WIDE,
    ours,
)
from benchmarks.accuracy.tables import compact, excesses
from benchmarks.accuracy.targets import MOST_EXCESS

KEPT = ROOT / "benchmarks" / "accuracy" / "peers.jsonl"


def main(words: list[str] | None = None) -> int:
    """Play what is not played yet, print what was found."""
    asked = _arguments(words)
    store = Store(asked.cache, asked.kept)
    if not asked.sets:
        print("SKIPPED: no shared data beside the repository")
        return 0
    if not asked.page:
        _play(asked, store)
        if any(system in PEERS for system in asked.systems):
            store.keep(PEERS)
    played = {
        cell: outcome
        for cell, outcome in store.played().items()
        if cell.data in asked.sets and cell.epsilon in (0.0, *asked.epsilons) and cell.system in asked.systems
    }
    print(compact(played, asked.sets, asked.epsilons))
    _print_excesses(played)
    if asked.page or asked.whole:
        page.write(store, asked.out, asked.sets)
        print(f"written: {asked.out}")
    return 0


def _play(asked: argparse.Namespace, store: Store) -> None:
    done = store.played()
    for batch in _batches(asked):
        left = [cell for cell in batch if _to_play(cell, done, asked)]
        begun = time.perf_counter()
        for cell, outcome in _outcomes(left, store, asked.seconds) if left else ():
            done[cell] = outcome
            _say(cell, outcome, time.perf_counter() - begun)


def _outcomes(cells: list[Cell], store: Store, limit_s: float) -> Iterator[tuple[Cell, Outcome]]:
    if cells[0].system not in PEERS:
        yield from play_ours(cells, store, limit_s)
    elif PEERS[cells[0].system].python is not None:
        yield from ((cell, play_peer(cell, store, limit_s)) for cell in cells)


def _batches(asked: argparse.Namespace) -> Iterator[list[Cell]]:
    """Cells that one process plays: the first run of every cell before the second of any, peers last."""
    mine = [system for system in asked.systems if system not in PEERS and system not in REFERENCES]
    for data in asked.sets:
        yield from ([Cell(data, 0.0, system, 0)] for system in asked.systems if system in REFERENCES)
    for wave in (range(1), range(1, asked.runs or RUNS)) if not asked.rows else ():
        for data, epsilon, system in itertools.product(asked.sets, asked.epsilons, mine):
            yield [Cell(data, epsilon, system, run) for run in wave if run < FEW_RUNS or data not in WIDE]
    if asked.small or asked.rows:
        runs = range(asked.runs or SMALL_RUNS)
        for data, rows, epsilon in itertools.product(asked.sets, asked.rows or SMALL_ROWS, asked.epsilons):
            yield from ([Cell(data, epsilon, system, run, rows) for run in runs] for system in (NEW, AGAINST))
    peers = [system for system in asked.systems if system in PEERS]
    for system, epsilon, data in itertools.product(peers, sorted(asked.epsilons, key=_usual), asked.sets):
        yield [Cell(data, epsilon, system, run) for run in range(asked.runs or 1)]


def _usual(epsilon: float) -> float:
    """How far an epsilon lies from the usual one: those nearer are played first."""
    return abs(math.log(epsilon))


def _to_play(cell: Cell, done: Mapping[Cell, Outcome], asked: argparse.Namespace) -> bool:
    """Whether a cell has no outcome yet, or failed with less time; what failed once is not tried with another run."""
    for run in {0, cell.run}:
        outcome = done.get(replace(cell, run=run))
        if outcome is not None and outcome.failed:
            return run == cell.run and (asked.again or outcome.limit_s < asked.seconds)
    return cell not in done


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
    parser.add_argument("--sets", nargs="+", help="data sets; all that are there by default")
    parser.add_argument("--epsilons", nargs="+", type=float, help="0.1, 1 and 10 by default")
    parser.add_argument(
        "--systems", nargs="+", choices=[*ours(), *PEERS, *REFERENCES], help="ours by default"
    )
    parser.add_argument("--runs", type=int, help="how often every cell is played")
    parser.add_argument("--seconds", type=float, default=600.0, help="the most that a cell may take")
    parser.add_argument("--small", action="store_true", help="subsamples of 100, 300 and 1,000 records too")
    parser.add_argument(
        "--rows", nargs="+", type=int, help="subsamples of so many records, and nothing else of ours"
    )
    parser.add_argument("--peers", action="store_true", help="peers too, after all else (hours)")
    parser.add_argument("--again", action="store_true", help="play cells again that did not finish")
    parser.add_argument("--page", action="store_true", help="write the page from what is kept; play nothing")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "accuracy", help="finished cells")
    parser.add_argument(
        "--kept", type=Path, default=KEPT, help="cells of peers that travel with the repository"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "accuracy.md")
    asked = parser.parse_args(words)
    asked.whole = not (asked.sets or asked.epsilons or asked.systems)
    if asked.whole:
        asked.small = True
    unknown = [name for name in asked.sets or () if not is_there(name)]
    if unknown:
        parser.error(
            f"no data set {unknown[0]!r} below {shared()}; there are {', '.join(available()) or 'none'}"
        )
    asked.sets = asked.sets or available()
    asked.epsilons = asked.epsilons or list(EPSILONS)
    asked.systems = asked.systems or [*REFERENCES, *ours()]
    asked.systems += [peer for peer in PEERS if asked.peers and peer not in asked.systems]
    return asked


if __name__ == "__main__":
    sys.exit(main())
