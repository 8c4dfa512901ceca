"""Whether telling a mechanism what matters helps it there: python -m benchmarks.what_matters [SET:TARGET ...].

Every set of the benchmark of accuracy, or <name>.csv with <name>-domain.json in data/<name> of the shared data, is
synthesised with the target named and without, by the same seeds. Errors are total variations of the model, in the
mean over all pairs that hold the target and over triples that do (two hundred at most, the same every time); and over
all other pairs, which is where what the target gains is taken from.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.accuracy.data_sets import DataSet, read_set

import understudy as us
from understudy.domain import Clique
from understudy.mechanisms.registry import mechanism_kind
from understudy.privacy import Seeded

DELTA = 1e-9
SETS = ("adult:income>50K", "ma2019:PINCP_DECILE")
MOST_TRIPLES = 200


def main(words: list[str] | None = None) -> int:
    """Print, for each set and epsilon, the errors with the target and without."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.what_matters", description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET:TARGET")
    parser.add_argument("--mechanism", default="adaptive", choices=("adaptive", "aim"))
    parser.add_argument("--epsilons", nargs="+", type=float, default=(0.1, 1.0, 10.0))
    parser.add_argument("--runs", type=int, default=3, help="seeds of each cell")
    asked = parser.parse_args(words)
    warnings.simplefilter("ignore")
    print(f"{asked.mechanism}, {asked.runs} seeds; without the target named -> with it (one standard error)")
    for said in asked.sets:
        name, _, target = said.rpartition(":")
        records = read_set(name)
        for epsilon in asked.epsilons:
            found = np.array(
                [
                    [
                        _once(records, asked.mechanism, epsilon, run, target, named=named)
                        for named in (False, True)
                    ]
                    for run in range(asked.runs)
                ]
            )
            print(f"{name}, {target} at {epsilon:g}: {_line(found)}", flush=True)
    return 0


def _once(
    records: DataSet, mechanism: str, epsilon: float, run: int, target: str, *, named: bool
) -> tuple[float, float, float]:
    return errors(records, fitted(records, mechanism, epsilon, run, target if named else None), target)


def fitted(records: DataSet, mechanism: str, epsilon: float, run: int, target: str | None) -> us.Release:
    """A release of the records, with a target named or none."""
    columns = {
        name: us.Integer(0, max(1, size - 1), bins=max(2, size), missing=False, ordered=False)
        for name, size in records.sizes.items()
    }
    table = pa.table({name: pa.array(column) for name, column in records.columns.items()})
    with tempfile.TemporaryDirectory() as folder:
        return us.fit(
            table,
            us.Schema(columns, name=records.name),
            epsilon=epsilon,
            delta=DELTA,
            mechanism=mechanism_kind(mechanism).make(**({} if target is None else {"target": target})),
            ledger=Path(folder) / "ledger.db",
            source=Seeded(run),
        )


def errors(records: DataSet, release: us.Release, target: str) -> tuple[float, float, float]:
    """Mean errors over pairs with the target, triples with it, and all other pairs."""
    others = [name for name in records.sizes if name != target]
    draw = np.random.default_rng(0)
    triples = [(target, *pair) for pair in combinations(others, 2)]
    if len(triples) > MOST_TRIPLES:
        triples = [triples[i] for i in draw.choice(len(triples), MOST_TRIPLES, replace=False)]
    kinds = [[(target, name) for name in others], triples, list(combinations(others, 2))]
    pairs, with_two, rest = (float(np.mean([_off(records, release, c) for c in kind])) for kind in kinds)
    return pairs, with_two, rest


def _off(records: DataSet, release: us.Release, clique: Clique) -> float:
    shape = [max(2, records.sizes[name]) for name in clique]
    cells = np.ravel_multi_index([records.columns[name].astype(np.int64) for name in clique], shape)
    real = np.bincount(cells, minlength=int(np.prod(shape))) / records.rows
    made = np.asarray(release.marginal(clique).counts, np.float64).ravel()
    return float(np.abs(real - made / made.sum()).sum()) / 2


def _line(found: np.ndarray) -> str:
    """Means of runs x (without, with) x kinds, and by how much the target changes them."""
    said = []
    for place, kind in enumerate(("pairs with it", "triples with it", "other pairs")):
        without, named = found[:, :, place].T
        change = named / without - 1
        spread = change.std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else float("nan")
        said.append(f"{kind} {without.mean():.4f} -> {named.mean():.4f} ({change.mean():+.1%}, {spread:.1%})")
    return "; ".join(said)


if __name__ == "__main__":
    sys.exit(main())
