"""The inner loop of gradual update, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit


@njit(cache=True, nogil=True)
def _next(state: Any) -> Any:  # a step of xorshift64*: enough for which record moves
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    return state


@njit(cache=True, nogil=True)
def _unit(state: Any) -> Any:
    return np.float64((state * np.uint64(2685821657736338717)) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _shuffle(numbers: Any, state: Any) -> Any:
    for i in range(numbers.size - 1, 0, -1):
        state = _next(state)
        j = int(_unit(state) * (i + 1))
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return state


@njit(cache=True, nogil=True)
def _locate(codes: Any, columns: Any, strides: Any, cell: Any, counts: Any) -> None:
    """The cell of every record, and how many records each cell holds."""
    if columns.size == 2:  # a pair, as most are: in one pass
        first, second = codes[columns[0]], codes[columns[1]]
        wide = np.int32(strides[0])
        for i in range(cell.size):
            c = wide * np.int32(first[i]) + np.int32(second[i])
            cell[i] = c
            counts[c] += 1
        return
    cell[:] = 0
    for k in range(columns.size):
        line = codes[columns[k]]
        stride = np.int32(strides[k])
        for i in range(cell.size):
            cell[i] += stride * np.int32(line[i])
    for i in range(cell.size):
        counts[cell[i]] += 1


@njit(cache=True, nogil=True)
def _balance(counts: Any, wanted: Any, step: float, due: Any, state: Any) -> Any:
    """How many records each cell is to take (above 0) or give up (below): a step of what it lacks, rounded at random.

    Returns how far the counts are off in all, and the randomness as it is left.
    """
    off = 0.0
    for c in range(wanted.size):
        gap = wanted[c] - counts[c]
        off += abs(gap)
        state = _next(state)
        amount = np.int32(abs(gap) * step + _unit(state))
        due[c] = amount if gap > 0 else -min(amount, counts[c])
    return off, state


@njit(cache=True, nogil=True)
def _movers(cell: Any, counts: Any, due: Any, starts: Any, members: Any, out: Any, state: Any) -> Any:
    """The records that leave over-full cells, each with the same chance; and who is in the under-full ones."""
    found = 0
    left = counts.copy()
    for i in range(cell.size):
        c = cell[i]
        if due[c] < 0:
            state = _next(state)
            if _unit(state) * left[c] < -due[c]:
                out[found] = i
                found += 1
                due[c] += 1
            left[c] -= 1
        elif due[c] > 0:
            members[starts[c] + counts[c] - left[c]] = i
            left[c] -= 1
    return state


@njit(cache=True, nogil=True)
def _match(movers: Any, places: Any, cell: Any, stride: Any, size: Any) -> Any:
    """The same movers and places, reordered so that as many as can be share their code of one column."""
    starts = np.zeros(size + 1, np.int64)
    for place in places:
        starts[(place // stride) % size + 1] += 1
    starts = np.cumsum(starts)
    cursor = starts.copy()
    bucketed = np.empty_like(places)
    for place in places:
        code = (place // stride) % size
        bucketed[cursor[code]] = place
        cursor[code] += 1
    cursor = starts.copy()
    who, where, rest = np.empty_like(movers), np.empty_like(places), np.empty_like(movers)
    done, waiting = 0, 0
    for mover in movers:
        code = (cell[mover] // stride) % size
        if cursor[code] < starts[code + 1]:
            who[done] = mover
            where[done] = bucketed[cursor[code]]
            cursor[code] += 1
            done += 1
        else:
            rest[waiting] = mover
            waiting += 1
    who[done:] = rest[:waiting]
    for code in range(size):
        for i in range(cursor[code], starts[code + 1]):
            where[done] = bucketed[i]
            done += 1
    return who, where


@njit(cache=True, nogil=True)
def move(
    codes: Any,
    columns: Any,
    strides: Any,
    wanted: Any,
    step: float,
    copying: bool,
    keep: int,
    seed: Any,
    cell: Any,
    members: Any,
) -> Any:
    """Move records of over-full cells into under-full ones; returns how far the counts were off before.

    A record that moves has its codes of these columns overwritten, of which column number `keep` stays as it was
    where that can be; when copying, all its codes become those of a record that is in the wanted cell already, where
    there is one.
    """
    state = np.uint64(seed)
    counts = np.zeros(wanted.size, np.int32)
    _locate(codes, columns, strides, cell, counts)
    due = np.zeros(wanted.size, np.int32)
    off, state = _balance(counts, wanted, step, due, state)
    places = np.repeat(np.arange(wanted.size), np.maximum(due, 0))
    movers = np.empty(-np.minimum(due, 0).sum(), np.int32)
    starts = np.cumsum(np.where(due > 0, counts, 0)) - np.where(due > 0, counts, 0)
    state = _movers(cell, counts, due, starts, members, movers, state)
    # Whichever list is longer, a random part of it is used.
    state = _shuffle(movers, state)
    state = _shuffle(places, state)
    if not copying:
        above = strides[keep - 1] if keep else np.int64(wanted.size)
        movers, places = _match(movers, places, cell, strides[keep], above // strides[keep])
    moved = min(movers.size, places.size)
    copied = 0
    models = np.empty(moved, np.int32)
    for i in range(moved):
        record, c = movers[i], places[i]
        if copying and counts[c] > 0:
            state = _next(state)
            models[copied] = members[starts[c] + int(_unit(state) * counts[c])]
            movers[copied] = record
            copied += 1
            continue
        for k in range(columns.size):
            codes[columns[k], record] = c // strides[k]
            c %= strides[k]
    for k in range(codes.shape[0]):  # column by column: one column stays in the cache
        line = codes[k]
        for i in range(copied):
            line[movers[i]] = line[models[i]]
    return off
