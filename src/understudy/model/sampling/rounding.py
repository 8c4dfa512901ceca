"""Whole numbers from fractional counts, without bias: the generic loops behind a synthetic column.

All take `weights` (one row a group, any scale, structural zeros exact) and `sizes` (records of each group),
and give a table of whole counts whose rows sum to the sizes. A cell's expectation is the exact fraction
`size * weight / row sum`, and its count is that rounded down or up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from understudy.compiled import njit

BITS = 12  # of the fixed point: finer ones are rounded at random first, still without bias
_UNIT = 1 << BITS
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53


@njit(cache=True, nogil=True, inline="always")
def mixed(state: Any) -> Any:
    """Sixty-four random bits from a counter that the caller advances by the golden ratio (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def _fixed_point(weights: Any, size: int, uniform: float, out: Any) -> None:
    """One group's expectations in units of 2^-BITS: floor(n F_k + U) - floor(n F_(k-1) + U), sum exact."""
    whole = 0.0
    last = 0
    for k in range(weights.size):
        whole += weights[k]
        if weights[k] > 0:
            last = k
    top = size * _UNIT
    scale = top / whole if whole > 0 else 0.0
    reached = 0.0
    before = 0
    for k in range(weights.size):
        reached += weights[k]
        now = math.floor(reached * scale + uniform)
        now = top if k >= last or now > top else now
        out[k] = now - before
        before = now


@njit(cache=True, nogil=True)
def _pair(rest: Any, columns: Any, unit: int, mates: Any, open_column: Any) -> None:
    """Pair the numbers whose bit `unit` is set: first with second, third with fourth, in rows and columns.

    `mates[0]` is a number's mate along its row, `mates[1]` along its column, or -1.

    A row's sum is whole, so its odd numbers are even in number and pairs never cross rows.
    """
    open_row = -1
    for k in range(open_column.size):
        open_column[k] = -1
    for i in range(rest.size):
        if rest[i] & unit == 0:
            continue
        if open_row < 0:
            open_row = i
        else:
            mates[0, i] = open_row
            mates[0, open_row] = i
            open_row = -1
        other = open_column[columns[i]]
        mates[1, i] = other
        if other < 0:
            open_column[columns[i]] = i
        else:
            mates[1, other] = i
            open_column[columns[i]] = -1


@njit(cache=True, nogil=True)
def _round_along(rest: Any, start: int, turn: int, unit: int, mates: Any) -> None:
    """Round up and down by turns along the path that leaves `start` by its row; rounding clears the bit."""
    j = start
    way = 0
    while j >= 0 and rest[j] & unit:
        rest[j] += turn
        turn = -turn
        j = mates[way, j]
        way = 1 - way


@njit(cache=True, nogil=True)
def matrix_rounding(weights: Any, sizes: Any, seed: Any) -> Any:
    """Counts that also keep every column's sum, and every sum of its first groups, within one (plus 2^-8).

    Doerr, Friedrich, Klein and Osbild, "Unbiased Matrix Rounding" (2006): the last bit of all numbers is
    rounded at once. Odd numbers are paired along rows and along columns; the pairs form paths and even
    cycles; along each, numbers go up and down by turns, and one fair coin says which way. Then the next bit.
    """
    groups, width = weights.shape
    counts = np.empty((groups, width), np.int64)
    state = seed
    active = 0
    for g in range(groups):
        state += GOLDEN
        _fixed_point(weights[g], sizes[g], (mixed(state) >> np.uint64(11)) * _TO_UNIT, counts[g])
        for k in range(width):
            if counts[g, k] & (_UNIT - 1):
                active += 1
    cells = np.empty(active, np.int64)
    columns = np.empty(active, np.int32)
    rest = np.empty(active, np.int32)
    i = 0
    for g in range(groups):
        for k in range(width):
            value = counts[g, k]
            if value & (_UNIT - 1):
                cells[i], columns[i], rest[i] = g * width + k, k, value & (_UNIT - 1)
                i += 1
            counts[g, k] = value >> BITS
    mates = np.empty((2, active), np.int32)
    open_column = np.empty(width, np.int32)
    for bit in range(BITS):
        unit = 1 << bit
        _pair(rest, columns, unit, mates, open_column)
        for i in range(active):
            if rest[i] & unit:
                state += GOLDEN
                turn = unit if mixed(state) >> np.uint64(63) else -unit
                _round_along(rest, i, turn, unit, mates)
                _round_along(rest, mates[1, i], -turn, unit, mates)
    flat = counts.ravel()
    for i in range(active):
        flat[cells[i]] += rest[i] >> BITS
    return counts


@njit(cache=True, nogil=True)
def remainder_rounding(weights: Any, sizes: Any, seed: Any) -> Any:
    """Counts by the paper's "Synthetic column": floors, then the remainders drawn without replacement.

    Drawing one by one in proportion to the remainders, as the words suggest, takes large remainders too
    seldom. The draw here (Deville and Tille's pivotal method) gives each its exact chance: remainders
    meet in turn, one is settled, the other goes on with what is left.
    """
    groups, width = weights.shape
    counts = np.zeros((groups, width), np.int64)
    rest = np.empty(width, np.float64)
    state = seed
    for g in range(groups):
        whole = 0.0
        for k in range(width):
            whole += weights[g, k]
        short = sizes[g]
        for k in range(width):
            share = sizes[g] * (weights[g, k] / whole) if whole > 0 else 0.0
            counts[g, k] = int(np.floor(share))
            rest[k] = share - counts[g, k]
            short -= counts[g, k]
        holder = -1
        held = 0.0
        for k in range(width):
            if rest[k] <= 0.0 or short <= 0:
                continue
            if holder < 0:
                holder, held = k, rest[k]
                continue
            state += GOLDEN
            u = (mixed(state) >> np.uint64(11)) * _TO_UNIT
            both = held + rest[k]
            if both < 1.0:
                if u * both < rest[k]:
                    holder = k
                held = both
            else:
                if u * (2.0 - both) < 1.0 - rest[k]:
                    winner = holder
                    holder = k
                else:
                    winner = k
                counts[g, winner] += 1
                short -= 1
                held = both - 1.0
        if short > 0 and holder >= 0:  # the sum is whole: what is left is one, or zero up to rounding
            counts[g, holder] += 1
    return counts


@njit(cache=True, nogil=True)
def deal(counts: Any, starts: Any, pool: Any, seed: Any) -> None:
    """Write every group's codes to its own part of `pool`, then shuffle each part (Fisher and Yates)."""
    groups, width = counts.shape
    state = seed
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    for g in range(groups):
        first = starts[g]
        at = first
        for k in range(width):
            for _ in range(counts[g, k]):
                pool[at] = k
                at += 1
        i = at - first - 1
        while i > 0:  # one draw serves two swaps
            state += GOLDEN
            bits = mixed(state)
            j = first + np.int64(((bits & low) * np.uint64(i + 1)) >> half)
            pool[first + i], pool[j] = pool[j], pool[first + i]
            i -= 1
            if i > 0:
                j = first + np.int64(((bits >> half) * np.uint64(i + 1)) >> half)
                pool[first + i], pool[j] = pool[j], pool[first + i]
                i -= 1


@njit(cache=True, nogil=True)
def collect(keys: Any, cursors: Any, pool: Any, out: Any) -> None:
    """Give every record the next code of its group; `cursors` start at the groups' parts of the pool."""
    for i in range(keys.size):
        at = cursors[keys[i]]
        out[i] = pool[at]
        cursors[keys[i]] = at + 1
