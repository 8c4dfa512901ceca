"""How far synthetic records lie from real ones: mean total variation of pairs and of triples of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.accuracy.data_sets import Codes

from understudy.evaluation.distance import PairedTables
from understudy.evaluation.fidelity import sample_cliques

TRIPLES, TRIPLES_SEED = 200, 14


@dataclass(frozen=True)
class Errors:
    """Means over cliques of half the L1 distance between frequencies: of all pairs, of 200 seeded triples."""

    pairs: float
    triples: float


def errors(real: Codes, made: Codes) -> Errors:
    """The errors of synthetic records. A value that the real ones never have counts as wrong."""
    names = list(real)
    tables = PairedTables.of(dict(real), {name: made[name] for name in names}, names)
    every = sample_cliques(names, 2, None, np.random.default_rng(0))
    some = sample_cliques(names, min(3, len(names)), TRIPLES, np.random.default_rng(TRIPLES_SEED))
    return Errors(float(tables.distances(every).mean()), float(tables.distances(some).mean()))
