"""What was found, in short: means and their errors by system and epsilon, and how small tables fare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.accuracy.cells import Cell, Outcome
from benchmarks.accuracy.systems import AGAINST

# One-sided 99% points of Student's t by degrees of freedom; the normal's, nearly, beyond.
_T99 = {1: 31.82, 2: 6.965, 3: 4.541, 4: 3.747, 5: 3.365, 7: 2.998, 9: 2.821, 14: 2.624, 19: 2.539, 29: 2.462}


@dataclass(frozen=True)
class Summary:
    """Several runs of one system on one data set at one epsilon: means, and standard errors (0 of one run)."""

    runs: int
    pairs: float
    pairs_se: float
    triples: float
    triples_se: float
    seconds: float
    processor_s: float
    megabytes: float


Key = tuple[str, str, float]  # data set, system, epsilon


def summaries(played: Mapping[Cell, Outcome]) -> dict[Key, Summary]:
    """The whole tables' cells, summed up; those without an error are left out."""
    groups: dict[Key, list[Outcome]] = {}
    for cell, outcome in played.items():
        if not cell.rows and outcome.pairs is not None:
            groups.setdefault((cell.data, cell.system, cell.epsilon), []).append(outcome)
    return {key: _summed(outcomes) for key, outcomes in groups.items()}


def _summed(outcomes: Sequence[Outcome]) -> Summary:
    pairs, pairs_se = _mean([o.pairs for o in outcomes if o.pairs is not None])
    triples, triples_se = _mean([o.triples for o in outcomes if o.triples is not None])
    seconds = [o.seconds for o in outcomes]
    return Summary(
        len(outcomes),
        pairs,
        pairs_se,
        triples,
        triples_se,
        float(np.mean(seconds)),
        float(np.mean([o.processor_s for o in outcomes])),
        max(o.megabytes for o in outcomes),
    )


def _mean(values: Sequence[float]) -> tuple[float, float]:
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread


@dataclass(frozen=True)
class Excess:
    """How much worse a system is than independent columns on little data, in shares of their error.

    `bound` is the one-sided 99% bound of `mean`, from runs in pairs on the same records.
    """

    runs: int
    mean: float
    bound: float


def excesses(
    played: Mapping[Cell, Outcome], system: str, least: int = 10
) -> dict[tuple[str, int, float], tuple[Excess, Excess]]:
    """By data set, rows and epsilon: the excess of pairs and of triples; where so many runs were played."""
    found = {}
    places = {(c.data, c.rows, c.epsilon) for c in played if c.system == system}
    for data, rows, epsilon in sorted(places):
        both = [
            (ours, theirs)
            for cell, ours in played.items()
            if (cell.data, cell.rows, cell.epsilon, cell.system) == (data, rows, epsilon, system)
            and (theirs := played.get(Cell(data, epsilon, AGAINST, cell.run, rows))) is not None
        ]
        pairs = [(a.pairs, b.pairs) for a, b in both if a.pairs is not None and b.pairs is not None]
        triples = [(a.triples, b.triples) for a, b in both if a.triples is not None and b.triples is not None]
        if len(pairs) >= least:
            found[data, rows, epsilon] = (_excess(pairs), _excess(triples))
    return found


def _excess(both: Sequence[tuple[float, float]]) -> Excess:
    ours, theirs = np.array(both).T
    mean, error = _mean((ours - theirs).tolist())
    scale = float(theirs.mean())
    degrees = max(d for d in _T99 if d < len(both))
    return Excess(len(both), mean / scale, (mean + _T99[degrees] * error) / scale)


def compact(played: Mapping[Cell, Outcome], sets: Iterable[str], epsilons: Sequence[float]) -> str:
    """The errors as lines of text, a system a line, pairs / triples by epsilon, with seconds and megabytes."""
    found = summaries(played)
    lines = []
    for data in sets:
        systems = list(dict.fromkeys(system for name, system, _ in found if name == data))
        if not systems:
            continue
        lines.append(f"\n{data:<26}" + "".join(f"epsilon {epsilon:<29g}" for epsilon in epsilons))
        for system in systems:
            alike = found.get((data, system, 0.0))  # a reference, which has no epsilon
            shown = [_shown(found.get((data, system, epsilon)), alike) for epsilon in epsilons]
            lines.append(f"  {system:<24}" + "".join(f"{text:<37}" for text in shown).rstrip())
    return "\n".join(lines)


def _shown(found: Summary | None, alike: Summary | None) -> str:
    found = found or alike
    if found is None:
        return "-"
    spread = f" ±{found.pairs_se:.4f}" if found.runs > 1 else ""
    return f"{found.pairs:.4f}/{found.triples:.4f}{spread} {found.processor_s:.1f}s x{found.runs}"
