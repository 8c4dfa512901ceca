"""A noisy table pulled towards an expected one, as far as an unbiased estimate of its risk says.

Each table is replaced by the `mu` that minimises

    |mu - noisy|^2 / (2 sigma^2)  +  strength * sum of mu log(mu / expected) - mu + expected,

the strength being the one whose risk, by Stein's unbiased estimate, is least: near zero where the signal is strong,
large where there is none. `mechanisms.shrinkage` reads a table by the posterior of its blocks, which is better
where rare combinations must not appear; in rounds, where what is expected is nearly right already, this one errs
less. Post-processing of released numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.mechanisms.shrinkage import block_sums
from understudy.mechanisms.tables import least_risk_kernel as kernel

Cells = npt.NDArray[np.float64]

STRENGTHS = np.geomspace(1e-4, 3.0, 16)
FEW_ALONE = 6  # codes of a column that tell too little of their own risk, and are taken as they are
_LEAST = 1e-3  # of a record: what a cell is thought to hold where nothing is expected


def shrunk(noisy: Cells, expected: Cells, sigma: float) -> Cells:
    """The noisy table pulled towards the expected one, in blocks first and in cells last.

    A block's sum has little noise beside its signal, so what is expected wrongly on a large scale is put right
    before single cells are looked at. At every level each axis is cut into twice as many runs of codes.
    """
    table = np.maximum(expected, _LEAST)
    groups = 1
    while groups < max(table.shape):
        groups *= 2
        starts = [_runs(table, axis, groups) for axis in range(table.ndim)]
        thought, seen, cells = (block_sums(t, starts) for t in (table, noisy, np.ones(table.shape)))
        ratio = _least_risk(seen, thought, sigma * np.sqrt(cells)) / thought
        for axis, start in enumerate(starts):
            lengths = np.diff(np.append(start, table.shape[axis]))
            ratio = np.repeat(ratio, lengths, axis=axis)
        table = table * ratio
    return table


def shrunk_column(noisy: npt.ArrayLike, sigma: float) -> Cells:
    """What a column's codes likely hold: its noisy counts, pulled towards all codes alike."""
    cells = np.asarray(noisy, dtype=np.float64)
    return shrunk(cells, np.full(cells.size, max(float(cells.sum()), 1.0) / cells.size), sigma)


def _runs(table: Cells, axis: int, groups: int) -> npt.NDArray[np.int64]:
    """Where each of so many runs of codes along an axis begins: runs of about equal mass, or single codes."""
    size = table.shape[axis]
    if groups >= size:
        return np.arange(size)
    mass = np.cumsum(table.sum(axis=tuple(other for other in range(table.ndim) if other != axis)))
    cuts = np.searchsorted(mass, mass[-1] * np.arange(1, groups) / groups) + 1
    return np.unique(np.clip(np.append(0, cuts), 0, size - 1))


def _least_risk(noisy: Cells, expected: Cells, sigma: Cells) -> Cells:
    """The table of least estimated risk along the path from the noisy one to the expected one."""
    cells = (
        np.ascontiguousarray(noisy, np.float64).reshape(-1),
        np.log(np.maximum(expected, _LEAST)).reshape(-1),
        np.ascontiguousarray(sigma, np.float64).reshape(-1),
    )
    best = float(STRENGTHS[np.argmin(kernel.risks(*cells, STRENGTHS, _LEAST))])
    return np.asarray(kernel.shrunk(*cells, best, _LEAST)).reshape(noisy.shape)
