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
from benchmarks.contest.systems import DEFAULT, SUBMITTED
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
    ranking: str
    names: Sequence[str]

    def played(self, system: str) -> bool:
        """Whether any cell of a system was played."""
        return any(cell.system == system for cell in self.outcomes)

    def runs(self, system: str, epsilon: float) -> int:
        """How often each held-out table was played, at least."""
        played = [c.table for c in self.outcomes if (c.system, c.epsilon) == (system, epsilon)]
        return min(played.count(table) for table in self.arena.held_out)

    def errors(self, system: str, epsilon: float) -> Errors | None:
        """The mean over held-out tables and runs; None until every table was played."""
        return self._mean(system, epsilon, self.arena.held_out) if self.runs(system, epsilon) else None

    def overall(self, system: str, epsilon: float) -> float | None:
        """The mean of the three metrics' errors; None until every table was played."""
        errors = self.errors(system, epsilon)
        return None if errors is None else errors[3]

    def shown(self, system: str, epsilon: float) -> list[str]:
        """The errors as text; where not every table was played yet, those of the tables that were, marked."""
        played = {c.table for c in self.outcomes if (c.system, c.epsilon) == (system, epsilon)}
        if not played:
            return ["not run", "", "", "", ""]
        mark = "" if len(played) == len(self.arena.held_out) else f" ({', '.join(sorted(played))} only)"
        errors = [f"{error:.3f}" for error in self._mean(system, epsilon, tuple(sorted(played)))]
        return [*errors[:-1], errors[-1] + mark, self._deviation(system, epsilon)]

    def _deviation(self, system: str, epsilon: float) -> str:
        """The standard error of the overall mean, from how runs differ; none from one run."""
        runs: dict[int, list[float]] = {}
        for cell, outcome in self.outcomes.items():
            if (cell.system, cell.epsilon) == (system, epsilon):
                runs.setdefault(cell.run, []).append(outcome.errors[3])
        means = [float(np.mean(errors)) for errors in runs.values()]
        return f"{np.std(means, ddof=1) / np.sqrt(len(means)):.3f}" if len(means) > 1 else ""

    def _mean(self, system: str, epsilon: float, tables: Sequence[str]) -> Errors:
        by_table = [
            np.mean(
                [o.errors for c, o in self.outcomes.items() if (c.system, c.epsilon, c.table) == key], axis=0
            )
            for key in ((system, epsilon, table) for table in tables)
        ]
        first, second, third, overall = np.mean(by_table, axis=0).tolist()
        return first, second, third, overall

    def fit_seconds(self, system: str, epsilon: float) -> float:
        """The mean time that a fit took."""
        mine = [o.fit_s for c, o in self.outcomes.items() if (c.system, c.epsilon) == (system, epsilon)]
        return float(np.mean(mine))

    def seconds(self, systems: Sequence[str]) -> float:
        """How long one whole table took: to fit, sample and score, every epsilon and held-out table once."""
        times: dict[Cell, list[float]] = {}
        for cell, outcome in self.outcomes.items():
            if cell.system in systems:
                whole = outcome.fit_s + outcome.sample_s + outcome.score_s
                times.setdefault(replace(cell, run=0), []).append(whole)
        return sum(float(np.mean(seconds)) for seconds in times.values())


def page(results: Sequence[Results]) -> str:
    """The whole page, as Markdown."""
    parts = [INTRODUCTION, _machine()]
    for found in results:
        parts += [f"## {found.arena.title}", _described(found), _ranking(found), _big_table(found)]
        parts += [targets.section(found)]
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


def _machine() -> str:
    load = f", load average {os.getloadavg()[1]:.0f}" if hasattr(os, "getloadavg") else ""
    return (
        "Errors run from 0 (perfect) to 1, and are means over two held-out tables and several runs. Noise is seeded: "
        f"the run repeats. Written with Python {platform.python_version()}, numpy {np.__version__}, on a machine of "
        f"{os.cpu_count()} cores{load}: what else runs there makes the times longer."
    )


def _described(found: Results) -> str:
    arena = found.arena
    sizes = ", ".join(f"{table} ({len(arena.coded(table)):,} records)" for table in arena.held_out)
    public = len(arena.coded(arena.public))
    return (
        f"Selected on: {arena.public} ({public:,} records), public. Scored on: {sizes}, held out. "
        f"delta = {arena.delta:.4g}. 100 triples and 300 conjunctions, drawn with seed 2018. {_played(found)}"
    )


def _played(found: Results) -> str:
    """How often cells were played, in words."""
    times: dict[int, list[str]] = {}
    for system in (*paper.ORDER, *([DEFAULT] if found.played(DEFAULT) else []), SUBMITTED):
        most = max(c.run for c in found.outcomes if c.system == system) + 1 if found.played(system) else 0
        times.setdefault(most, []).append(system)
    most = max(times)
    rest = "; ".join(
        f"{', '.join(systems)} {'not' if not count else f'{count} time(s)'}"
        for count, systems in sorted(times.items())
        if count != most
    )
    return f"Every cell was played {most} time(s)" + (f", but {rest}." if rest else ".")


def _ranking(found: Results) -> str:
    return f"![Overall errors on {found.arena.title}]({found.ranking})"


def _big_table(found: Results) -> str:
    systems = (*paper.ORDER, *([DEFAULT] if found.played(DEFAULT) else []))
    rows = [_row(found, system, epsilon) for epsilon in paper.EPSILONS for system in systems]
    head = ["epsilon", "system", *paper.METRICS, "+-", *(f"paper: {metric}" for metric in paper.METRICS)]
    return table(head, rows) + "\n\n+-: the standard error of the overall mean, over runs."


def _row(found: Results, system: str, epsilon: float) -> list[str]:
    theirs = paper.ERRORS.get((system, epsilon))
    told = [""] * len(paper.METRICS) if theirs is None else [f"{error:.2f}" for error in theirs]
    return [f"{epsilon:g}", system, *found.shown(system, epsilon), *told]


def with_default(text: str, results: Sequence[Results]) -> str:
    """A page that was written earlier, with today's rows of the default in its tables, and today's introduction."""
    lines = text.splitlines()
    for found in results:
        start = lines.index(f"## {found.arena.title}")
        for epsilon in paper.EPSILONS:
            end = next(i for i in range(start, len(lines)) if lines[i].startswith("+-:"))
            of_epsilon = [i for i in range(start, end) if lines[i].startswith(f"| {epsilon:g} |")]
            before = [i for i in of_epsilon if lines[i].startswith(f"| {epsilon:g} | {DEFAULT} |")]
            for i in reversed(before):
                del lines[i]
            row = "| " + " | ".join(_row(found, DEFAULT, epsilon)) + " |"
            lines.insert(of_epsilon[-1] + 1 - len(before), row)
    rest = "\n".join(lines).partition("\nErrors run from 0")[2]
    return f"{INTRODUCTION.strip()}\n\nErrors run from 0{rest}\n"


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
        for epsilon in paper.EPSILONS:
            before, now = found.errors(SUBMITTED, epsilon), found.errors("NIST-MST", epsilon)
            if before is not None and now is not None:
                errors = (f"{a:.3f} to {b:.3f}" for a, b in zip(before, now, strict=True))
                times = f"{found.fit_seconds(SUBMITTED, epsilon):.0f} to {found.fit_seconds('NIST-MST', epsilon):.0f}"
                rows.append([found.arena.name, f"{epsilon:g}", *errors, times])
    note = (
        "NIST-MST as it was submitted (noise of the moments accountant of 2018, wage in bins, 7,500 plain "
        "mirror-descent steps from the product of the one-way marginals, 10,000 at epsilon 8, tables as they "
        "were measured) against NIST-MST here (exact accounting, an estimate converged to a certified gap, "
        "noisy tables pulled towards simpler ones first)."
    )
    if not rows:
        return note + "\n\nNot run."
    return note + "\n\n" + table(["records", "epsilon", *paper.METRICS, "seconds to fit"], rows)
