"""Run the contest and write docs/contest.md: python -m benchmarks.contest [--runs 5] [--quick] [...]."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

from benchmarks.contest import page, trees
from benchmarks.contest.arenas import Arena, census, temporal
from benchmarks.contest.cells import Cell, Store, code_digest, play
from benchmarks.contest.paper import EPSILONS
from benchmarks.contest.ranking import ranking_svg
from benchmarks.contest.systems import NAMES, RUNS

ROOT = Path(__file__).resolve().parents[2]
QUICK_ROWS = 20_000


def main() -> int:
    """Play every cell that is not finished, then write the page and its pictures."""
    asked = _arguments()
    store = Store(asked.cache / code_digest() / ("quick" if asked.quick else "whole"))
    rows = QUICK_ROWS if asked.quick else None
    arenas = [arena for arena in (census(rows), temporal(rows)) if arena and arena.name in asked.arenas]
    missing: dict[str, str] = {}
    every = [cell for arena in arenas for cell in cells(arena, asked.systems, asked.runs)]
    # The first run of every cell before the second of any: a table is complete as early as it can be.
    for number, cell in enumerate(sorted(every, key=lambda c: (c.run, asked.systems.index(c.system)))):
        if cell.system in missing or store.get(cell) is not None:
            continue
        arena = next(arena for arena in arenas if arena.name == cell.arena)
        begun = time.perf_counter()
        try:
            outcome = play(arena, cell)
        except ImportError as problem:  # a rival that needs an extra
            missing[cell.system] = str(problem)
            continue
        store.put(cell, outcome)
        print(
            f"{number + 1}/{len(every)} {cell.arena} {cell.table}, epsilon {cell.epsilon:g}, {cell.system}, "
            f"run {cell.run}: overall {outcome.errors[3]:.3f} in {time.perf_counter() - begun:.0f} s",
            flush=True,
        )
    for system, why in missing.items():
        print(f"not run: {system} ({why})", file=sys.stderr)
    (_add if asked.add else _write)(arenas, store, every, asked.out)
    return 0


def cells(arena: Arena, systems: list[str], runs: int | None) -> list[Cell]:
    """Every cell of an arena's table."""
    return [
        Cell(arena.name, table, system, epsilon, run)
        for system, epsilon, table in itertools.product(systems, EPSILONS, arena.held_out)
        for run in range(RUNS[system] if runs is None else runs)
    ]


def _write(arenas: list[Arena], store: Store, every: list[Cell], out: Path) -> None:
    results = []
    for arena in arenas:
        outcomes = store.of(cell for cell in every if cell.arena == arena.name)
        private = {cell: outcome for cell, outcome in outcomes.items() if cell.system == "MST"}
        picture = f"contest-{arena.name}.svg"
        (out.parent / picture).write_text(trees.picture(arena) + "\n", encoding="utf-8")
        ranking = f"contest-{arena.name}-ranking.svg"
        names = arena.coded(arena.public).domain.names
        found = page.Results(arena, outcomes, trees.tree_table(arena, private), picture, ranking, names)
        (out.parent / ranking).write_text(ranking_svg(found.overall) + "\n", encoding="utf-8")
        results.append(found)
    out.write_text(page.page(results), encoding="utf-8")
    print(f"written: {out}")


def _add(arenas: list[Arena], store: Store, every: list[Cell], out: Path) -> None:
    """The page that is there, with the default's rows of today."""
    results = [
        page.Results(arena, store.of(c for c in every if c.arena == arena.name), {}, "", "", ())
        for arena in arenas
    ]
    out.write_text(page.with_default(out.read_text(encoding="utf-8"), results), encoding="utf-8")
    print(f"written: {out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contest", description=__doc__)
    parser.add_argument("--runs", type=int, help="how often every cell is played")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} records a table, for a look")
    parser.add_argument("--systems", nargs="*", default=list(NAMES), choices=NAMES)
    parser.add_argument("--arenas", nargs="*", default=["census1940", "temporal-match2"])
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "contest", help="finished cells")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "contest.md")
    parser.add_argument(
        "--add", action="store_true", help="put the default's rows into the page that is there"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
