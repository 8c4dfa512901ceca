"""Records whose codes are moved until pairs of columns that the tree has no room for count what they should.

A junction tree of all pairs would have every combination of codes as a cell; one of the pairs that fit leaves the
others to what it says of them. Pairs that are known better than that stand beside it (`CalibratedTree.beside`).
Records are drawn from the tree first. Then a code of a record is drawn anew, as the tree has it given all other codes
of that record, and takes the old one's place where that brings pairs nearer to what they should count: pairs beside
the tree and pairs within it alike, so that neither is bought with the other. What is rare or impossible for the tree
is not proposed, and combinations of more columns stay as near to the tree's as the pairs allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.domain.codes import Codes
from understudy.model.queries.elimination import Elimination
from understudy.model.sampling.record_exchange import LEAST, PairTables, counted
from understudy.model.sampling.rounding import GOLDEN, mixed
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Factor
from understudy.processors import on_all_cores

BLOCK = 250_000  # records that follow the pairs together; more are as many blocks, each by itself
MOST_SWEEPS, FEW = 4, 0.01  # over all codes; less than this part of them was moved: it is done
CELLS_A_RECORD = (
    8  # of a pair within the tree at most: one with more cells for its records scatters whatever is done
)
MOST_LOOKED_UP = 20_000  # cells to draw one code anew: columns for which it takes more are left as they are

Places = npt.NDArray[np.int64]


def moved(
    field: CalibratedTree, columns: Mapping[str, Codes], rows: int, random: np.random.Generator
) -> dict[str, Codes]:
    """The records of a field, with codes moved so that they follow the pairs beside its tree."""
    moves = _KNOWN.get(field)
    if moves is None:
        moves = _KNOWN[field] = _Moves(field)
    blocks = max(1, math.ceil(rows / BLOCK))
    edges = [rows * i // blocks for i in range(blocks + 1)]
    seeds = [int(random.integers(2**63)) for _ in range(blocks)]
    parts = on_all_cores(
        lambda i: moves.moved({n: c[edges[i] : edges[i + 1]] for n, c in columns.items()}, seeds[i]),
        range(blocks),
    )
    return {name: np.concatenate([part[name] for part in parts]) for name in columns}


@dataclass(frozen=True, eq=False)
class _Conditionals:
    """What each clique says of its own columns given those it shares with its parent, all in one line.

    first, count   of each column: its cliques in the lists that follow
    starts         where each of these cliques' tables begins
    strides        how far apart two codes of a column lie in it; 0 for a column that it does not have
    cells          the tables
    """

    first: Places
    count: Places
    starts: Places
    strides: Places
    cells: npt.NDArray[np.float64]


class _Moves:
    """All that moving the codes of a field's records takes, worked out once."""

    def __init__(self, field: CalibratedTree) -> None:
        self._names = tuple(field.domain)
        self._sizes = np.array(field.domain.shape(self._names), np.int64)
        self._conditionals = _conditionals(field)
        place = {name: i for i, name in enumerate(self._names)}
        cost = self._sizes * np.maximum(self._conditionals.count, 1)
        self._columns = np.array(
            sorted({place[n] for pair in field.beside for n in pair if cost[place[n]] <= MOST_LOOKED_UP}),
            np.int64,
        )
        moving = set(self._columns.tolist())
        beside = {(place[a], place[b]): table for (a, b), table in field.beside.items()}
        self._within = [
            pair
            for pair in itertools.combinations(range(len(self._names)), 2)
            if pair not in beside and not moving.isdisjoint(pair)
        ]
        self._beside = beside
        # Not the field itself: it would be kept by what is kept for it.
        self._tree, self._tables = field.tree, field.tables
        self._known = dict[tuple[int, int], npt.NDArray[np.float64]]()

    def moved(self, columns: Mapping[str, Codes], seed: int) -> dict[str, Codes]:
        """One block of records, with codes moved."""
        codes = np.stack([np.asarray(columns[name], np.int32) for name in self._names], axis=1)
        if len(codes) and len(self._columns):
            pairs = self._pairs(len(codes))
            weight = 1.0 / np.sqrt(np.maximum(pairs.expected, LEAST))
            costs = np.empty((weight.size, 2), np.float32)
            counts = counted(codes, pairs.columns, pairs.starts, pairs.widths, weight.size)
            costs[:, 0] = 2 * weight * (counts - pairs.expected)
            costs[:, 1] = 2 * weight
            which = np.full((len(self._names), len(self._names)), -1, np.int64)
            which[pairs.columns[:, 0], pairs.columns[:, 1]] = np.arange(len(pairs.starts))
            for sweep in range(MOST_SWEEPS):
                taken = _sweep(
                    codes,
                    self._columns,
                    self._sizes,
                    self._conditionals.first,
                    self._conditionals.count,
                    self._conditionals.starts,
                    self._conditionals.strides,
                    self._conditionals.cells,
                    which,
                    pairs.starts,
                    pairs.widths,
                    costs,
                    np.uint64((seed + sweep * codes.size * int(GOLDEN)) % 2**64),
                )
                if taken < FEW * len(codes) * len(self._columns):
                    break
        return {
            name: np.ascontiguousarray(codes[:, i]).astype(columns[name].dtype)
            for i, name in enumerate(self._names)
        }

    def _pairs(self, rows: int) -> PairTables:
        """What so many records should count in pairs: in those beside the tree, and in those within it."""
        size = self._sizes
        within = [(a, b) for a, b in self._within if size[a] * size[b] <= CELLS_A_RECORD * rows]
        self._learn([pair for pair in within if pair not in self._known])
        tables = [*self._beside.items(), *((pair, self._known[pair]) for pair in within)]
        lengths = [table.size for _, table in tables]
        return PairTables(
            np.array([pair for pair, _ in tables], np.int64).reshape(-1, 2),
            np.cumsum([0, *lengths])[:-1].astype(np.int64),
            np.array([size[pair[1]] for pair, _ in tables], np.int64),
            np.concatenate([np.asarray(table, np.float64).reshape(-1) for _, table in tables]) * rows,
        )

    def _learn(self, pairs: list[tuple[int, int]]) -> None:
        if not pairs:
            return
        asked = [(self._names[a], self._names[b]) for a, b in pairs]
        questions = Elimination(self._tree, self._tables)
        questions.expect(asked)
        for pair, names in zip(pairs, asked, strict=True):
            self._known[pair] = np.asarray(questions.joint(names)[0].values, np.float64)
            questions.forget()


_KNOWN: WeakKeyDictionary[CalibratedTree, _Moves] = WeakKeyDictionary()


def _conditionals(field: CalibratedTree) -> _Conditionals:
    names = tuple(field.domain)
    tables, strides, starts, whole = [], [], [], 0
    for i, (clique, table) in enumerate(zip(field.cliques, field.tables, strict=True)):
        shared = field.tree.separator(i)
        sums = Factor(clique, table).project(shared).values
        sums = sums.reshape([field.domain[n] if n in shared else 1 for n in clique])
        given = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0)
        steps = dict(zip(clique, (step // given.itemsize for step in given.strides), strict=True))
        tables.append(given.reshape(-1))
        strides.append([steps.get(name, 0) for name in names])
        starts.append(whole)
        whole += given.size
    holding = [[i for i, clique in enumerate(field.cliques) if name in clique] for name in names]
    count = np.array([len(cliques) for cliques in holding], np.int64)
    listed = list(itertools.chain.from_iterable(holding))
    return _Conditionals(
        np.cumsum([0, *count])[:-1].astype(np.int64),
        count,
        np.array(starts, np.int64)[listed],
        np.array(strides, np.int64)[listed].reshape(-1, len(names)),
        np.concatenate(tables),
    )


@njit(cache=True, nogil=True)
def _likely(
    record: Any, c: int, first: int, count: int, starts: Any, strides: Any, cells: Any, weights: Any
) -> Any:
    """How likely each code of a column is given all others of its record: what its cliques say, multiplied."""
    step = 0
    for k in range(first, first + count):
        place = starts[k]
        for b in range(record.size):
            if b != c:
                place += strides[k, b] * record[b]
        step = strides[k, c]
        if k == first:
            for v in range(weights.size):
                weights[v] = cells[place + v * step]
        else:
            for v in range(weights.size):
                weights[v] *= cells[place + v * step]
    whole = 0.0
    for v in range(weights.size):
        whole += weights[v]
    return whole


@njit(cache=True, nogil=True)
def _cell(c: int, code: int, b: int, other: int, which: Any, starts: Any, widths: Any) -> Any:
    """Where a pair of columns counts a record with these codes; -1 where the pair is not looked at."""
    if c < b:
        q = which[c, b]
        return starts[q] + code * widths[q] + other if q >= 0 else np.int64(-1)
    q = which[b, c]
    return starts[q] + other * widths[q] + code if q >= 0 else np.int64(-1)


@njit(cache=True, nogil=True)
def _sweep(
    codes: Any,
    columns: Any,
    sizes: Any,
    first: Any,
    count: Any,
    starts: Any,
    strides: Any,
    cells: Any,
    which: Any,
    pair_starts: Any,
    widths: Any,
    costs: Any,
    seed: Any,
) -> int:
    """Draw every code of these columns anew, once; how many of them were moved.

    `which` says of two columns, the first before the second, where their pair stands, or -1; `costs` has for each
    of its cells what one more record in it costs, and by how much that rises with each.
    """
    state = seed
    taken = 0
    for c in columns:
        weights = np.empty(sizes[c], np.float64)
        for i in range(codes.shape[0]):
            record = codes[i]
            whole = _likely(record, c, first[c], count[c], starts, strides, cells, weights)
            if not whole > 0:
                continue
            state += GOLDEN
            left = (mixed(state) >> np.uint64(11)) * (whole * 2.0**-53) - weights[0]
            old = record[c]
            new = 0
            while left >= 0 and new < weights.size - 1:
                new += 1
                left -= weights[new]
            if new == old or not weights[new] > 0:
                continue
            gain = np.float32(0.0)
            for b in range(record.size):
                x = _cell(c, old, b, record[b], which, pair_starts, widths) if b != c else np.int64(-1)
                if x >= 0:
                    y = _cell(c, new, b, record[b], which, pair_starts, widths)
                    gain += costs[x, 0] - costs[x, 1] - costs[y, 0]
            if gain > 0:
                taken += 1
                for b in range(record.size):
                    x = _cell(c, old, b, record[b], which, pair_starts, widths) if b != c else np.int64(-1)
                    if x >= 0:
                        y = _cell(c, new, b, record[b], which, pair_starts, widths)
                        costs[x, 0] -= costs[x, 1]
                        costs[y, 0] += costs[y, 1]
                record[c] = new
    return taken
