"""docs/contest.md, written from finished cells: tables with the paper's figures beside ours, and what they mean."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.contest import paper, targets
from benchmarks.contest.arenas import Arena
from benchmarks.contest.cells import Cell, Outcome
from benchmarks.contest.systems import SUBMITTED
from benchmarks.contest.words import ANALOGOUS, DIFFERS, INTRODUCTION

Errors = tuple[float, float, float, float]
Table = Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Results:
    """All that was found in one arena."""

    arena: Arena
    outcomes: Mapping[Cell, Outcome]
    trees: Mapping[str, Mapping[str, float]]
    picture: str
    names: Sequence[str]

    def runs(self, system: str, epsilon: float) -> int:
        """How often each held-out table was played, at least."""
        played = [c.table for c in self.outcomes if (c.system, c.epsilon) == (system, epsilon)]
        return min(played.count(table) for table in self.arena.held_out)

    def errors(self, system: str, epsilon: float) -> Errors | None:
        """The mean over held-out tables and runs; None until every table was played."""
        return self._mean(system, epsilon, self.arena.held_out) if self.runs(system, epsilon) else None

    def shown(self, system: str, epsilon: float) -> list[str]:
        """The errors as text; where not every table was played yet, those of the tables that were, marked."""
        played = {c.table for c in self.outcomes if (c.system, c.epsilon) == (system, epsilon)}
        if not played:
            return ["not run", "", "", ""]
        mark = "" if len(played) == len(self.arena.held_out) else f" ({', '.join(sorted(played))} only)"
        errors = [f"{error:.3f}" for error in self._mean(system, epsilon, tuple(sorted(played)))]
        return [*errors[:-1], errors[-1] + mark]

    def _mean(self, system: str, epsilon: float, tables: Sequence[str]) -> Errors:
        by_table = [
            np.mean(
                [o.errors for c, o in self.outcomes.items() if (c.system, c.epsilon, c.table) == key], axis=0
            )
            for key in ((system, epsilon, table) for table in tables)
        ]
        first, second, third, overall = np.mean(by_table, axis=0).tolist()
        return first, second, third, overall

    def seconds(self, systems: Sequence[str]) -> float:
        """How long one whole table took: to fit, sample and score, every epsilon and held-out table once."""
        chosen = [(c, o) for c, o in self.outcomes.items() if c.system in systems]
        runs = max((c.run for c, _ in chosen), default=0) + 1
        return sum(o.fit_s + o.sample_s + o.score_s for _, o in chosen) / runs


def page(results: Sequence[Results]) -> str:
    """The whole page, as Markdown."""
    parts = [INTRODUCTION, _machine(results)]
    for found in results:
        parts += [f"## {found.arena.title}", _described(found), _big_table(found), targets.section(found)]
        parts += ["### Trees", _trees(found), "### The chosen graph", _picture(found)]
    parts += [
        "## What is gained since the contest",
        _gain(results),
        "## What is reproduced",
        ANALOGOUS,
        DIFFERS,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(head: Sequence[str], rows: Table) -> str:
    """A Markdown table, numbers to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join([":--"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _machine(results: Sequence[Results]) -> str:
    played = [found.runs(c.system, c.epsilon) for found in results for c in found.outcomes]
    least, most = (min(played, default=0), max(played, default=0))
    times = f"{max(least, 1)}" if least == most else f"{max(least, 1)} to {most}"
    load = f", load average {os.getloadavg()[1]:.0f}" if hasattr(os, "getloadavg") else ""
    return (
        f"Means over two held-out tables, each played {times} time(s); errors run from 0 (perfect) to 1. Noise is "
        f"seeded: the run repeats. Written with Python {platform.python_version()}, numpy {np.__version__}, on "
        f"a machine of {os.cpu_count()} cores{load}: what else runs there makes the times longer."
    )


def _described(found: Results) -> str:
    arena = found.arena
    sizes = ", ".join(f"{table} ({len(arena.coded(table)):,} records)" for table in arena.held_out)
    public = len(arena.coded(arena.public))
    return (
        f"Selected on: {arena.public} ({public:,} records), public. Scored on: {sizes}, held out. "
        f"delta = {arena.delta:.4g}. 100 triples and 300 conjunctions, drawn with seed 2018."
    )


def _big_table(found: Results) -> str:
    rows = []
    for epsilon in paper.EPSILONS:
        for system in paper.ORDER:
            theirs = (f"{error:.2f}" for error in paper.ERRORS[system, epsilon])
            rows.append([f"{epsilon:g}", system, *found.shown(system, epsilon), *theirs])
    head = ["epsilon", "system", *paper.METRICS, *(f"paper: {metric}" for metric in paper.METRICS)]
    return table(head, rows)


def _trees(found: Results) -> str:
    tables = found.arena.held_out
    best = found.trees["best"]
    rows = []
    for kind, values in found.trees.items():
        theirs, most = paper.TREES[kind], paper.TREES["best"]
        rows.append(
            [
                kind,
                *(f"{values[t]:.2f} ({values[t] / best[t]:.1%})" for t in tables),
                *(f"{value:.2f} ({value / top:.1%})" for value, top in zip(theirs, most, strict=True)),
            ]
        )
    head = ["tree", *tables, "paper: Arizona", "paper: Vermont"]
    note = (
        "Summed mutual information (nats) of the tree's pairs on the held-out records, codes below 0.05% merged; in "
        "brackets as a share of the best tree's. Private trees are MST's, with the forced pairs; random is a mean of "
        "20."
    )
    return note + "\n\n" + table(head, rows)


def _picture(found: Results) -> str:
    text = (
        f"![The graph selected on {found.arena.public}]({found.picture})\n\n"
        "Selected on the public table: spanning tree (thin), forced cliques (thick, green), extra triangles "
        "(dashed, red)."
    )
    if len(found.names) <= 40:
        return text
    numbered = ", ".join(f"{number} {name}" for number, name in enumerate(found.names, 1))
    return f"{text}\n\nColumns by number: {numbered}."


def _gain(results: Sequence[Results]) -> str:
    rows = []
    for found in results:
        for cell, before in found.outcomes.items():
            now = found.outcomes.get(replace(cell, system="NIST-MST"))
            if cell.system == SUBMITTED and now is not None:
                errors = (f"{a:.3f} to {b:.3f}" for a, b in zip(before.errors, now.errors, strict=True))
                rows.append(
                    [cell.table, f"{cell.epsilon:g}", *errors, f"{before.fit_s:.0f} to {now.fit_s:.0f}"]
                )
    note = (
        "NIST-MST as it was submitted (noise of the moments accountant of 2018, wage in bins, 7,500 plain "
        "mirror-descent steps from the product of the one-way marginals, 10,000 at epsilon 8, tables as they "
        "were measured) against NIST-MST here (exact accounting, an estimate converged to a certified gap, "
        "noisy tables pulled towards simpler ones first)."
    )
    if not rows:
        return note + "\n\nNot run."
    return note + "\n\n" + table(["records", "epsilon", *paper.METRICS, "seconds to fit"], rows)
