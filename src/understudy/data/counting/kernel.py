"""The kernel: runs a counting program over one block of packed codes.

Everything is unsigned: an index that could be negative is checked for it, at half the speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit

_U = np.uintp


@njit(cache=True, nogil=True)
def run_program(
    packed: Any,
    members: Any,
    runs: Any,
    passes: Any,
    folds: Any,
    offsets: Any,
    scratch: int,
    results: Any,
    first: int,
    last: int,
) -> None:
    """Make runs `first` to `last` of a program (see `Program` for the arrays), adding to `results`."""
    left = np.empty(packed.shape[1], np.uint32)
    table = np.empty(scratch, np.uint32)
    for run in range(first, last):
        begin, end = runs[run, 0], runs[run, 1]
        if end - begin == 1 and members[begin, 1] == 1:  # the codes of one row as they are, of half the bytes
            _run(packed[members[begin, 0]], packed, runs[run], passes, folds, offsets, table, results)
            continue
        for i in range(left.size):
            left[i] = 0
        for member in range(begin, end):
            codes = packed[members[member, 0]]
            stride = np.uint32(members[member, 1])
            for i in range(left.size):
                left[i] += codes[i] * stride
        _run(left, packed, runs[run], passes, folds, offsets, table, results)


@njit(cache=True, nogil=True)
def _run(
    left: Any, packed: Any, run: Any, passes: Any, folds: Any, offsets: Any, table: Any, results: Any
) -> None:
    """Make the passes of one run, whose left is known."""
    for step in range(run[2], run[3]):
        cells, where = passes[step, 2], passes[step, 3]
        if where >= 0:
            _fill(left, packed, passes[step, 0], passes[step, 1], results[where : where + cells])
            continue
        for i in range(cells):
            table[i] = 0
        _fill(left, packed, passes[step, 0], passes[step, 1], table)
        for fold in range(passes[step, 4], passes[step, 5]):
            _fold(
                table,
                offsets[folds[fold, 0] : folds[fold, 1]],
                offsets[folds[fold, 2] : folds[fold, 3]],
                results[folds[fold, 4] :],
            )


@njit(cache=True, nogil=True)
def _fill(left: Any, packed: Any, row: int, width: int, table: Any) -> None:
    """Add one to table[left * width + right] for every record."""
    if row < 0:
        for i in range(left.size):
            table[_U(left[i])] += 1
        return
    right, wide = packed[row], _U(width)
    for i in range(left.size):
        table[_U(left[i]) * wide + _U(right[i])] += 1


@njit(cache=True, nogil=True)
def _fold(table: Any, left: Any, right: Any, out: Any) -> None:
    """Add a filled table's cell (l, r) to out[left[l] + right[r]]."""
    cell = _U(0)
    for i in range(left.size):
        base = _U(left[i])
        for j in range(right.size):
            count = table[cell]
            if count:  # most cells are empty, and memory not touched is memory not spent
                out[base + _U(right[j])] += np.int64(count)
            cell += _U(1)
