"""The contest's first metric: three-way marginals of columns drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.evaluation.columns import Columns
from understudy.evaluation.distance import PairedTables

WIDTH = 3


def draw_triples(
    names: Sequence[str], count: int, randomness: np.random.Generator, *, never_last: bool = False
) -> list[Clique]:
    """`count` triples of distinct columns, each drawn uniformly and independently.

    `never_last` follows the official generator, in which the last column could never be drawn.
    """
    eligible = list(names)[:-1] if never_last else list(names)
    if len(eligible) < WIDTH:
        raise ParameterError(
            f"{len(eligible)} columns to draw from; a triple needs {WIDTH}.", hint="give a wider table."
        )
    return [
        tuple(eligible[i] for i in randomness.choice(len(eligible), WIDTH, replace=False))
        for _ in range(count)
    ]


def triple_errors(true: Columns, synthetic: Columns, triples: Sequence[Clique]) -> npt.NDArray[np.float64]:
    """The total variation distance of each triple's marginal; the metric's error is their mean."""
    names = dict.fromkeys(name for triple in triples for name in triple)
    return PairedTables.of(true, synthetic, names).distances(triples)
