"""The innermost loop of the dual: what cells do at given prices, and what that says of their clique's marginals.

Every clique is walked row by row, its innermost axis in plain loops, so that a cell is priced, answered and
summed up while it is in a register: one pass over memory. `clique_marginals.py` lays out the integers:

columns of `tables` (one a clique): 0 first cell, 1 first axis, 2 axes but the innermost, 3 cells of the innermost,
4 first marginal, 5 marginals that keep the innermost axis (they come first), 6 marginals;
columns of `marginals`: 0 first cell, 1 first stride (one an axis but the innermost, 0 where summed);
columns of `units` (work of one call): 0 clique, 1 first row, 2 end of rows, 3 how far beside its marginals it sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit
from understudy.model.tree.projection_kernels import SUMS

MULTIPLY, EVALUATE = 0, 1


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _multiply_one(
    price: float, vector: Any, result: Any, p: Any, t: Any, weights: Any, c: Any, n: Any
) -> float:
    """The row's sum of weight * price, where one marginal keeps the innermost axis; that marginal gets the cells."""
    total = 0.0
    for i in range(n):
        cell = (price + vector[p + i]) * weights[c + i]
        result[t + i] += cell
        total += cell
    return total


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _multiply_two(
    price: float, vector: Any, result: Any, p: Any, t: Any, q: Any, u: Any, weights: Any, c: Any, n: Any
) -> float:
    """The row's sum of weight * price, where two marginals keep the innermost axis; both get the cells."""
    total = 0.0
    for i in range(n):
        cell = (price + vector[p + i] + vector[q + i]) * weights[c + i]
        result[t + i] += cell
        result[u + i] += cell
        total += cell
    return total


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _evaluate(row: Any, c: Any, n: Any, values: Any, weights: Any, allowed: Any, cells: Any) -> float:
    """The least of 1/2 w (b - y)^2 + price b over cells b >= 0, summed; prices in `row` become the cells."""
    gained = 0.0
    if allowed.size:
        for i in range(n):
            if not allowed[c + i]:  # a price at which the cell is zero
                row[i] = max(row[i], 2.0 * abs(values[c + i]) * weights[c + i])
    for i in range(n):
        cell = max(values[c + i] - row[i] / weights[c + i], 0.0)
        away = cell - values[c + i]
        gained += 0.5 * weights[c + i] * away * away + row[i] * cell
        cells[c + i] = cell
        row[i] = cell
    return gained


@njit(cache=True, nogil=True, fastmath=SUMS, inline="always")
def _advance(
    index: Any,
    at: Any,
    count: int,
    sizes: Any,
    axis: int,
    axes: int,
    marginals: Any,
    marginal: int,
    strides: Any,
) -> None:
    """Move every marginal's place on to the next row."""
    j = axes - 1
    while j >= 0:
        index[j] += 1
        back = 0 if index[j] < sizes[axis + j] else sizes[axis + j]
        for f in range(count):
            at[f] += strides[marginals[marginal + f, 1] + j] * (1 - back)
        if not back:
            return
        index[j] = 0
        j -= 1


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def respond(
    mode: int, work: Any, vector: Any, result: Any, weights: Any, evaluated: Any, layout: Any
) -> None:
    """Lift prices from marginals to cells, let every cell answer as `mode` says, and add the answers up by marginal.

    MULTIPLY answers weights * price: a product with the Hessian. EVALUATE answers the cell that the price leaves,
    written into `cells`, and adds the dual's value to `gains`, unit by unit. `work` is the units, their gains and
    room for the longest row; `evaluated` the values, which cells are allowed (empty: all are) and the cells; `layout`
    the tables, sizes, marginals and strides.
    """
    (units, gains, row), (values, allowed, cells), (tables, sizes, marginals, strides) = (
        work,
        evaluated,
        layout,
    )
    at = np.empty(marginals.shape[0], np.int64)
    index = np.empty(sizes.size + 1, np.int64)
    for u in range(units.shape[0]):
        k, begin, end, shift = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        axis, axes, n = tables[k, 1], tables[k, 2], np.uint64(tables[k, 3])
        marginal, flat, count = tables[k, 4], tables[k, 5], tables[k, 6]
        c = np.uint64(tables[k, 0] + begin * tables[k, 3])
        left = begin
        for f in range(count):
            at[f] = marginals[marginal + f, 0]
        for j in range(axes - 1, -1, -1):
            index[j] = left % sizes[axis + j]
            left //= sizes[axis + j]
            for f in range(count):
                at[f] += index[j] * strides[marginals[marginal + f, 1] + j]
        gained = 0.0
        for _ in range(begin, end):
            price = 0.0
            for f in range(flat, count):
                price += vector[at[f]]
            if mode == MULTIPLY and flat == 1:
                p, t = np.uint64(at[0]), np.uint64(at[0] + shift)
                total = _multiply_one(price, vector, result, p, t, weights, c, n)
            elif mode == MULTIPLY and flat == 2:
                p, t = np.uint64(at[0]), np.uint64(at[0] + shift)
                q, s = np.uint64(at[1]), np.uint64(at[1] + shift)
                total = _multiply_two(price, vector, result, p, t, q, s, weights, c, n)
            else:
                for i in range(n):
                    row[i] = price
                for f in range(flat):
                    p = np.uint64(at[f])
                    for i in range(n):
                        row[i] += vector[p + i]
                if mode == EVALUATE:
                    gained += _evaluate(row, c, n, values, weights, allowed, cells)
                else:
                    for i in range(n):
                        row[i] *= weights[c + i]
                for f in range(flat):
                    p = np.uint64(at[f] + shift)
                    for i in range(n):
                        result[p + i] += row[i]
                total = 0.0
                for i in range(n):
                    total += row[i]
            for f in range(flat, count):
                result[at[f] + shift] += total
            c += n
            _advance(index, at, count, sizes, axis, axes, marginals, marginal, strides)
        gains[u] = gained
