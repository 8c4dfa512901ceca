"""Where an estimation begins: the least-squares marginals, fitted to the tree in proportion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.model.fitting.least_squares import consistent, on_simplex
from understudy.model.fitting.maximum_entropy import sweep
from understudy.model.fitting.observations import Observations
from understudy.model.markov_field import MarkovField
from understudy.model.tree import propagation_kernels
from understudy.model.tree.propagation import Propagation, directed
from understudy.model.tree.tree_layout import Floats, TreeLayout

SWEEPS = 10
_BALANCES = 12
_FLOOR = 1e-3  # of a standard deviation: a start must not rule out a cell that noise made negative


def fitted(observations: Observations, tables: Floats, total: float) -> Floats:
    """Potentials close to the optimum: `tables` (directed conditionals) fitted to the closed-form answers.

    Iterative proportional fitting changes a table only by functions of measured marginals, so the
    result keeps the maximum-entropy form. When every clique of the tree was measured whole, one sweep is exact.
    """
    targets, wanted = _targets(observations, total)
    sweep(
        observations,
        tables,
        targets,
        wanted,
        1 if _whole(observations.layout, wanted) else SWEEPS,
    )
    return tables


def targets_from(
    observations: Observations, propagation: Propagation, tables: Floats
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The observed cells of some tables as targets, and which marginals to fit: the largest directly measured."""
    cells = np.empty(observations.layout.observed_cells)
    propagation.observe(tables, cells)
    return cells, _largest(observations)


def _largest(observations: Observations) -> npt.NDArray[np.bool_]:
    """Which observed marginals were measured directly and lie in no larger one that was."""
    sets = {clique: set(clique) for clique in observations.direct}
    holding: dict[str, list[set[str]]] = {}
    for columns in sets.values():
        for name in columns:
            holding.setdefault(name, []).append(columns)

    def inside(clique: Clique) -> bool:
        near = holding[clique[0]] if clique else sets.values()
        return any(sets[clique] < other for other in near)

    return np.array([c in sets and not inside(c) for c in observations.cliques], np.bool_)


def joined(layout: TreeLayout, cells: Floats, out: Floats | None = None) -> Floats:
    """Calibrated clique marginals from tables that need not agree: each given its parent's separator."""
    tables = directed(layout, cells, out)
    if Propagation(layout).calibrate(tables, np.empty(layout.separator_cells)) == -np.inf:
        tables[:] = np.nan
    return tables


def uniform(layout: TreeLayout) -> Floats:
    """The uniform distribution as directed conditionals."""
    tables = np.empty(layout.cells)
    for a, n, above, _, width, *_ in layout.cliques.tolist():
        tables[a : a + n] = (width if above >= 0 else 1) / n
    return tables


def warm(layout: TreeLayout, field: MarkovField) -> Floats:
    """An earlier field as directed conditionals on this layout's tree, no cell ruled out."""
    marginals = [
        _positive(np.asarray(marginal.counts, np.float64), field.total)
        for marginal in field.marginals(layout.tree.cliques)
    ]
    return directed(layout, layout.flatten(marginals))


def _positive(counts: Floats, total: float) -> Floats:
    shares = counts / total if total > 0 else np.full(counts.shape, 1.0 / counts.size)
    return np.maximum(shares, 1e-12 / counts.size)


def _targets(observations: Observations, total: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The observed cells to fit, as shares of the total, and which marginals to fit: the largest measured ones."""
    layout, domain = observations.layout, observations.layout.tree.domain
    direct: dict[Clique, tuple[Floats, float]] = {}
    for clique, values, weights in observations.direct_measurements():
        direct[clique] = (values, 1.0 / float(weights.mean()))
    best = consistent(domain, direct, total)
    ones = _one_ways(domain, best, direct, total)
    targets = np.zeros(layout.observed_cells)
    wanted = _largest(observations)
    for j, clique in enumerate(observations.cliques):
        if not wanted[j]:
            continue
        floor = min(_FLOOR * direct[clique][1] ** 0.5, 0.5 * total / best[clique].size)
        targets[observations.place(clique)] = (
            np.maximum(_nonnegative(best[clique], clique, ones), floor) / total
        )
    return targets, wanted


def _one_ways(
    domain: Domain,
    best: Mapping[Clique, Floats],
    direct: Mapping[Clique, tuple[Floats, float]],
    total: float,
) -> dict[str, Floats]:
    """For every measured column its least-squares marginal, made non-negative."""
    ones: dict[str, Floats] = {}
    for clique in sorted(best, key=domain.size):
        for axis, name in enumerate(clique):
            if name not in ones:
                others = tuple(k for k in range(len(clique)) if k != axis)
                floor = _FLOOR * (direct[clique][1] * domain.size(clique) / domain[name]) ** 0.5
                ones[name] = on_simplex(best[clique].sum(axis=others), total, floor)
    return ones


def _nonnegative(table: Floats, clique: Clique, ones: Mapping[str, Floats]) -> Floats:
    """The nearest table without negative cells that sums to these one-way marginals, nearly.

    It has the form max(0, table - thresholds of every axis); the thresholds are found axis by axis.
    """
    cells = np.ascontiguousarray(table).reshape(-1).copy()
    if len(clique) == 1:
        return ones[clique[0]]
    for _ in range(_BALANCES):
        after = cells.size
        before = 1
        for name, size in zip(clique, table.shape, strict=True):
            after //= size
            propagation_kernels.balance(cells, before, size, after, ones[name])
            before *= size
    return cells


def _whole(layout: TreeLayout, wanted: npt.NDArray[np.bool_]) -> bool:
    """Whether no clique of the tree joins several measured ones."""
    homes = [home for (home, _, _), one in zip(layout.places, wanted, strict=True) if one]
    return len(set(homes)) == len(homes)
