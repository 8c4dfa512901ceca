"""docs/accuracy.md, written from kept cells: tables, pictures, and what they are held to."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from benchmarks.accuracy import public_prior, targets
from benchmarks.accuracy.cells import Cell, Outcome, Store
from benchmarks.accuracy.chart import Panel, Point, svg
from benchmarks.accuracy.data_sets import SURVEYS
from benchmarks.accuracy.rivals import PEERS
from benchmarks.accuracy.systems import AGAINST, EPSILONS, NEW, REFERENCES, ours
from benchmarks.accuracy.tables import Key, Summary, excesses, summaries
from benchmarks.accuracy.words import INTRODUCTION, RULES, SCORE, SURVEY, UNSEEN
from benchmarks.accuracy.words import PEERS as HOW_PEERS
from benchmarks.contest.page import table

Played = Mapping[Cell, Outcome]
Found = Mapping[Key, Summary]


def write(store: Store, out: Path, sets: Sequence[str]) -> None:
    """The page and its pictures, from cells of these sets; older cells stand in where none is of today's code."""
    played = {cell: o for cell, o in store.played(stale=True).items() if cell.data in sets}
    found = summaries(played)
    for data in sets:
        if any(name == data for name, _, _ in found):
            (out.parent / f"{out.stem}-{data}.svg").write_text(_by_epsilon(found, data), encoding="utf-8")
    (out.parent / f"{out.stem}-time.svg").write_text(_by_time(found, sets), encoding="utf-8")
    stale = sum(cell.system in ours() and not store.is_current(o) for cell, o in played.items())
    public = public_prior.kept(store.folder)
    out.write_text(_text(played, found, sets, out.stem, stale, public), encoding="utf-8")


def _text(played: Played, found: Found, sets: Sequence[str], stem: str, stale: int, public: str) -> str:
    exact = {data: o.triples for (data, system, _), o in found.items() if system == "columns-exact"}
    parts = [INTRODUCTION, _machine(played, stale), "## At epsilon 1", _overview(found, sets)]
    parts += ["## What it is held to"]
    parts += [targets.section(found, played, exact), "## Where a peer is ahead", _ahead(found)]
    parts += ["## Errors", RULES]
    for data in sets:
        if any(name == data for name, _, _ in found):
            picture = f"![error by epsilon on {data}]({stem}-{data}.svg)"
            parts += [f"### {data}", picture, _errors(found, played, data)]
    parts += ["## Error against time", f"![error by processor seconds]({stem}-time.svg)"]
    parts += ["## On other data", UNSEEN]
    parts += ["## NIST's score", SCORE, _score(found), "## People who cannot be", SURVEY]
    parts += [
        "## Little data",
        _little(played),
        "## With a public table",
        public,
        "## Peers",
        HOW_PEERS,
        _versions(played),
        _unfinished(played),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _machine(played: Played, stale: int) -> str:
    loads = [o.load for o in played.values()] or [0.0]
    said = (
        f"Played with Python {platform.python_version()} and numpy {np.__version__} on a machine of {os.cpu_count()} "
        f"cores. Its load as cells began was {np.median(loads):.1f} in the middle and {max(loads):.0f} at most: what "
        "else runs there makes seconds by the clock longer, so processor seconds stand beside them."
    )
    runs = [o.runs for (_, system, _), o in summaries(played).items() if system == NEW]
    if runs:
        said += f" A figure of {NEW} is the mean of {min(runs)} to {max(runs)} runs, as its table says."
    if stale:
        said += f" {stale} of {len(played)} cells were played with code that has changed since."
    return said


def _overview(found: Found, sets: Sequence[str]) -> str:
    """Every system's errors at epsilon 1, the least of each set's private ones in bold."""
    rows = []
    for system in (*ours(), *PEERS, *REFERENCES):
        mine = [found.get((data, system, 1.0)) or found.get((data, system, 0.0)) for data in sets]
        if any(mine):
            rows.append([system, *(_marked(found, data, s) for data, s in zip(sets, mine, strict=True))])
    return table(["pairs / triples", *sets], rows) if rows else "Not run."


def _marked(found: Found, data: str, mine: Summary | None) -> str:
    if mine is None:
        return ""
    private = [s for (name, _, epsilon), s in found.items() if name == data and epsilon == 1.0]
    shown = []
    for error, others in (
        (mine.pairs, [s.pairs for s in private]),
        (mine.triples, [s.triples for s in private]),
    ):
        bold = "**" if others and error == min(others) else ""
        shown.append(f"{bold}{_digits(error)}{bold}")
    return " / ".join(shown)


def _errors(found: Found, played: Played, data: str) -> str:
    rows = []
    for system in (*ours(), *PEERS, *REFERENCES):
        mine = {e: found[data, system, e] for e in (*EPSILONS, 0.0) if (data, system, e) in found}
        tried = {c.epsilon for c in played if (c.data, c.system, c.rows) == (data, system, 0)}
        if not tried:
            continue
        if system in REFERENCES:
            cells = [_shown(mine.get(0.0), tried=True)] * len(EPSILONS)
        else:
            cells = [_shown(mine.get(e), tried=e in tried) for e in EPSILONS]
        times = _spread([o.seconds for o in mine.values()], "s")
        used = _spread([o.processor_s for o in mine.values()], "s")
        memory = f"{max(o.megabytes for o in mine.values()):,.0f} MB" if mine else ""
        runs = "-".join(str(n) for n in sorted({o.runs for o in mine.values()}))
        rows.append([system, *cells, times, used, memory, runs])
    heads = [f"epsilon {epsilon:g}" for epsilon in EPSILONS]
    return table(["", *heads, "seconds", "of processors", "memory", "runs"], rows)


def _shown(found: Summary | None, *, tried: bool) -> str:
    if found is None:
        return "not finished" if tried else ""
    spread = f" (±{_digits(found.pairs_se)} / {_digits(found.triples_se)})" if found.runs > 1 else ""
    return f"{_digits(found.pairs)} / {_digits(found.triples)}{spread}"


def _digits(error: float) -> str:
    return f"{error:.4f}".removeprefix("0")


def _spread(values: Sequence[float], unit: str) -> str:
    if not values:
        return ""
    low, high = min(values), max(values)
    return f"{low:.1f} {unit}" if high < 1.1 * low else f"{low:.1f} to {high:.1f} {unit}"


def _by_epsilon(found: Found, data: str) -> str:
    panels = []
    for words, place in (("pairs", 0), ("triples", 1)):
        lines: dict[str, list[Point]] = {}
        for system in (*ours(), *PEERS):
            points = [
                (epsilon, (s.pairs, s.triples)[place])
                for epsilon in EPSILONS
                if (s := found.get((data, system, epsilon))) is not None
            ]
            if points:
                lines[system] = points
        floor = found.get((data, "resampled", 0.0))
        if floor is not None:
            lines["resampled"] = [
                (e, (floor.pairs, floor.triples)[place]) for e in (EPSILONS[0], EPSILONS[-1])
            ]
        panels.append(Panel(f"{data}: {words}", "epsilon", lines))
    return svg(panels, f"mean total variation by epsilon on {data}, lower is better")


def _by_time(found: Found, sets: Sequence[str], most: int = 4) -> str:
    panels: list[Panel] = []
    for data in sets:
        lines = {
            system: [(max(s.processor_s, 0.1), s.triples)]
            for system in (*ours(), *PEERS)
            if (s := found.get((data, system, 1.0))) is not None
        }
        if len(lines) > 1 and len(panels) < most:
            panels.append(Panel(f"{data}, epsilon 1: triples", "processor seconds", lines, joined=False))
    return svg(
        panels, "mean total variation of triples by processor seconds at epsilon 1, left and low are better"
    )


def _ahead(found: Found) -> str:
    said = targets.ahead(found)
    if said:
        return "\n".join(f"- {line}" for line in said)
    if not any(system in PEERS for _, system, _ in found):
        return "No peer was run."
    return "Nowhere that one finished."


def _score(found: Found) -> str:
    rows = []
    for system in (*ours(), *PEERS, *REFERENCES):
        scores = []
        for data in SURVEYS:
            for epsilon in EPSILONS:
                mine = found.get((data, system, epsilon)) or found.get((data, system, 0.0))
                scores.append("" if mine is None else f"{1000 * (1 - mine.triples):.0f}")
        if any(scores):
            rows.append([system, *scores])
    heads = [f"{data}, {epsilon:g}" for data in SURVEYS for epsilon in EPSILONS]
    return table(["", *heads], rows) if rows else "Not run."


def _little(played: Played) -> str:
    small = {place: both for place, both in excesses(played, NEW).items() if place[1]}
    if not small:
        return "Not run."
    rows = [
        [
            data,
            f"{size:,}",
            f"{e:g}",
            f"{p.mean:+.1%}",
            f"{p.bound:+.1%}",
            f"{t.mean:+.1%}",
            f"{t.bound:+.1%}",
            str(p.runs),
        ]
        for (data, size, e), (p, t) in small.items()
    ]
    heads = ["", "records", "epsilon", "pairs", "99% bound", "triples", "99% bound", "runs"]
    return (
        f"How much worse {NEW} is than {AGAINST} on subsamples, in shares of {AGAINST}'s error: mean, and the "
        f"one-sided 99% bound of the mean, from runs of both on the same records.\n\n{table(heads, rows)}"
    )


def _versions(played: Played) -> str:
    """Which peers were played in which version, where, and which were not played at all."""
    places: dict[str, dict[str, None]] = {}
    for cell in sorted((c for c in played if c.system in PEERS), key=lambda c: (c.data, c.epsilon)):
        places.setdefault(cell.system, {})[f"{cell.data} at {cell.epsilon:g}"] = None
    if not places:
        return "No peer was run."
    lines = [f"- {system}: {', '.join(places[system])}" for system in PEERS if system in places]
    absent = [system for system in PEERS if system not in places]
    versions = sorted({o.version for cell, o in played.items() if cell.system in PEERS})
    said = f"Versions: {', '.join(versions)}. Played:\n\n" + "\n".join(lines)
    return said + (f"\n\nNot played anywhere yet: {', '.join(absent)}." if absent else "")


def _unfinished(played: Played) -> str:
    lines = [
        f"- {cell.system} on {cell.data} at {cell.epsilon:g}: {o.failed} (load {o.load:.0f})"
        for cell, o in played.items()
        if o.failed
    ]
    return (
        "Cells without a result:\n\n" + "\n".join(sorted(lines))
        if lines
        else "Every cell that was played finished."
    )
