"""How badly an estimate fits a marginal: their L1 distance, in exact integers.

Estimates are public (they were computed from what was released) and are rounded first, which is free. Then
every score is an exact int64 that one record moves by at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError

Integers = npt.NDArray[np.int64]
Estimates = Callable[[Clique], npt.NDArray[Any]]
_HELD = 2**25  # cells of rounded estimates kept between their check and their use: a quarter of a gigabyte


class Rounded:
    """Estimates of some cliques, checked and rounded; those that fit in memory are computed once."""

    def __init__(self, domain: Domain, wanted: Sequence[Clique], estimates: Estimates) -> None:
        self._domain, self._estimates = domain, estimates
        self._held: dict[Clique, Integers] = {}
        cells = 0
        for clique in wanted:
            table = self._round(clique)
            cells += table.size
            if cells <= _HELD:
                self._held[clique] = table

    def take(self, clique: Clique) -> Integers:
        """The rounded estimate of a clique, flat; to be taken once."""
        held = self._held.pop(clique, None)
        return self._round(clique) if held is None else held

    def _round(self, clique: Clique) -> Integers:
        table = np.asarray(self._estimates(clique), dtype=np.float64).reshape(-1)
        size = self._domain.size(clique)
        if table.size != size:
            raise ParameterError(f"the estimate of {clique!r} has {table.size} cells, not {size}.")
        if not np.isfinite(table).all() or np.abs(table).sum() > 2.0**60:
            raise ParameterError(
                f"the estimate of {clique!r} holds a cell that is not finite, or is past 2^60."
            )
        return np.rint(table).astype(np.int64)


def misfit(counts: Integers, expected: Integers) -> int:
    """The L1 distance between exact counts and a rounded estimate."""
    return int(np.abs(counts - expected).sum())
