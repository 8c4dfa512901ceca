"""The error to expect of marginals that are measured, before anything is known of the records but about how many.

Values are taken to be as frequent as they mostly are: the r-th of them in proportion to 1/r. A noisy table is pulled
towards what else is known of it, so a cell errs by its noise or by a part of what it holds, whichever is less
(`mechanisms.tables.noise_price`). What no marginal measures comes on top, and nobody knows it beforehand.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.mechanisms.tables.noise_price import OF_CELL, OF_NOISE

Floats = npt.NDArray[np.float64]
OF_PAIRS = (
    0.8  # of what measured pairs and their columns err: frequent values are more frequent in most tables
)
OF_HIDDEN = 3.0  # how much more columns err where noise hides much of them
_EULER = 0.5772156649015329


def noise_left(cells: npt.ArrayLike, scale: float, rows: int) -> Floats:
    """The total variation that noise of this scale leaves in tables of so many cells and `rows` records."""
    size = np.maximum(np.asarray(cells, np.float64), 1.0)
    whole = _harmonic(size)
    # The rank from which on a cell holds so little that noise hides it.
    seen = np.minimum(size, np.floor(OF_CELL * rows / (whole * OF_NOISE * max(scale, 1e-12))))
    noise = OF_NOISE * scale * seen + OF_CELL * rows * (whole - _harmonic(seen)) / whole
    return np.minimum(1.0, noise / (2 * max(rows, 1)))


def mean_pair_error(domain: Domain, scale: float, rows: int) -> float | None:
    """The mean of it over all pairs of columns; None where there is none."""
    if len(domain) < 2:
        return None
    # Pairs of the same sizes err alike, and of many columns many are of one size.
    sizes, columns = np.unique(np.fromiter(domain.values(), np.float64, len(domain)), return_counts=True)
    pairs = np.triu(np.outer(columns, columns), 1) + np.diag(columns * (columns - 1) // 2)
    first, second = np.nonzero(pairs)
    found = noise_left(sizes[first] * sizes[second], scale, rows)
    return float(np.average(found, weights=pairs[first, second]))


def likely_pair_error(
    domain: Domain, whole: Domain, scale: float, of_columns: float, rows: int
) -> float | None:
    """The mean error over all pairs, where a mechanism decides itself what it measures; None where there is none.

    `domain` has the codes that are left once rare ones are merged, and `whole` all of them; `scale` is the noise of a
    pair's cells, and `of_columns` that of a column's. What errs in two columns errs in their pair. The numbers were
    settled on thirteen data sets at several epsilons; `python -m benchmarks.forecasts` prints how far off they are.
    """
    together = mean_pair_error(domain, scale, rows)
    if together is None:
        return None
    alone = float(noise_left(list(whole.values()), of_columns, rows).mean())
    alone = min(1.0, alone * (1 + OF_HIDDEN * alone))
    return min(1.0, OF_PAIRS * math.hypot(together, 1 - (1 - alone) ** 2))


def _harmonic(count: Floats) -> Floats:
    """1 + 1/2 + ... + 1/count; 0 for none."""
    safe = np.maximum(count, 1.0)
    found = np.log(safe) + _EULER + 1 / (2 * safe) - 1 / (12 * safe**2)
    return np.where(count < 1, 0.0, found)
