"""Where two tables lie apart: the total variation of each column, and of the pairs that are worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.domain import Clique
from understudy.evaluation.baselines import bootstrap
from understudy.evaluation.columns import Columns, rows_of
from understudy.evaluation.distance import PairedTables
from understudy.evaluation.fidelity import sample_cliques

PAIRS = 1_000  # that are looked at in a wide table
WORST = 10


@dataclass(frozen=True)
class Gap:
    """How far a marginal of the synthetic table lies from the real one, and how far a bootstrap would."""

    clique: Clique
    synthetic: float
    bootstrap: float

    @property
    def excess(self) -> float:
        """What sampling alone does not explain."""
        return self.synthetic - self.bootstrap


def column_gaps_and_worst_pairs(
    real: Columns, synthetic: Columns, seed: int, most: int = WORST
) -> tuple[tuple[Gap, ...], tuple[Gap, ...]]:
    """The gap of every column, in the table's order, and the pairs of columns with the largest excess.

    Of many pairs, a seeded sample is looked at.
    """
    columns = [(name,) for name in real]
    pairs = sample_cliques(list(real), 2, PAIRS, np.random.default_rng([seed, 5])) if len(real) > 1 else []
    found = _gaps(real, synthetic, [*columns, *pairs], seed)
    return found[: len(columns)], tuple(sorted(found[len(columns) :], key=lambda gap: -gap.excess)[:most])


def _gaps(real: Columns, synthetic: Columns, cliques: Sequence[Clique], seed: int) -> tuple[Gap, ...]:
    def apart(table: Columns) -> list[float]:
        distances: list[float] = PairedTables.of(real, table, list(real)).distances(cliques).tolist()
        return distances

    ours = apart(synthetic)
    limit = apart(bootstrap(real, rows_of(synthetic), np.random.default_rng([seed, 4])))
    return tuple(Gap(*gap) for gap in zip(cliques, ours, limit, strict=True))
