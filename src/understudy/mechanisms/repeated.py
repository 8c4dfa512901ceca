"""As many measurements as were planned, however few cliques there are to measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.query import Binned
from understudy.privacy import Curator, Loss


def measure_repeated(
    curator: Curator, cliques: Sequence[Clique], budget: Loss, weights: Sequence[float] | None = None
) -> list[Measurement]:
    """A measurement of each clique, in order; one that is given several times is measured so often, and averaged.

    To average two measurements with independent noise is to measure once with more weight: no budget is lost.
    """
    first: dict[frozenset[str], Clique] = {}
    asked = [first.setdefault(frozenset(clique), tuple(clique)) for clique in cliques]
    seen: set[Clique] = set()
    queries: list[Binned | None] = []
    for clique in asked:
        queries.append(_every_cell(curator.domain, clique) if clique in seen else None)
        seen.add(clique)
    measured = curator.measure(asked, weights, budget, queries if len(seen) < len(asked) else None)
    return [_averaged([m for m in measured if m.clique == clique]) for clique in first.values()]


def _every_cell(domain: Domain, clique: Clique) -> Binned:
    """The marginal itself, as a query of its own: a batch holds no marginal twice."""
    return Binned(tuple(np.arange(domain[name]) for name in clique))


def _averaged(measured: Sequence[Measurement]) -> Measurement:
    """One measurement that says what several of the same cells say together."""
    if len(measured) == 1:
        return measured[0]
    precision = np.array([float(m.stddev) ** -2 for m in measured])
    values = np.average([m.values for m in measured], axis=0, weights=precision)
    return Measurement(measured[0].clique, values, precision.sum() ** -0.5)
