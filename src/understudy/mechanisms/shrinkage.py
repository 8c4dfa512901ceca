"""Noisy marginals pulled towards what is already known, as far as their own noise suggests.

A marginal of many cells and few records is mostly noise: fitted as it is, it spoils what simpler ones got right.
Each noisy table is therefore replaced, before the fit, by the table `mu` that minimises

    |mu - noisy|^2 / (2 sigma^2)  +  strength * sum of mu log(mu / prior) - mu + prior

where the prior is what the field fitted so far says of the same columns. The strength of each table is the one
whose risk, by Stein's unbiased estimate, is least: near zero where the signal is strong, large where there is
none. All of it is post-processing of released numbers and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.mechanisms import shrinkage_kernel as kernel
from understudy.mechanisms.one_way import Cells
from understudy.model import Field, estimate
from understudy.model.fitting.record_total import estimate_total

STRENGTHS = np.geomspace(1e-4, 3.0, 16)
_LEAST = 1e-3  # of a record: what a cell is thought to hold where the prior has none


def fit(domain: Domain, log: Sequence[Measurement], *, shrink: bool = True) -> Field:
    """The field of the measurements; with `shrink`, each table is first pulled towards the field of simpler ones.

    Pairs are pulled towards independence, triples towards what the pairs say, and so on. Measurements
    through a query and those of one column are fitted as they are.
    """
    if not shrink:
        return estimate(domain, log)
    total = estimate_total(domain, log)
    known = [m for m in log if len(m.clique) < 2 or m.query is not None or m.stddev.ndim]
    rest = [m for m in log if m not in known]
    field = estimate(domain, known, total=total)
    for order in sorted({len(m.clique) for m in rest}):
        known += [_shrunk(m, field) for m in rest if len(m.clique) == order]
        field = estimate(domain, known, total=total)
    return field


def _shrunk(measured: Measurement, prior: Field) -> Measurement:
    expected = np.asarray(prior.marginal(measured.clique).counts, dtype=np.float64)
    noisy = measured.values.reshape(expected.shape)
    best = coarse_to_fine(noisy, expected, float(measured.stddev))
    return Measurement(measured.clique, best, measured.stddev)


def coarse_to_fine(noisy: Cells, prior: Cells, sigma: float) -> Cells:
    """The noisy table pulled towards the prior, in blocks first and in cells last.

    A block's sum has little noise beside its signal, so what the prior gets wrong on a large scale is put right
    before single cells are looked at. At every level each axis is cut into twice as many runs of codes.
    """
    table = np.maximum(prior, _LEAST)
    groups = 1
    while groups < max(table.shape):
        groups *= 2
        starts = [_runs(table, axis, groups) for axis in range(table.ndim)]
        expected, seen, cells = (_blocks(t, starts) for t in (table, noisy, np.ones(table.shape)))
        found = least_risk(seen, expected, sigma * np.sqrt(cells))
        ratio = found / expected
        for axis, start in enumerate(starts):
            lengths = np.diff(np.append(start, table.shape[axis]))
            ratio = np.repeat(ratio, lengths, axis=axis)
        table = table * ratio
    return table


def _runs(table: Cells, axis: int, groups: int) -> npt.NDArray[np.int64]:
    """Where each of so many runs of codes along an axis begins: runs of about equal mass, or single codes."""
    size = table.shape[axis]
    if groups >= size:
        return np.arange(size)
    mass = np.cumsum(table.sum(axis=tuple(other for other in range(table.ndim) if other != axis)))
    cuts = np.searchsorted(mass, mass[-1] * np.arange(1, groups) / groups) + 1
    return np.unique(np.clip(np.append(0, cuts), 0, size - 1))


def _blocks(table: Cells, starts: Sequence[npt.NDArray[np.int64]]) -> Cells:
    """The sums of the blocks that the runs of all axes make."""
    for axis, start in enumerate(starts):
        table = np.add.reduceat(table, start, axis=axis)
    return table


def least_risk(noisy: Cells, prior: Cells, sigma: Cells) -> Cells:
    """The table of least estimated risk along the path from the noisy one to the prior."""
    cells = (
        np.ascontiguousarray(noisy, np.float64).reshape(-1),
        np.log(np.maximum(prior, _LEAST)).reshape(-1),
        np.ascontiguousarray(sigma, np.float64).reshape(-1),
    )
    best = float(STRENGTHS[np.argmin(kernel.risks(*cells, STRENGTHS, _LEAST))])
    return np.asarray(kernel.shrunk(*cells, best, _LEAST)).reshape(noisy.shape)
