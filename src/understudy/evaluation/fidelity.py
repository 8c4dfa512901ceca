"""How far marginals of any width lie apart: total variation, and NIST's k-marginal score."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.evaluation.columns import Columns
from understudy.evaluation.distance import PairedTables

CLIQUES = 100


def sample_cliques(
    names: Sequence[str], width: int, limit: int | None, randomness: np.random.Generator
) -> list[Clique]:
    """`limit` distinct cliques of `width` columns; all of them when there are no more, or no limit."""
    if not 1 <= width <= len(names):
        raise ParameterError(
            f"marginals of {width} columns cannot be had from a table of {len(names)}.",
            hint=f"ask for 1 to {len(names)}.",
        )
    total = math.comb(len(names), width)
    if limit is None or total <= limit:
        return list(itertools.combinations(names, width))
    if total <= 4 * limit:
        every = list(itertools.combinations(names, width))
        return [every[i] for i in sorted(randomness.choice(total, limit, replace=False))]
    found: dict[tuple[int, ...], None] = {}
    while len(found) < limit:
        found[tuple(sorted(randomness.choice(len(names), width, replace=False).tolist()))] = None
    return [tuple(names[i] for i in clique) for clique in sorted(found)]


@dataclass(frozen=True)
class TotalVariation:
    """Half the L1 distance between `k`-way marginals: its mean over cliques, and the worst of them.

    `cliques` limits how many are looked at (a seeded sample); None looks at all.
    """

    k: int = 2
    cliques: int | None = CLIQUES
    better: ClassVar[str] = "lower"

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """The mean and the largest distance."""
        distances = _distances(self.k, self.cliques, real, candidate, randomness)
        label = f"{self.k}-way total variation"
        return {label: float(np.mean(distances)), f"{label}, worst": float(np.max(distances))}


@dataclass(frozen=True)
class KMarginal:
    """NIST's k-marginal score: 1000 for equal densities, 0 for densities that never meet.

    A marginal's density difference is the sum over cells of |difference|, from 0 to 2; the score is
    `1000 * (1 - mean / 2)`. With `by`, every marginal holds that column too (NIST: the geography).
    """

    k: int = 3
    cliques: int | None = CLIQUES
    by: str | None = None
    better: ClassVar[str] = "higher"

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """The score."""
        distances = _distances(self.k, self.cliques, real, candidate, randomness, by=self.by)
        return {f"NIST {self.k}-marginal score": 1000.0 * (1.0 - float(np.mean(distances)))}


def _distances(
    width: int,
    limit: int | None,
    real: Columns,
    candidate: Columns,
    randomness: np.random.Generator,
    *,
    by: str | None = None,
) -> Sequence[float]:
    if by is not None and by not in real:
        raise ParameterError(f"column {by!r}, which every marginal was to hold, is not in the table.")
    names = [name for name in real if name != by]
    held = () if by is None else (by,)
    cliques = [(*held, *clique) for clique in sample_cliques(names, width - len(held), limit, randomness)]
    used = dict.fromkeys(name for clique in cliques for name in clique)
    distances: list[float] = PairedTables.of(real, candidate, used).distances(cliques).tolist()
    return distances
