"""The innermost loops: a clique's cells onto those of a subset of its columns, and back.

Neighbouring axes that are both kept or both summed are merged into groups; the two innermost groups are plain
loops and the rest an odometer. `shapes` are three arrays: projections, each of three integers (first group, groups,
rows of the odometer); sizes of groups; and their strides in the target, 0 where summed. Compiled once per machine.

The inner loops count in unsigned integers: an index that might be negative would be wrapped around, which keeps
the compiler from using vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit

MAX_GROUPS = 256
# Sums may be reassociated (vector instructions); infinities and NaN keep their meaning.
SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=SUMS)
def dot(left: Any, right: Any) -> float:
    """The inner product; the same whatever the number of threads, which a linear-algebra library does not promise."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@njit(cache=True, nogil=True, inline="always")
def _loops(onto: int, shapes: Any) -> Any:
    """The rows of the odometer, the sizes of the two plain loops and their strides in the target."""
    projections, sizes, strides = shapes
    last = projections[onto, 0] + projections[onto, 1] - 2
    middle, inner = np.uint64(sizes[last]), np.uint64(sizes[last + 1])
    return projections[onto, 2], middle, inner, np.uint64(strides[last]), np.uint64(strides[last + 1])


@njit(cache=True, nogil=True, inline="always")
def _first_row() -> Any:
    """The odometer before its first row."""
    index = np.empty(MAX_GROUPS, np.int64)
    for j in range(MAX_GROUPS):
        index[j] = 0
    return index


@njit(cache=True, nogil=True, fastmath=SUMS)
def _advance(index: Any, onto: int, shapes: Any, d: int) -> int:
    """The target cell of the odometer's next row."""
    projections, sizes, strides = shapes
    first = projections[onto, 0]
    j = first + projections[onto, 1] - 3
    while j >= first:
        index[j - first] += 1
        d += strides[j]
        if index[j - first] < sizes[j]:
            return d
        d -= strides[j] * sizes[j]
        index[j - first] = 0
        j -= 1
    return d


@njit(cache=True, nogil=True, fastmath=SUMS)
def sum_onto(source: Any, s: int, factor: float, target: Any, t: int, onto: int, shapes: Any) -> None:
    """Add `factor` times every cell from source[s:] to its projection in target[t:]."""
    rows, middle, inner, step, along = _loops(onto, shapes)
    index, d, cell = _first_row(), t, np.uint64(s)
    for _ in range(rows):
        there = np.uint64(d)
        if along:
            for m in range(middle):
                for i in range(inner):
                    target[there + m * step + i] += factor * source[cell + i]
                cell += inner
        else:
            for m in range(middle):
                total = 0.0
                for i in range(inner):
                    total += source[cell + i]
                target[there + m * step] += factor * total
                cell += inner
        d = _advance(index, onto, shapes, d)


@njit(cache=True, nogil=True, fastmath=SUMS)
def dot_onto(weight: Any, source: Any, s: int, target: Any, t: int, onto: int, shapes: Any) -> None:
    """Add every cell of weight * source, both from s, to its projection in target[t:]."""
    rows, middle, inner, step, along = _loops(onto, shapes)
    index, d, cell = _first_row(), t, np.uint64(s)
    for _ in range(rows):
        there = np.uint64(d)
        if along:
            for m in range(middle):
                for i in range(inner):
                    target[there + m * step + i] += weight[cell + i] * source[cell + i]
                cell += inner
        else:
            for m in range(middle):
                total = 0.0
                for i in range(inner):
                    total += weight[cell + i] * source[cell + i]
                target[there + m * step] += total
                cell += inner
        d = _advance(index, onto, shapes, d)


@njit(cache=True, nogil=True)
def least_onto(source: Any, s: int, target: Any, t: int, onto: int, shapes: Any) -> None:
    """Lower every target cell to the least source cell projected onto it."""
    rows, middle, inner, step, along = _loops(onto, shapes)
    index, d, cell = _first_row(), t, np.uint64(s)
    for _ in range(rows):
        there = np.uint64(d)
        for m in range(middle):
            for i in range(inner):
                to = there + m * step + i * along
                target[to] = min(target[to], source[cell + i])
            cell += inner
        d = _advance(index, onto, shapes, d)


@njit(cache=True, nogil=True, fastmath=SUMS)
def add_back(target: Any, s: int, factor: float, source: Any, t: int, onto: int, shapes: Any) -> None:
    """Add to every cell of target[s:] `factor` times the source cell that it projects onto."""
    rows, middle, inner, step, along = _loops(onto, shapes)
    index, d, cell = _first_row(), t, np.uint64(s)
    for _ in range(rows):
        there = np.uint64(d)
        if along:
            for m in range(middle):
                for i in range(inner):
                    target[cell + i] += factor * source[there + m * step + i]
                cell += inner
        else:
            for m in range(middle):
                value = factor * source[there + m * step]
                for i in range(inner):
                    target[cell + i] += value
                cell += inner
        d = _advance(index, onto, shapes, d)


@njit(cache=True, nogil=True, fastmath=SUMS)
def multiply_back(target: Any, s: int, source: Any, t: int, onto: int, shapes: Any) -> None:
    """Multiply every cell of target[s:] by the source cell that it projects onto."""
    rows, middle, inner, step, along = _loops(onto, shapes)
    index, d, cell = _first_row(), t, np.uint64(s)
    for _ in range(rows):
        there = np.uint64(d)
        if along:
            for m in range(middle):
                for i in range(inner):
                    target[cell + i] *= source[there + m * step + i]
                cell += inner
        else:
            for m in range(middle):
                value = source[there + m * step]
                for i in range(inner):
                    target[cell + i] *= value
                cell += inner
        d = _advance(index, onto, shapes, d)
