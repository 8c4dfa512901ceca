"""The innermost loop of the dual: what cells do at given prices, and what that says of their clique's faces.

Every clique is walked row by row, its innermost axis in plain loops, so that a cell is priced, answered and
summed up while it is in a register: one pass over memory. `faces.py` lays out the integers:

columns of `tables` (one a clique): 0 first cell, 1 first axis, 2 axes but the innermost, 3 cells of the innermost,
4 first face, 5 faces that keep the innermost axis (they come first), 6 faces;
columns of `faces`: 0 first cell, 1 first stride (one an axis but the innermost, 0 where summed);
columns of `units` (what one call is to do): 0 clique, 1 first row, 2 end of rows, 3 how far from its faces to sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from understudy.model.projections import SUMS

WEIGH, BUY, YIELD = 0, 1, 2
_BLOCK = 1024  # cells of a row worked on at a time


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _weigh_one(price: float, vector: Any, result: Any, p: Any, t: Any, weights: Any, c: Any, n: Any) -> float:
    """The row's sum of weight * price, where one face keeps the innermost axis; that face gets the cells."""
    total = 0.0
    for i in range(n):
        cell = (price + vector[p + i]) * weights[c + i]
        result[t + i] += cell
        total += cell
    return total


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _weigh_two(
    price: float, vector: Any, result: Any, p: Any, t: Any, q: Any, u: Any, weights: Any, c: Any, n: Any
) -> float:
    """The same where two faces do."""
    total = 0.0
    for i in range(n):
        cell = (price + vector[p + i] + vector[q + i]) * weights[c + i]
        result[t + i] += cell
        result[u + i] += cell
        total += cell
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _answer(
    mode: int, row: Any, c: Any, n: Any, values: Any, weights: Any, allowed: Any, cells: Any
) -> float:
    """Turn the prices of some cells into the cells, and add up what they contribute to the dual."""
    total = 0.0
    if mode == WEIGH:
        for i in range(n):
            row[i] *= weights[c + i]
    elif mode == BUY:  # the least of 1/2 w (b - y)^2 + price b over b >= 0
        for i in range(n):
            cell = max(values[c + i] - row[i] / weights[c + i], 0.0)
            if allowed.size:
                cell = cell if allowed[c + i] else 0.0
            away = cell - values[c + i]
            total += 0.5 * weights[c + i] * away * away + row[i] * cell
            cells[c + i] = cell
            row[i] = cell
    else:  # how much a cell gives way to its price: 1 / w while it is bought at all
        for i in range(n):
            row[i] = 1.0 / weights[c + i] if cells[c + i] > 0.0 else 0.0
            values[c + i] = row[i]
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _row(
    price: float,
    vector: Any,
    result: Any,
    at: Any,
    shift: int,
    flat: int,
    row: Any,
    mode: int,
    c: Any,
    n: Any,
    values: Any,
    weights: Any,
    allowed: Any,
    cells: Any,
) -> tuple[float, float]:
    """The row's sum and its part of the dual, whatever the mode and the number of faces."""
    total = gained = 0.0
    lo = np.uint64(0)
    while lo < n:
        m = min(np.uint64(_BLOCK), n - lo)
        for i in range(m):
            row[i] = price
        for f in range(flat):
            p = np.uint64(at[f]) + lo
            for i in range(m):
                row[i] += vector[p + i]
        gained += _answer(mode, row, c + lo, m, values, weights, allowed, cells)
        for f in range(flat):
            p = np.uint64(at[f] + shift) + lo
            for i in range(m):
                result[p + i] += row[i]
        for i in range(m):
            total += row[i]
        lo += m
    return total, gained


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _advance(
    index: Any, at: Any, count: int, sizes: Any, axis: int, axes: int, faces: Any, face: int, strides: Any
) -> None:
    """Move every face's place on to the next row."""
    j = axes - 1
    while j >= 0:
        index[j] += 1
        back = 0 if index[j] < sizes[axis + j] else sizes[axis + j]
        for f in range(count):
            at[f] += strides[faces[face + f, 1] + j] * (1 - back)
        if not back:
            return
        index[j] = 0
        j -= 1


@njit(cache=True, nogil=True, fastmath=SUMS)
def respond(
    mode: int,
    units: Any,
    gains: Any,
    vector: Any,
    result: Any,
    values: Any,
    weights: Any,
    allowed: Any,
    cells: Any,
    tables: Any,
    sizes: Any,
    faces: Any,
    strides: Any,
) -> None:
    """Lift prices from faces to cells, let every cell answer as `mode` says, and add the answers up by face.

    WEIGH answers weights * price. BUY writes into `cells` what is bought and into `gains`, unit by unit, what that is
    worth; `allowed` may be empty. YIELD writes how much every cell gives way into `values`.
    """
    at = np.empty(faces.shape[0], np.int64)
    index = np.empty(sizes.size + 1, np.int64)
    row = np.empty(_BLOCK)
    for u in range(units.shape[0]):
        k, begin, end, shift = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        axis, axes, n = tables[k, 1], tables[k, 2], np.uint64(tables[k, 3])
        face, flat, count = tables[k, 4], tables[k, 5], tables[k, 6]
        c = np.uint64(tables[k, 0] + begin * tables[k, 3])
        left = begin
        for f in range(count):
            at[f] = faces[face + f, 0]
        for j in range(axes - 1, -1, -1):
            index[j] = left % sizes[axis + j]
            left //= sizes[axis + j]
            for f in range(count):
                at[f] += index[j] * strides[faces[face + f, 1] + j]
        gained = 0.0
        for _ in range(begin, end):
            price = 0.0
            for f in range(flat, count):
                price += vector[at[f]]
            if mode == WEIGH and flat == 1:
                p, t = np.uint64(at[0]), np.uint64(at[0] + shift)
                total = _weigh_one(price, vector, result, p, t, weights, c, n)
            elif mode == WEIGH and flat == 2:
                p, t = np.uint64(at[0]), np.uint64(at[0] + shift)
                q, s = np.uint64(at[1]), np.uint64(at[1] + shift)
                total = _weigh_two(price, vector, result, p, t, q, s, weights, c, n)
            else:
                total, gain = _row(
                    price, vector, result, at, shift, flat, row, mode, c, n, values, weights, allowed, cells
                )
                gained += gain
            for f in range(flat, count):
                result[at[f] + shift] += total
            c += n
            _advance(index, at, count, sizes, axis, axes, faces, face, strides)
        gains[u] = gained
