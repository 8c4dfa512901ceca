"""How often the intervals of a release hold: of its stated errors, by replaying its check, and of its answers.

    python -m benchmarks.intervals [SET ...] [--slots] [--mechanism NAME] [--epsilon E] [--fits N]

Each set is fitted ten times; the check of each fit is asked fifty times, with fresh noise, and every interval is
compared with the exact error, which is known here. A mutant that draws half the noise must not look right. Of each
fit twenty questions of every kind are asked as well (`benchmarks.answers`). SET is one of the benchmark of accuracy,
or <name>.csv with <name>-domain.json in data/<name> of the shared data. With --slots the schema does not say that no
cell is missing, so every column has a slot for missing ones that nobody is in.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.accuracy.data_sets import DataSet, is_there, read_set
from benchmarks.answers import Held, asked

import understudy as us
from understudy.mechanisms import Fit
from understudy.pipeline.accuracy import error_check
from understudy.privacy.curator import noisy_distances

DELTA = 1e-9
REPLAYS, QUESTIONS = 50, 20


def main(words: list[str] | None = None) -> int:
    """Print, for each set, the noise of its intervals and how often they hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("sets", nargs="*", default=["nltcs", "titanic"], metavar="SET")
    parser.add_argument("--slots", action="store_true", help="every column has a slot for missing cells")
    parser.add_argument("--mechanism", default="adaptive")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--fits", type=int, default=10)
    options = parser.parse_args(words)
    print(
        f"{options.mechanism}, {options.fits} fits of {REPLAYS} replays a set, epsilon {options.epsilon:g}, "
        f"delta {DELTA:g}; 95% intervals"
    )
    for name in options.sets:
        if not is_there(name):
            print(f"{name}: SKIPPED, no such data beside the repository")
            continue
        _play(read_set(name), options)
    return 0


def _play(records: DataSet, options: argparse.Namespace) -> None:
    """Fit a set some times, replay its checks, ask its releases, and print what held."""
    schema = us.Schema(
        {
            name: us.Integer(0, max(1, size - 1), bins=max(2, size), missing=None if options.slots else False)
            for name, size in records.sizes.items()
        },
        name="set",
    )
    table = pa.table({name: pa.array(column) for name, column in records.columns.items()})
    budget = us.Budget(options.epsilon, DELTA)
    shown, held = [], []
    answers: list[Held] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.fits):
            release = us.fit(
                table,
                schema,
                epsilon=options.epsilon,
                delta=DELTA,
                mechanism=options.mechanism,
                ledger=Path(folder) / f"ledger{number}",
            )
            counter = us.table(table, schema)
            held.append([*replayed(release, counter, budget), mutant(release, counter, budget)])
            answers += asked(release, records.columns, QUESTIONS, number)
            shown.append(deviations(release))
    pairs, mean, triples = np.mean(shown, axis=0)
    right = np.mean(held, axis=0)
    print(f"\n{records.name}: {records.rows:,} records, {len(release.errors.pairs)} pairs")
    print(f"  one deviation: a pair {pairs:.2%}, their mean {mean:.3%}, the mean over triples {triples:.3%}")
    print(f"  held: pairs {right[0]:.1%}, their mean {right[1]:.1%}, the mean over triples {right[2]:.1%}")
    print(f"  held, half the noise drawn: pairs {right[3]:.1%}")
    for kind, same in groupby(answers_in_order(answers), key=lambda one: one.kind):
        print(_line(kind, list(same)), flush=True)


def answers_in_order(answers: list[Held]) -> list[Held]:
    """The same, those of a kind together, kinds in the order in which they were asked first."""
    first = {kind: place for place, kind in reversed(list(enumerate(one.kind for one in answers)))}
    return sorted(answers, key=lambda one: first[one.kind])


def _line(kind: str, same: list[Held]) -> str:
    widths, misses = (np.array([getattr(one, part) for one in same]) for part in ("half_width", "miss"))
    wide = np.quantile(widths, 0.9, method="inverted_cdf")  # infinite ones have no middle
    return (
        f"  {kind}: {np.mean([one.holds for one in same]):.1%} of {len(same)} held; half width "
        f"{np.median(widths):.2%} in the median, nine in ten below {wide:.2%}; the answers were "
        f"off by {misses.mean():.2%} in the mean"
    )


def deviations(release: us.Release) -> tuple[float, float, float]:
    """One standard deviation of the noise of a pair, of the mean over pairs, and of that over triples."""
    errors, half = release.errors, 2 * release.field.total
    count = len(errors.pairs)
    mean = math.sqrt(float((errors.stddev[:count] ** 2).sum())) / count
    return errors.stddev[0] / half, mean / half, errors.stddev[-1] / len(errors.triples) / half


def replayed(release: us.Release, records: us.Counter, budget: us.Budget) -> list[float]:
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
        curator = us.Curator(records, budget)
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


def mutant(release: us.Release, records: us.Counter, budget: us.Budget) -> float:
    """How often intervals of pairs hold where half the noise is drawn: too often to be right."""
    draw = noisy_distances.discrete_gaussian
    noisy_distances.discrete_gaussian = lambda scale, size, source: draw(scale / 2, size, source)
    try:
        return replayed(release, records, budget)[0]
    finally:
        noisy_distances.discrete_gaussian = draw


if __name__ == "__main__":
    sys.exit(main())
