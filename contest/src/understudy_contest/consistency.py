"""Noisy marginals made to agree: without negative counts, with one total, and alike where they share columns.

PrivSyn's way (Zhang, Wang, Li, Honorio, Backes, He, Chen, Zhang 2021): each set of columns that marginals share is
averaged over them, the corrections are spread evenly, negative counts are cut off, and all that is repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement

Cells = npt.NDArray[np.float64]
_SETTLED = 1e-4  # of the total: a round that moves no marginal further ends the work


@dataclass(frozen=True, eq=False)
class Shared:
    """Columns that several marginals have in common: which marginals, the axes to sum, and each one's weight."""

    columns: Clique
    members: tuple[int, ...]
    others: tuple[tuple[int, ...], ...]
    summed: tuple[int, ...]  # how many cells of each marginal make one of the shared
    weights: tuple[float, ...]


def consistent(
    domain: Domain, log: Sequence[Measurement], total: float, rounds: int = 100
) -> dict[Clique, Cells]:
    """One table a clique that was measured (columns in the domain's order), all alike as nearly as can be."""
    tables, variances = _merged(domain, log)
    cliques = list(tables)
    views = [tables[clique] for clique in cliques]
    shared = _shared(domain, cliques, variances)
    for _ in range(rounds):
        before = [view.copy() for view in views]
        for common in shared:
            _agree(views, common)
        views = [without_negatives(view, total) for view in views]
        moved = max((float(np.abs(a - b).sum()) for a, b in zip(before, views, strict=True)), default=0.0)
        if moved <= _SETTLED * total:
            break
    return dict(zip(cliques, views, strict=True))


def without_negatives(table: Cells, total: float) -> Cells:
    """The table with negative cells set to zero and the rest lowered alike, until it adds up to the total.

    PrivSyn's norm-sub; where even zeros are too little, the rest is raised alike.
    """
    cells = table + (total - float(table.sum())) / table.size
    while True:
        cells = np.maximum(cells, 0.0)
        filled = cells > 0
        excess = float(cells.sum()) - total
        count = int(np.count_nonzero(filled))
        if count == 0 or excess <= 1e-9 * max(total, 1.0):
            return cells
        cells = np.where(filled, cells - excess / count, 0.0)


def _merged(domain: Domain, log: Sequence[Measurement]) -> tuple[dict[Clique, Cells], dict[Clique, float]]:
    """The tables, each clique's once: the mean of its measurements, weighted by how sure each is."""
    sums: dict[Clique, Cells] = {}
    precisions: dict[Clique, Cells] = {}
    for m in log:
        clique = domain.order(m.clique)
        shape = domain.shape(m.clique)
        axes = [m.clique.index(name) for name in clique]
        precision = np.broadcast_to(1 / np.square(m.stddev), m.values.shape).reshape(shape).transpose(axes)
        values = m.values.reshape(shape).transpose(axes) * precision
        sums[clique] = sums.get(clique, 0.0) + values
        precisions[clique] = precisions.get(clique, 0.0) + precision
    tables = {clique: sums[clique] / precisions[clique] for clique in sums}
    return tables, {clique: float(np.mean(1 / precisions[clique])) for clique in sums}


def _shared(domain: Domain, cliques: Sequence[Clique], variances: Mapping[Clique, float]) -> list[Shared]:
    """Every set of columns that is the intersection of marginals, smallest first: larger ones keep what they fix."""
    sets = {frozenset(clique) for clique in cliques}
    common = {a & b for a, b in itertools.combinations(sets, 2)} | {frozenset({name}) for name in domain}
    common.discard(frozenset())
    found = []
    place = {name: number for number, name in enumerate(domain)}
    ordered = sorted((domain.order(names) for names in common), key=lambda c: (len(c), [place[n] for n in c]))
    for columns in ordered:
        members = tuple(i for i, clique in enumerate(cliques) if set(columns) <= set(clique))
        if len(members) < 2:
            continue
        summed = tuple(domain.size(cliques[i]) // domain.size(columns) for i in members)
        weights = [1 / (variances[cliques[i]] * cells) for i, cells in zip(members, summed, strict=True)]
        others = tuple(
            tuple(axis for axis, name in enumerate(cliques[i]) if name not in columns) for i in members
        )
        shares = tuple(weight / sum(weights) for weight in weights)
        found.append(Shared(columns, members, others, summed, shares))
    return found


def _agree(views: list[Cells], shared: Shared) -> None:
    """Give every marginal the same shared columns: their weighted mean, the difference spread evenly."""
    sums = [
        views[i].sum(axis=axes, keepdims=True) for i, axes in zip(shared.members, shared.others, strict=True)
    ]
    flat = [table.reshape(-1) for table in sums]  # all in the domain's order, so cell by cell alike
    mean = sum(weight * table for weight, table in zip(shared.weights, flat, strict=True))
    for i, table, cells in zip(shared.members, sums, shared.summed, strict=True):
        views[i] = views[i] + (np.reshape(mean, table.shape) - table) / cells
