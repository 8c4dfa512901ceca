"""Records exchanged for spare ones while that brings the counts of pairs of columns nearer to what is expected.

Whole records drawn from a field scatter about it: the fewer there are, the more. Of twice as many, those that are
kept can be chosen so that every pair of columns, and not only those of a clique, counts about what it should.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.model.sampling.rounding import GOLDEN, mixed

Codes = npt.NDArray[np.int32]  # one row a record: each record's codes lie together
Places = npt.NDArray[np.int64]
Expected = npt.NDArray[np.float64]

LEAST = 1.0  # of a record: cells that expect less count alike
PASSES, MOST_PASSES = 2, 4  # spare records that each place tries; more bring hardly any nearer
EASY = 5_000_000  # cells that are looked up in no time: where there are fewer, more spare records are tried


@dataclass(frozen=True, eq=False)
class PairTables:
    """What pairs of columns are expected to count, all tables in one line.

    columns   two columns of each pair, by their places in a record
    starts    where each pair's table begins
    widths    how many codes its second column has
    expected  counts, one a cell
    """

    columns: Places
    starts: Places
    widths: Places
    expected: Expected


def passes(rows: int, pairs: int) -> int:
    """How many spare records each of so many places tries, by how many pairs."""
    return max(PASSES, min(MOST_PASSES, EASY // max(1, rows * pairs)))


def kept_records(codes: Codes, rows: int, pairs: PairTables, seed: int) -> Places:
    """Which of the records are kept, `rows` of them: at first the first ones, each of which may be exchanged.

    A record makes way for a spare one where that lowers the sum over cells of (r^2 - c) / sqrt(e), with c the count,
    e what is expected and r the difference. Without the `- c`, which is what a record costs by being there at all,
    rare combinations would be crowded out by common ones; with it, they are as frequent as they should be.
    """
    weight = 1.0 / np.sqrt(np.maximum(pairs.expected, LEAST))
    costs = np.empty((weight.size, 2), np.float32)
    counts = counted(codes[:rows], pairs.columns, pairs.starts, pairs.widths, weight.size)
    costs[:, 0] = 2 * weight * (counts - pairs.expected)
    costs[:, 1] = 2 * weight
    places = np.arange(len(codes))
    tried = passes(rows, len(pairs.starts))
    _exchange(codes, places, rows, tried, pairs.columns, pairs.starts, pairs.widths, costs, np.uint64(seed))
    return places[:rows]


@njit(cache=True, nogil=True)
def counted(codes: Any, columns: Any, starts: Any, widths: Any, cells: int) -> Any:
    counts = np.zeros(cells, np.int64)
    for i in range(codes.shape[0]):
        for q in range(starts.size):
            counts[starts[q] + codes[i, columns[q, 0]] * widths[q] + codes[i, columns[q, 1]]] += 1
    return counts


@njit(cache=True, nogil=True)
def _exchange(
    codes: Any,
    places: Any,
    rows: int,
    passes: int,
    columns: Any,
    starts: Any,
    widths: Any,
    costs: Any,
    seed: Any,
) -> None:
    """Try for every place, as often as there are passes, a spare record drawn at random.

    `costs` has for each cell what one more record in it costs, and by how much that rises with each.
    """
    spare = np.uint64(places.size - rows)
    state = seed
    for t in range(passes * rows):
        i = t % rows
        state += GOLDEN
        j = rows + np.int64(((mixed(state) >> np.uint64(32)) * spare) >> np.uint64(32))
        old = codes[places[i]]
        new = codes[places[j]]
        gain = np.float32(0.0)
        for q in range(starts.size):
            a = columns[q, 0]
            b = columns[q, 1]
            x = starts[q] + old[a] * widths[q] + old[b]
            y = starts[q] + new[a] * widths[q] + new[b]
            if x != y:
                gain += costs[x, 0] - costs[x, 1] - costs[y, 0]
        if gain > 0:
            for q in range(starts.size):
                a = columns[q, 0]
                b = columns[q, 1]
                x = starts[q] + old[a] * widths[q] + old[b]
                y = starts[q] + new[a] * widths[q] + new[b]
                costs[x, 0] -= costs[x, 1]
                costs[y, 0] += costs[y, 1]
            kept = places[i]
            places[i] = places[j]
            places[j] = kept
