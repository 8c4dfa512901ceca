"""The generic loops behind propagation: compiled once per machine, never per model.

A model is integers here (see `tree_layout.py`). Tables of all cliques lie in one float64 array.

Columns of `cliques`: 0 first cell, 1 cells, 2 parent (-1 for a root), 3 first separator cell, 4 separator cells,
5 projection of the clique onto its separator, 6 projection of its parent onto the same.
For `shapes` see `projection_kernels.py`, also for why loops over cells are unsigned.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from understudy.compiled import njit
from understudy.model.tree.projection_kernels import SUMS, add_back, dot_onto, multiply_back, sum_onto


@njit(cache=True, nogil=True)
def shift(theta: Any, tables: Any, cliques: Any) -> float:
    """The sum of the largest entry of every clique, each taken off into `tables`, ready to exponentiate."""
    total = 0.0
    for k in range(cliques.shape[0]):
        a, b = cliques[k, 0], cliques[k, 0] + cliques[k, 1]
        top = theta[a]
        for i in range(a, b):
            top = max(top, theta[i])
        for i in range(a, b):
            # Below this the exponential would be subnormal: slow to compute, and next to zero.
            tables[i] = theta[i] - top if theta[i] - top > -600.0 else -math.inf
        total += top
    return total


@njit(cache=True, nogil=True)
def calibrate(tables: Any, ratios: Any, separators: Any, cliques: Any, shapes: Any) -> float:
    """The logarithm of the sum over all records, once potentials have become marginals in place.

    Up the tree, then down again: a clique's sum over a separator, divided by the one before, multiplies its
    neighbour. Messages upwards are rescaled, so 100 columns do not underflow. A separator cell that nothing reaches
    stays an exact zero. -inf when no record is possible. `ratios` ends as separator / sum from below.
    """
    count = cliques.shape[0]
    received = np.empty(count, np.int64)  # filled below: numpy's zeros would take longer to compile
    for k in range(count):
        received[k] = 0
    log_total = 0.0
    for step in range(2 * count):
        rising = step < count
        k = step if rising else 2 * count - 1 - step
        a, n, above, m, c = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if above < 0:
            if rising:
                total = 0.0
                for i in range(a, a + n):
                    total += tables[i]
                if not total > 0.0:
                    return -math.inf
                for i in range(a, a + n):
                    tables[i] /= total
                log_total += math.log(total)
            continue
        source, target = (a, cliques[above, 0]) if rising else (cliques[above, 0], a)
        onto, back = (cliques[k, 5], cliques[k, 6]) if rising else (cliques[k, 6], cliques[k, 5])
        top = 0.0
        for i in range(m, m + c):
            ratios[i] = separators[i]
            separators[i] = 0.0
        sum_onto(tables, source, 1.0, separators, m, onto, shapes)
        for i in range(m, m + c):
            top = max(top, separators[i])
        if rising:
            if not top > 0.0:
                return -math.inf
            log_total += math.log(top)
            for i in range(m, m + c):
                ratios[i] = separators[i] / top
        else:
            for i in range(m, m + c):
                ratios[i] = separators[i] / ratios[i] if ratios[i] > 0.0 else 0.0
        multiply_back(tables, target, ratios, m, back, shapes)
        if not rising:
            continue
        received[above] += 1
        if received[above] % 4 == 0:  # many messages that disagree could underflow together
            b, top = cliques[above, 0], 0.0
            for i in range(b, b + cliques[above, 1]):
                top = max(top, tables[i])
            if not top > 0.0:
                return -math.inf
            for i in range(b, b + cliques[above, 1]):
                tables[i] /= top
            log_total += math.log(top)
    return log_total


@njit(cache=True, nogil=True, fastmath=SUMS)
def covariance(
    marginals: Any, separators: Any, direction: Any, messages: Any, cliques: Any, shapes: Any
) -> None:
    """Turn a change of log-potentials into the change of marginals, in place.

    With f(x) the sum of the changes over cliques, a marginal changes by mu * (E[f | cell] - E[f]): the
    same two passes, on conditional expectations, without an exponential.
    """
    count = cliques.shape[0]
    for step in range(2 * count):
        rising = step < count
        k = step if rising else 2 * count - 1 - step
        a, above, m, c = cliques[k, 0], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if above < 0:
            continue
        source, target = (a, cliques[above, 0]) if rising else (cliques[above, 0], a)
        onto, back = (cliques[k, 5], cliques[k, 6]) if rising else (cliques[k, 6], cliques[k, 5])
        # The message of a child is part of what its parent knows: it is taken off again.
        for i in range(np.uint64(m), np.uint64(m + c)):
            messages[i] = 0.0 if rising else -messages[i] * separators[i]
        dot_onto(marginals, direction, source, messages, m, onto, shapes)
        for i in range(np.uint64(m), np.uint64(m + c)):
            messages[i] = messages[i] / separators[i] if separators[i] > 0.0 else 0.0
        add_back(direction, target, 1.0, messages, m, back, shapes)
    for k in range(count):
        a, n = cliques[k, 0], cliques[k, 1]
        mean = 0.0
        for i in range(np.uint64(a), np.uint64(a + n)):
            mean += marginals[i] * direction[i]
        for i in range(np.uint64(a), np.uint64(a + n)):
            direction[i] = marginals[i] * (direction[i] - mean)


@njit(cache=True, nogil=True)
def exchange(
    lift: bool, factor: float, cells: Any, vector: Any, tables: Any, ports: Any, shapes: Any
) -> None:
    """Lift: add to the cells of every table `factor` times what its ports show of `vector`; or drop, the transpose.

    `ports` are two arrays: places in a vector that tables project onto (0 where, 1 by which projection, 2 with which
    sign), and the first place of each table.
    """
    places, first = ports
    for k in range(tables.shape[0]):
        for j in range(first[k], first[k + 1]):
            sign, onto = factor * places[j, 2], places[j, 1]
            if lift:
                add_back(cells, tables[k, 0], sign, vector, places[j, 0], onto, shapes)
            else:
                sum_onto(cells, tables[k, 0], sign, vector, places[j, 0], onto, shapes)


@njit(cache=True, nogil=True, fastmath=SUMS)
def balance(cells: Any, before: int, size: int, after: int, wanted: Any) -> None:
    """Shift every slice along one axis so that its positive cells come closer to their wanted sum.

    One Newton step on the slice's threshold: exact while the same cells stay positive.
    """
    sums, counts = np.empty(size), np.empty(size)
    for k in range(size):
        sums[k] = counts[k] = 0.0
    for b in range(before):
        for k in range(size):
            a = (b * size + k) * after
            total = 0.0
            positive = 0.0
            for i in range(a, a + after):
                total += max(cells[i], 0.0)
                positive += 1.0 if cells[i] > 0.0 else 0.0
            sums[k] += total
            counts[k] += positive
    for b in range(before):
        for k in range(size):
            a = (b * size + k) * after
            step = (sums[k] - wanted[k]) / (counts[k] if counts[k] > 0.0 else before * after)
            for i in range(a, a + after):
                cells[i] -= step


@njit(cache=True, nogil=True, fastmath=SUMS)
def squares(weights: Any, left: Any, right: Any) -> float:
    """The sum of w (left - right)^2 over all cells."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * (left[i] - right[i]) * (left[i] - right[i])
    return total
