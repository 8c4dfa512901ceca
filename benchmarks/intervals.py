"""How often the intervals of a release's stated errors hold, by replaying its check of errors.

    python -m benchmarks.intervals [nltcs] [titanic] [adult]

Each set is fitted ten times; the check of each fit is asked fifty times, with fresh noise, and every interval is
compared with the exact error, which is known here. A mutant that draws half the noise must not look right.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import understudy as us
from understudy.mechanisms import Fit
from understudy.pipeline.accuracy import error_check
from understudy.privacy.curator import noisy_distances

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
BUDGET = us.Budget(1.0, 1e-9)
FITS, REPLAYS = 10, 50


def main(wanted: list[str]) -> None:
    """Print, for each set, the noise of its intervals and how often they hold."""
    if not SHARED.exists():
        print("SKIPPED: no shared data beside the repository")
        return
    print(
        f"{FITS * REPLAYS} replays a set, epsilon {BUDGET.epsilon:g}, delta {BUDGET.delta:g}; 95% intervals"
    )
    print(
        "set        pairs  one deviation: a pair, the mean, of triples   held: pairs, mean, triples   mutant, pairs"
    )
    for name in wanted or ["nltcs", "titanic"]:
        table, schema = read(name)
        shown, held = [], []
        with tempfile.TemporaryDirectory() as folder:
            for number in range(FITS):
                release = us.fit(
                    table, schema, epsilon=1.0, delta=1e-9, ledger=Path(folder) / "ledger", job=f"{number}"
                )
                records = us.table(table, schema)
                held.append([*replayed(release, records), mutant(release, records)])
                shown.append(deviations(release))
        pairs, mean, triples = np.mean(shown, axis=0)
        right = np.mean(held, axis=0)
        print(
            f"{name:<10} {len(release.errors.pairs):>5}  {pairs:>22.2%} {mean:>9.3%} {triples:>11.3%}"
            f"   {right[0]:>11.1%} {right[1]:>5.1%} {right[2]:>8.1%} {right[3]:>15.1%}"
        )


def read(name: str) -> tuple[Path, us.Schema]:
    """A shared set and its schema: codes, each of which may occur."""
    folder = SHARED / f"data/{name}"
    sizes = json.loads((folder / f"{name}-domain.json").read_text())
    columns = {column: us.Integer(0, size - 1, missing=False) for column, size in sizes.items()}
    return folder / f"{name}.csv", us.Schema(columns, name=name)


def deviations(release: us.Release) -> tuple[float, float, float]:
    """One standard deviation of the noise of a pair, of the mean over pairs, and of that over triples."""
    errors, half = release.errors, 2 * release.field.total
    count = len(errors.pairs)
    mean = math.sqrt(float((errors.stddev[:count] ** 2).sum())) / count
    return errors.stddev[0] / half, mean / half, errors.stddev[-1] / len(errors.triples) / half


def replayed(release: us.Release, records: us.Counter) -> list[float]:
    """How often the intervals hold: of pairs, of their mean, of the mean of triples."""
    found = Fit(release.measurements, release.field, release.compression)
    plan = [us.Group("rest", "measure", 1 - error_check.SHARE), *error_check.groups(records.domain)]
    pairs, triples = error_check.checked(records.domain)
    true = {
        clique: float(np.abs(counted.counts - release.marginal(clique).counts).sum())
        / (2 * release.field.total)
        for clique, counted in zip([*pairs, *triples], records.count([*pairs, *triples]), strict=True)
    }
    held = []
    for _ in range(REPLAYS):
        curator = us.Curator(records, BUDGET)
        told = replace(release, errors=error_check.ask(curator, found, curator.commit(plan)))
        each = [told.expected_error(*pair) for pair in pairs]
        means = told.expected_error()
        held.append(
            [
                np.mean([e.low <= true[pair] <= e.high for e, pair in zip(each, pairs, strict=True)]),
                means.pairs.low <= np.mean([true[pair] for pair in pairs]) <= means.pairs.high,
                means.triples.low <= np.mean([true[triple] for triple in triples]) <= means.triples.high,
            ]
        )
    return np.mean(held, axis=0).tolist()


def mutant(release: us.Release, records: us.Counter) -> float:
    """How often intervals of pairs hold where half the noise is drawn: too often to be right."""
    draw = noisy_distances.discrete_gaussian
    noisy_distances.discrete_gaussian = lambda scale, size, source: draw(scale / 2, size, source)
    try:
        return replayed(release, records)[0]
    finally:
        noisy_distances.discrete_gaussian = draw


if __name__ == "__main__":
    main(sys.argv[1:])
