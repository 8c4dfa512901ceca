"""The order in which a unit's records count: public, fixed, and of that unit's own records alone.

A unit's records are told apart by their content (the codes under the schema at hand, or the value asked for)
and, where several have the same, by a number: the first, second, ... of that content, whichever came first. Each
pair of a content c and a number j has the key

    mix(mix(hash(unit) ^ mix(hash(c))) + j * GOLDEN)

and pairs are ordered by key, then by hash(c), then by the bytes of c, then by j. That is a total order of pairs,
for every unit one, whatever the hash is: two contents that share a hash are ordered by their bytes. So the least k
pairs of a unit are a function of its contents and how often it has each; who else is in the table, and in which
order anything was read, has no part in it. That the keys look random only serves that those kept are like the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit

Integers = npt.NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _8 = (np.uint64(n) for n in (30, 27, 31, 8))
_U = np.uintp  # an index that could be negative is checked for it
FEW = 24  # records of a unit that are compared each with each


@njit(cache=True, nogil=True)
def mix(x: Any) -> Any:
    """A number of 64 bits made of another, one to one (the last steps of SplitMix64)."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@njit(cache=True, nogil=True)
def hash_bytes(offsets: Any, data: Any) -> Any:
    """The hash of every run of bytes: eight at a time, the lowest first, and their number at the end."""
    found = np.empty(offsets.size - 1, np.uint64)
    for i in range(found.size):
        place, end, state = _U(offsets[i]), _U(offsets[i + 1]), _GOLDEN
        length = np.uint64(end - place)
        while end - place >= _U(8):
            word = np.uint64(0)
            for byte in range(8):
                word |= np.uint64(data[place + _U(byte)]) << np.uint64(8 * byte)
            state = mix(state ^ word) + _GOLDEN
            place += _U(8)
        word, filled = np.uint64(0), np.uint64(0)
        while place < end:
            word |= np.uint64(data[place]) << filled
            filled += _8
            place += _U(1)
        found[i] = mix(mix(state ^ word) + length)
    return found


@njit(cache=True, nogil=True)
def by_unit(numbers: Any, units: int) -> Any:
    """`starts` and `rows`, given the number of every record's unit: unit u has rows[starts[u] : starts[u + 1]]."""
    starts = np.zeros(units + 1, np.int64)
    for i in range(numbers.size):
        starts[numbers[i] + 1] += 1
    for unit in range(units):
        starts[unit + 1] += starts[unit]
    rows, next_ = np.empty(numbers.size, np.int64), starts[:-1].copy()
    for i in range(numbers.size):
        rows[next_[numbers[i]]] = i
        next_[numbers[i]] += 1
    return starts, rows


@njit(cache=True, nogil=True)
def number(starts: Any, rows: Any, contents: Any) -> Any:
    """For each record its number, from 1 on, among the records of its unit that have the same content.

    The records of unit u are rows[starts[u] : starts[u + 1]]; `contents` are their hashes, offsets and bytes.
    """
    hashes = contents[0]
    found = np.ones(hashes.size, np.int64)
    for unit in range(starts.size - 1):
        start, end = starts[unit], starts[unit + 1]
        if end - start <= FEW:
            for i in range(start + 1, end):
                for j in range(start, i):
                    if hashes[rows[j]] == hashes[rows[i]] and _compare(rows[j], rows[i], contents) == 0:
                        found[rows[i]] += 1
            continue
        mine = rows[start:end]
        order = mine[np.argsort(hashes[mine])]
        first = 0
        while first < order.size:
            last = first + 1
            while last < order.size and hashes[order[last]] == hashes[order[first]]:
                last += 1
            if last - first > 1:
                _number_run(order[first:last], found, contents)
            first = last
    return found


@njit(cache=True, nogil=True)
def _number_run(run: Any, found: Any, contents: Any) -> None:
    """Number records whose contents share a hash; they are compared, though nearly always they are one content."""
    left = run.size
    while left:
        sample, times, others = run[0], 0, 0
        for i in range(left):
            if _compare(run[i], sample, contents) == 0:
                times += 1
                found[run[i]] = times
            else:
                run[others] = run[i]
                others += 1
        left = others


@njit(cache=True, nogil=True)
def choose(starts: Any, rows: Any, units: Any, contents: Any, first: Any, times: Any, most: int) -> Any:
    """The least `most` pairs of every unit in the order above: their rows, and their numbers.

    The rows of unit u, whose hash is units[u], are rows[starts[u] : starts[u + 1]]; a row stands for its content
    with the numbers first, first + 1, ..., as many as `times`. `contents` are their hashes, offsets and bytes.
    """
    room = 0
    for unit in range(starts.size - 1):
        held = 0
        for i in range(starts[unit], starts[unit + 1]):
            held += times[rows[i]]
        room += min(held, most)
    chosen, numbers, keys = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint64)
    pairs = (chosen, numbers, keys)
    base = 0
    for unit in range(starts.size - 1):
        size = 0  # of a heap whose first is the greatest of those chosen so far
        for i in range(starts[unit], starts[unit + 1]):
            row = rows[i]
            seed = mix(units[unit] ^ mix(contents[0][row]))
            for j in range(first[row], first[row] + times[row]):
                key = mix(seed + np.uint64(j) * _GOLDEN)
                if size < most:
                    place = base + size
                    chosen[place], numbers[place], keys[place] = row, j, key
                    size += 1
                    _rise(pairs, base, size - 1, contents)
                elif _less(key, row, j, keys[base], chosen[base], numbers[base], contents):
                    chosen[base], numbers[base], keys[base] = row, j, key
                    _sink(pairs, base, size, contents)
        base += size
    return chosen, numbers


@njit(cache=True, nogil=True)
def _rise(pairs: Any, base: int, i: int, contents: Any) -> None:
    while i > 0:
        up = (i - 1) // 2
        if not _above(pairs, base + up, base + i, contents):
            return
        _swap(pairs, base + up, base + i)
        i = up


@njit(cache=True, nogil=True)
def _sink(pairs: Any, base: int, size: int, contents: Any) -> None:
    i = 0
    while True:
        down = 2 * i + 1
        if down >= size:
            return
        if down + 1 < size and _above(pairs, base + down, base + down + 1, contents):
            down += 1
        if not _above(pairs, base + i, base + down, contents):
            return
        _swap(pairs, base + i, base + down)
        i = down


@njit(cache=True, nogil=True)
def _above(pairs: Any, a: int, b: int, contents: Any) -> bool:
    """Whether place a of the heap holds less than place b."""
    chosen, numbers, keys = pairs
    return bool(_less(keys[a], chosen[a], numbers[a], keys[b], chosen[b], numbers[b], contents))


@njit(cache=True, nogil=True)
def _swap(pairs: Any, a: int, b: int) -> None:
    chosen, numbers, keys = pairs
    chosen[a], chosen[b] = chosen[b], chosen[a]
    numbers[a], numbers[b] = numbers[b], numbers[a]
    keys[a], keys[b] = keys[b], keys[a]


@njit(cache=True, nogil=True)
def _less(key: Any, row: int, j: int, other_key: Any, other: int, i: int, contents: Any) -> bool:
    hashes = contents[0]
    if key != other_key:
        return bool(key < other_key)
    if hashes[row] != hashes[other]:
        return bool(hashes[row] < hashes[other])
    order = _compare(row, other, contents)
    return j < i if order == 0 else order < 0


@njit(cache=True, nogil=True)
def _compare(row: int, other: int, contents: Any) -> int:
    """Below 0, 0 or above 0, as the bytes of the first row come before, equal or come after those of the second."""
    _, offsets, data = contents
    size, length = offsets[row + 1] - offsets[row], offsets[other + 1] - offsets[other]
    for i in range(min(size, length)):
        one, two = data[offsets[row] + i], data[offsets[other] + i]
        if one != two:
            return -1 if one < two else 1
    return 0 if size == length else (-1 if size < length else 1)
