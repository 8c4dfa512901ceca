"""Tables to stand beside a synthetic one: as good as sampling allows, without dependence, with nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.evaluation.columns import Codebook, Columns, rows_of

Baseline = Callable[[Columns, int, np.random.Generator], Columns]


def bootstrap(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Real records drawn with replacement: what no synthetic table of this size need beat."""
    chosen = randomness.integers(0, rows_of(real), rows)
    return {name: column[chosen] for name, column in real.items()}


def independent(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Every column drawn from the real one by itself: right margins, no dependence."""
    return {name: column[randomness.integers(0, len(column), rows)] for name, column in real.items()}


def uniform(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Every column drawn evenly from the codes that occur: nothing learned but the domain."""
    found: Columns = {}
    for name, column in real.items():
        codes = Codebook.of(column).values.astype(column.dtype)  # as narrow as the column
        found[name] = codes[randomness.integers(0, len(codes), rows)]
    return found


BASELINES: dict[str, Baseline] = {"bootstrap": bootstrap, "independent": independent, "uniform": uniform}
