"""The filled cells of a clique, however many cells it has: batches of coded columns in, places and counts out.

The work and the memory grow with the records and the cells that they fill, never with the cells that there are.
Counts add here as well, so a worker's filled cells are a batch like any other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import SizeError

Integers = npt.NDArray[np.int64]
MOST_PLACES = 2**63 - 1  # places are 64-bit
LEAST_MERGED = 1 << 20  # cells not yet added up before it is worth doing


class FilledCells:
    """The cells of one clique that hold a record, over the records added so far.

    Takes 16 bytes for every cell that is filled, and up to four times as much while they are added up.
    """

    def __init__(self, domain: Domain, clique: Clique) -> None:
        self.clique = domain.clique(clique)
        self._sizes = domain.shape(self.clique)
        if domain.size(self.clique) > MOST_PLACES:
            raise SizeError(
                f"clique {self.clique!r} has {domain.size(self.clique):,} cells; {MOST_PLACES:,} can be told apart.",
                hint="leave one of its columns out, or compress them into fewer codes.",
            )
        self._parts: list[tuple[Integers, Integers]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        self._whole = self._waiting = 0

    def add(self, columns: Mapping[str, npt.NDArray[np.integer]], rows: int) -> None:
        """Count one batch: an array of codes within the domain for every column of the clique."""
        place = np.zeros(rows, np.int64)
        for name, size in zip(self.clique, self._sizes, strict=True):
            place *= size
            place += columns[name].astype(np.int64, copy=False)
        self.merge(*np.unique(place, return_counts=True))

    def merge(self, places: npt.NDArray[np.int64], counts: npt.NDArray[np.integer]) -> None:
        """Add cells that were counted elsewhere."""
        self._parts.append((places, counts.astype(np.int64, copy=False)))
        self._waiting += len(places)
        if self._waiting > max(LEAST_MERGED, self._whole):  # each cell is then moved a few times in all
            self.cells()

    def cells(self) -> tuple[Integers, Integers]:
        """The places that hold a record, in C order and rising, and how many each holds, as int64."""
        if self._waiting:
            places, counts = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
            self._parts = [_summed(places, counts)]
            self._whole, self._waiting = len(self._parts[0][0]), 0
        return self._parts[0]


def _summed(places: Integers, counts: Integers) -> tuple[Integers, Integers]:
    order = np.argsort(places, kind="stable")
    places, counts = places[order], counts[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return places[first], np.add.reduceat(counts, first)
