"""As many measurements as were planned, however few cliques there are to measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.query import Binned
from understudy.privacy import Curator, Loss


def measure_repeated(
    curator: Curator,
    cliques: Sequence[Clique],
    budget: Loss,
    weights: Sequence[float] | None = None,
    queries: Sequence[Binned | None] | None = None,
) -> list[Measurement]:
    """A measurement of each clique, in order; a clique given several times is measured as often, and averaged.

    To average two measurements with independent noise is to measure once with more weight: no budget is lost.
    Those in bins stand for themselves.
    """
    given = [None] * len(cliques) if queries is None else list(queries)
    first: dict[frozenset[str], Clique] = {}
    asked: list[Clique] = []
    puts: list[Binned | None] = []
    for clique, query in zip(map(tuple, cliques), given, strict=True):
        again = query is None and frozenset(clique) in first
        asked.append(clique if query is not None else first.setdefault(frozenset(clique), clique))
        puts.append(_every_cell(curator.domain, asked[-1]) if again else query)
    plain = all(query is None for query in puts)
    measured = curator.measure(asked, weights, budget, None if plain else puts)
    groups: dict[object, list[Measurement]] = {}
    for place, (m, query) in enumerate(zip(measured, given, strict=True)):
        groups.setdefault(m.clique if query is None else place, []).append(m)
    return [averaged(group) for group in groups.values()]


def _every_cell(domain: Domain, clique: Clique) -> Binned:
    """The marginal itself, as a query of its own: a batch holds no marginal twice."""
    return Binned(tuple(np.arange(domain[name]) for name in clique))


def averaged(measured: Sequence[Measurement]) -> Measurement:
    """The one measurement that is equivalent to several independent ones of the same question."""
    if len(measured) == 1:
        return measured[0]
    precision = np.array([float(m.stddev) ** -2 for m in measured])
    values = np.average([m.values for m in measured], axis=0, weights=precision)
    return Measurement(measured[0].clique, values, precision.sum() ** -0.5, measured[0].query)
