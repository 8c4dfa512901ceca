"""How often the intervals of a release hold: of its stated errors, by replaying its check, and of its answers.

    python -m benchmarks.intervals [nltcs] [titanic] [adult]

Each set is fitted ten times; the check of each fit is asked fifty times, with fresh noise, and every interval is
compared with the exact error, which is known here. A mutant that draws half the noise must not look right. Of each
fit, a hundred counts and the means of all columns are asked as well: those intervals are wide, and hold more often.
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
    for name in wanted or ["nltcs", "titanic"]:
        table, schema = read(name)
        shown, held = [], []
        with tempfile.TemporaryDirectory() as folder:
            for number in range(FITS):
                release = us.fit(
                    table, schema, epsilon=1.0, delta=1e-9, ledger=Path(folder) / "ledger", job=f"{number}"
                )
                records = us.table(table, schema)
                held.append(
                    [*replayed(release, records), mutant(release, records), *queried(release, records)]
                )
                shown.append(deviations(release))
        pairs, mean, triples = np.mean(shown, axis=0)
        right = np.mean(held, axis=0)
        print(f"\n{name}: {release.rows:,} records, {len(release.errors.pairs)} pairs")
        print(
            f"  one deviation: a pair {pairs:.2%}, their mean {mean:.3%}, the mean over triples {triples:.3%}"
        )
        print(
            f"  held: pairs {right[0]:.1%}, their mean {right[1]:.1%}, the mean over triples {right[2]:.1%}"
        )
        print(f"  held, half the noise drawn: pairs {right[3]:.1%}")
        print(
            f"  held: counts {right[4]:.1%} (half width {right[6]:.2%} of records), means {right[5]:.1%}",
            flush=True,
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


def queried(release: us.Release, records: us.Counter) -> list[float]:
    """How often the intervals of counts and of means hold, and how wide those of counts are, as shares of all."""
    draw = np.random.default_rng(0)
    held, widths, means = [], [], []
    for _ in range(100):
        names = tuple(draw.choice(release.domain.names, 1 + int(draw.integers(2)), replace=False).tolist())
        (counted,) = records.count([names])
        parts, exact = [], counted.counts
        for axis, name in enumerate(names):
            size = release.domain[name]
            codes = draw.choice(size, 1 + int(draw.integers(max(1, size // 2))), replace=False)
            parts.append(f'"{name}" in ({", ".join(map(str, codes.tolist()))})')
            exact = exact.take(codes, axis)
        found = release.query(where=" and ".join(parts))
        held.append(found.low <= int(exact.sum()) <= found.high)
        widths.append((found.high - found.low) / 2 / release.field.total)
    for name in release.domain:
        (counted,) = records.count([(name,)])
        found = release.query("mean", name)
        true = float(counted.counts @ np.arange(counted.counts.size)) / float(counted.counts.sum())
        means.append(found.low <= true <= found.high)
    return [float(np.mean(numbers)) for numbers in (held, means, widths)]


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
