"""Half the L1 distance between two tables' marginals, however many cells a marginal has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.domain import Clique
from understudy.evaluation.columns import Codebook, Columns, rows_of

Keys = npt.NDArray[np.int64]

DENSE_CELLS = 1 << 20  # up to here an array of cells beats a hash table
LARGEST_KEY = 1 << 62
WORKERS = 2


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Two tables over the same columns, renumbered by the codes that occur in the first.

    A value of the second table that the first never has can match nothing, so all of them share one
    number, and a record with such a value in a clique keeps its whole mass as distance.
    """

    books: dict[str, Codebook]
    first: dict[str, npt.NDArray[np.int32]]
    second: dict[str, npt.NDArray[np.int32]]

    @classmethod
    def of(cls, first: Columns, second: Columns, names: Iterable[str]) -> PairedTables:
        books = {name: Codebook.of(first[name]) for name in names}
        return cls(
            books,
            {name: book.encode(first[name]) for name, book in books.items()},
            {name: book.encode(second[name]) for name, book in books.items()},
        )

    def distances(self, cliques: Sequence[Clique]) -> npt.NDArray[np.float64]:
        """The total variation distance of each clique's marginal, in order; each in [0, 1]."""
        distinct = list(dict.fromkeys(tuple(sorted(clique)) for clique in cliques))
        with ThreadPoolExecutor(WORKERS) as pool:
            found = dict(zip(distinct, pool.map(self.distance, distinct), strict=True))
        return np.array([found[tuple(sorted(clique))] for clique in cliques])

    def distance(self, clique: Clique) -> float:
        """The total variation distance of one marginal."""
        first, second, cells = self._keys(clique)
        kernel = _dense if cells <= DENSE_CELLS else _hashed
        # The kernels return the L1 distance times both numbers of records: exact in integers.
        scaled = kernel(first, second, min(cells, DENSE_CELLS))
        return int(scaled) / (2 * len(first) * len(second))

    def _keys(self, clique: Clique) -> tuple[Keys, Keys, int]:
        # One number a record: mixed radix over the columns, -1 where a value can match nothing.
        first = np.zeros(rows_of(self.first), np.int64)
        second = np.zeros(rows_of(self.second), np.int64)
        cells = 1
        for name in clique:
            size = self.books[name].absent
            if cells * max(size, 1) > LARGEST_KEY:
                first, second, cells = _renumber(first, second)
            first = _extend(first, self.first[name], size)
            second = _extend(second, self.second[name], size)
            cells *= max(size, 1)
        return first, second, cells


def _renumber(first: Keys, second: Keys) -> tuple[Keys, Keys, int]:
    book = Codebook.of(first)
    renumbered = book.encode(second).astype(np.int64)
    renumbered[renumbered == book.absent] = -1
    mine = book.encode(first).astype(np.int64)
    mine[first < 0] = -1
    return mine, renumbered, max(book.absent, 1)


@njit(cache=True, nogil=True)
def _extend(keys: Any, codes: Any, size: int) -> Any:
    out = np.empty_like(keys)
    for i in range(len(keys)):
        out[i] = -1 if keys[i] < 0 or codes[i] >= size else keys[i] * size + codes[i]
    return out


@njit(cache=True, nogil=True)
def _dense(first: Any, second: Any, cells: int) -> Any:
    mine, theirs = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    strays, foreign = 0, 0
    for key in first:
        if key >= 0:
            mine[key] += 1
        else:
            strays += 1
    for key in second:
        if key >= 0:
            theirs[key] += 1
        else:
            foreign += 1
    total = strays * len(second) + foreign * len(first)
    for i in range(cells):
        total += abs(mine[i] * len(second) - theirs[i] * len(first))
    return total


@njit(cache=True, nogil=True)
def _find(table: Any, key: int) -> Any:
    mask = len(table) - 1
    mixed = key * np.int64(-7046029254386353131)
    slot = (mixed ^ (mixed >> 29)) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _hashed(first: Any, second: Any, cells: int) -> Any:
    # Open addressing that doubles when half full: memory follows the cells in use, not the domain.
    table = np.full(4096, -1, np.int64)
    counts = np.zeros((4096, 2), np.int64)
    used = 0
    unmatched = np.zeros(2, np.int64)
    for side in range(2):
        keys = first if side == 0 else second
        for key in keys:
            if key < 0:
                unmatched[side] += 1
                continue
            slot = _find(table, key)
            if table[slot] == -1:
                if side == 1:
                    unmatched[side] += 1
                    continue
                table[slot] = key
                used += 1
                if 2 * used > len(table):
                    old, weights = table, counts
                    table = np.full(2 * len(old), -1, np.int64)
                    counts = np.zeros((2 * len(old), 2), np.int64)
                    for i in range(len(old)):
                        if old[i] != -1:
                            moved = _find(table, old[i])
                            table[moved] = old[i]
                            counts[moved, 0] = weights[i, 0]
                            counts[moved, 1] = weights[i, 1]
                    slot = _find(table, key)
            counts[slot, side] += 1
    total = unmatched[0] * len(second) + unmatched[1] * len(first)
    for i in range(len(table)):
        if table[i] != -1:
            total += abs(counts[i, 0] * len(second) - counts[i, 1] * len(first))
    return total
