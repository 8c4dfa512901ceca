"""Half the L1 distance between two tables' marginals, however many cells a marginal has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.data.counting.histogram import Histogram
from understudy.domain import Clique, Domain
from understudy.domain.codes import code_type
from understudy.evaluation.columns import Codebook, Codes, Columns, pieces, rows_of
from understudy.marginals.clique_runs import runs_within

Keys = npt.NDArray[np.int64]

DENSE_CELLS = 1 << 20  # up to here an array of cells beats a hash table
CELLS_AT_ONCE = 1 << 23  # of marginals that are counted together, in each table
LARGEST_KEY = 1 << 62
WORKERS = 2


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Two tables over the same columns, renumbered by the codes that occur in the first.

    A value of the second table that the first never has can match nothing, so all of them share one
    number, and a record with such a value in a clique keeps its whole mass as distance.
    """

    books: dict[str, Codebook]
    first: dict[str, Codes]
    second: dict[str, Codes]

    @classmethod
    def of(cls, first: Columns, second: Columns, names: Iterable[str]) -> PairedTables:
        books = {name: Codebook.of(first[name]) for name in names}
        return cls(
            books,
            {name: _narrow(book, first[name]) for name, book in books.items()},
            {name: _narrow(book, second[name]) for name, book in books.items()},
        )

    def distances(self, cliques: Sequence[Clique]) -> npt.NDArray[np.float64]:
        """The total variation distance of each clique's marginal, in order; each in [0, 1]."""
        distinct = list(dict.fromkeys(tuple(sorted(clique)) for clique in cliques))
        domain = Domain({name: book.absent + 1 for name, book in self.books.items()})
        dense = [clique for clique in distinct if domain.size(clique) <= DENSE_CELLS]
        found = {clique: self._apart(*both) for clique, *both in self._counted(domain, dense)}
        hashed = [clique for clique in distinct if clique not in found]
        with ThreadPoolExecutor(WORKERS) as pool:
            found |= zip(hashed, pool.map(self._distance, hashed), strict=True)
        return np.array([found[tuple(sorted(clique))] for clique in cliques])

    def _counted(self, domain: Domain, cliques: Sequence[Clique]) -> Iterator[tuple[Clique, Keys, Keys]]:
        """Each clique with its counts in both tables, so many at a time as fit in memory, in one pass over each."""
        for run in runs_within(domain, cliques, CELLS_AT_ONCE):
            counted = []
            for table in (self.first, self.second):
                histogram = Histogram(domain, run)
                histogram.add(table, rows_of(table), checked=True)
                counted.append(histogram.counts())
            yield from zip(run, *counted, strict=True)

    def _apart(self, mine: Keys, theirs: Keys) -> float:
        """The distance of counted marginals: exact in integers, times both numbers of records."""
        known = tuple(slice(0, size - 1) for size in mine.shape)  # the last code of a column matches nothing
        rows, others = rows_of(self.first), rows_of(self.second)
        strays, foreign = rows - int(mine[known].sum()), others - int(theirs[known].sum())
        total = int(np.abs(mine[known] * others - theirs[known] * rows).sum())
        return (total + strays * others + foreign * rows) / (2 * rows * others)

    def _distance(self, clique: Clique) -> float:
        """The total variation distance of one marginal of many cells."""
        first, second, _ = self._keys(clique)
        # The kernel returns the L1 distance times both numbers of records: exact in integers.
        return int(_hashed(first, second)) / (2 * len(first) * len(second))

    def _keys(self, clique: Clique) -> tuple[Keys, Keys, int]:
        # One number a record: mixed radix over the columns, -1 where a value can match nothing.
        first = np.zeros(rows_of(self.first), np.int64)
        second = np.zeros(rows_of(self.second), np.int64)
        cells = 1
        for name in clique:
            size = self.books[name].absent
            if cells * max(size, 1) > LARGEST_KEY:
                first, second, cells = _renumber(first, second)
            first = _extend(first, self.first[name].astype(np.int32), size)
            second = _extend(second, self.second[name].astype(np.int32), size)
            cells *= max(size, 1)
        return first, second, cells


def _narrow(book: Codebook, column: Codes) -> Codes:
    """The column renumbered, in as few bytes as its codes need; the column itself where nothing has to change."""
    kind = code_type(book.absent + 1)
    fits = column.dtype.kind == "u" and column.dtype.itemsize <= kind.itemsize
    if fits and book.without_gaps and (not len(column) or int(column.max()) < book.absent):
        return column
    found = np.empty(len(column), kind)
    for piece in pieces(len(column)):
        found[piece] = book.encode(column[piece])
    return found


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
def _find(table: Any, key: int) -> Any:
    mask = len(table) - 1
    mixed = key * np.int64(-7046029254386353131)
    slot = (mixed ^ (mixed >> 29)) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _hashed(first: Any, second: Any) -> Any:
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
