"""The generic loops behind propagation: compiled once per machine, never per model.

A model is integers here (see `plan.py`). Tables of all cliques lie in one float64 array.

Columns of `cliques`: 0 first cell, 1 cells, 2 parent (-1 for a root), 3 first separator cell, 4 separator cells,
5 projection of the clique onto its separator, 6 projection of its parent onto the same.
Columns of `projections`: see `projections.py`.
Columns of `observed`: 0 clique, 1 first observed cell, 2 observed cells, 3 projection.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from understudy.model.projections import SUMS, add_back, dot_onto, least_onto, multiply_back, sum_onto


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
            # Below this the exponential would be subnormal: slow, and nothing.
            tables[i] = theta[i] - top if theta[i] - top > -600.0 else -math.inf
        total += top
    return total


@njit(cache=True, nogil=True)
def calibrate(
    tables: Any, messages: Any, separators: Any, cliques: Any, projections: Any, sizes: Any, strides: Any
) -> float:
    """The logarithm of the sum over all records, once potentials have become marginals in place.

    Every message is rescaled, so 100 columns do not underflow. A separator cell that nothing reaches
    stays an exact zero. -inf when no record is possible.
    """
    log_total = 0.0
    messages[:] = 0.0
    separators[:] = 0.0
    scales = np.ones(cliques.shape[0])
    received = np.zeros(cliques.shape[0], np.int64)
    for k in range(cliques.shape[0]):
        a, n, up, m, c = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up < 0:
            total = 0.0
            for i in range(a, a + n):
                total += tables[i]
            if not total > 0.0:
                return -math.inf
            for i in range(a, a + n):
                tables[i] /= total
            log_total += math.log(total)
            continue
        sum_onto(tables, a, messages, m, projections[cliques[k, 5]], sizes, strides)
        top = 0.0
        for i in range(m, m + c):
            top = max(top, messages[i])
        if not top > 0.0:
            return -math.inf
        for i in range(m, m + c):
            messages[i] /= top
        log_total += math.log(top)
        scales[k] = top
        multiply_back(tables, cliques[up, 0], messages, m, projections[cliques[k, 6]], sizes, strides)
        received[up] += 1
        if received[up] % 4 == 0:  # many messages that disagree could underflow together
            top = 0.0
            for i in range(cliques[up, 0], cliques[up, 0] + cliques[up, 1]):
                top = max(top, tables[i])
            if not top > 0.0:
                return -math.inf
            log_total += math.log(top)
            for i in range(cliques[up, 0], cliques[up, 0] + cliques[up, 1]):
                tables[i] /= top
    for k in range(cliques.shape[0] - 1, -1, -1):
        a, up, m, c = cliques[k, 0], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up < 0:
            continue
        sum_onto(tables, cliques[up, 0], separators, m, projections[cliques[k, 6]], sizes, strides)
        for i in range(m, m + c):
            # The child's own sum over this separator cell is scale * message.
            messages[i] = separators[i] / (messages[i] * scales[k]) if messages[i] > 0.0 else 0.0
        multiply_back(tables, a, messages, m, projections[cliques[k, 5]], sizes, strides)
    return log_total


@njit(cache=True, nogil=True, fastmath=SUMS)
def covariance(
    marginals: Any,
    separators: Any,
    direction: Any,
    messages: Any,
    cliques: Any,
    projections: Any,
    sizes: Any,
    strides: Any,
) -> None:
    """Turn a change of log-potentials into the change of marginals, in place.

    With f(x) the sum of the changes over cliques, a marginal changes by mu * (E[f | cell] - E[f]): the
    same two passes, on conditional expectations, without an exponential.
    """
    messages[:] = 0.0
    for k in range(cliques.shape[0]):
        a, up, m, c = cliques[k, 0], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up < 0:
            continue
        dot_onto(marginals, direction, a, messages, m, projections[cliques[k, 5]], sizes, strides)
        for i in range(m, m + c):
            messages[i] = messages[i] / separators[i] if separators[i] > 0.0 else 0.0
        add_back(direction, cliques[up, 0], 1.0, messages, m, projections[cliques[k, 6]], sizes, strides)
    for k in range(cliques.shape[0] - 1, -1, -1):
        a, n, up, m, c = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up < 0:
            mean = 0.0
            for i in range(a, a + n):
                mean += marginals[i] * direction[i]
            for i in range(a, a + n):
                direction[i] = marginals[i] * (direction[i] - mean)
            continue
        # The parent's direction is already mu * (E[f | cell] - E[f]); subtract what this child sent up.
        for i in range(m, m + c):
            messages[i] = -messages[i] * separators[i]
        sum_onto(direction, cliques[up, 0], messages, m, projections[cliques[k, 6]], sizes, strides)
        for i in range(m, m + c):
            messages[i] = messages[i] / separators[i] if separators[i] > 0.0 else 0.0
        add_back(direction, a, 1.0, messages, m, projections[cliques[k, 5]], sizes, strides)
        for i in range(a, a + n):
            direction[i] *= marginals[i]


@njit(cache=True, nogil=True)
def cheapest(cost: Any, messages: Any, cliques: Any, projections: Any, sizes: Any, strides: Any) -> float:
    """The least total cost of any record (one min-sum pass; `cost` is spent)."""
    messages[:] = math.inf
    total = 0.0
    for k in range(cliques.shape[0]):
        a, n, up, m = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3]
        if up < 0:
            best = math.inf
            for i in range(a, a + n):
                best = min(best, cost[i])
            total += best
            continue
        least_onto(cost, a, messages, m, projections[cliques[k, 5]], sizes, strides)
        add_back(cost, cliques[up, 0], 1.0, messages, m, projections[cliques[k, 6]], sizes, strides)
    return total


@njit(cache=True, nogil=True)
def observe(
    tables: Any, cliques: Any, cells: Any, observed: Any, projections: Any, sizes: Any, strides: Any
) -> None:
    """Project the tables onto every observed marginal, one after another in `cells`."""
    cells[:] = 0.0
    for j in range(observed.shape[0]):
        k = observed[j, 0]
        sum_onto(tables, cliques[k, 0], cells, observed[j, 1], projections[observed[j, 3]], sizes, strides)


@njit(cache=True, nogil=True)
def credit(
    tables: Any,
    cliques: Any,
    factor: float,
    cells: Any,
    observed: Any,
    projections: Any,
    sizes: Any,
    strides: Any,
) -> None:
    """Add `factor` times what every observed cell says to the clique that is its home: the transpose of `observe`."""
    for j in range(observed.shape[0]):
        k = observed[j, 0]
        add_back(
            tables, cliques[k, 0], factor, cells, observed[j, 1], projections[observed[j, 3]], sizes, strides
        )


@njit(cache=True, nogil=True)
def fit_proportions(
    tables: Any,
    separators: Any,
    walk: Any,
    targets: Any,
    wanted: Any,
    ratios: Any,
    cliques: Any,
    observed: Any,
    first_observed: Any,
    projections: Any,
    sizes: Any,
    strides: Any,
) -> None:
    """One sweep of iterative proportional fitting over the whole tree.

    `tables` are conditionals directed away from the root, the root's a marginal. `walk` visits every clique
    and carries the marginal along: entering clique k (code k >= 0) makes its table a marginal and its parent's
    a conditional; leaving it (code -k - 1) does the reverse. Where it enters, the clique is fitted to its targets.
    """
    for step in range(walk.shape[0]):
        k = walk[step] if walk[step] >= 0 else -walk[step] - 1
        a, n, up, m, c = cliques[k, 0], cliques[k, 1], cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up >= 0:
            here, there, p_here, p_there = cliques[up, 0], a, cliques[k, 6], cliques[k, 5]
            if walk[step] < 0:
                here, there, p_here, p_there = there, here, p_there, p_here
            separators[m : m + c] = 0.0
            sum_onto(tables, here, separators, m, projections[p_here], sizes, strides)
            multiply_back(tables, there, separators, m, projections[p_there], sizes, strides)
            for i in range(m, m + c):
                separators[i] = 1.0 / separators[i] if separators[i] > 1e-300 else 0.0
            multiply_back(tables, here, separators, m, projections[p_here], sizes, strides)
        if walk[step] < 0:
            continue
        for j in range(first_observed[k], first_observed[k + 1]):
            t, size, p = observed[j, 1], observed[j, 2], observed[j, 3]
            if not wanted[j]:
                continue
            ratios[:size] = 0.0
            sum_onto(tables, a, ratios, 0, projections[p], sizes, strides)
            for i in range(size):
                ratios[i] = targets[t + i] / ratios[i] if ratios[i] > 1e-300 else 0.0
            multiply_back(tables, a, ratios, 0, projections[p], sizes, strides)
        total = 0.0
        for i in range(a, a + n):
            total += tables[i]
        if total > 0.0:
            for i in range(a, a + n):
                tables[i] /= total


@njit(cache=True, nogil=True, fastmath=SUMS)
def balance(cells: Any, before: int, size: int, after: int, wanted: Any) -> None:
    """Shift every slice along one axis so that its positive cells come closer to their wanted sum.

    One Newton step on the slice's threshold: exact while the same cells stay positive.
    """
    sums = np.zeros(size)
    counts = np.zeros(size)
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


@njit(cache=True, nogil=True)
def charge(cells: Any, prices: Any, cliques: Any, projections: Any, sizes: Any, strides: Any) -> None:
    """Add every separator's price to the clique below it and take it off the clique above."""
    for k in range(cliques.shape[0]):
        up, m = cliques[k, 2], cliques[k, 3]
        if up >= 0:
            add_back(cells, cliques[k, 0], 1.0, prices, m, projections[cliques[k, 5]], sizes, strides)
            add_back(cells, cliques[up, 0], -1.0, prices, m, projections[cliques[k, 6]], sizes, strides)


@njit(cache=True, nogil=True)
def disagree(cells: Any, out: Any, cliques: Any, projections: Any, sizes: Any, strides: Any) -> None:
    """For every separator cell, what the clique below holds more than the clique above: the transpose of `charge`."""
    for k in range(cliques.shape[0]):
        up, m, c = cliques[k, 2], cliques[k, 3], cliques[k, 4]
        if up >= 0:
            sum_onto(cells, cliques[up, 0], out, m, projections[cliques[k, 6]], sizes, strides)
            for i in range(m, m + c):
                out[i] = -out[i]
            sum_onto(cells, cliques[k, 0], out, m, projections[cliques[k, 5]], sizes, strides)


@njit(cache=True, nogil=True)
def gather(cells: Any, out: Any, cliques: Any, projections: Any, sizes: Any, strides: Any) -> None:
    """For every separator cell, what both cliques hold together."""
    for k in range(cliques.shape[0]):
        up, m = cliques[k, 2], cliques[k, 3]
        if up >= 0:
            sum_onto(cells, cliques[up, 0], out, m, projections[cliques[k, 6]], sizes, strides)
            sum_onto(cells, cliques[k, 0], out, m, projections[cliques[k, 5]], sizes, strides)


@njit(cache=True, nogil=True, fastmath=SUMS)
def buy(cost: Any, values: Any, weights: Any, allowed: Any, bought: Any) -> float:
    """The least of 1/2 w (b - y)^2 + cost b over cells b >= 0, summed, and the cells; `allowed` may be empty."""
    total = 0.0
    for i in range(cost.size):
        cell = max(values[i] - cost[i] / weights[i], 0.0)
        if allowed.size and not allowed[i]:
            cell = 0.0
        bought[i] = cell
        total += 0.5 * weights[i] * (cell - values[i]) * (cell - values[i]) + cost[i] * cell
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def squares(weights: Any, left: Any, right: Any) -> float:
    """The sum of w (left - right)^2 over cells that weigh anything."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * (left[i] - right[i]) * (left[i] - right[i])
    return total


@njit(cache=True, nogil=True)
def yields(cells: Any, weights: Any, out: Any) -> None:
    """How much every cell gives way to its price: 1 / w while it is bought at all."""
    for i in range(cells.size):
        out[i] = 1.0 / weights[i] if cells[i] > 0.0 else 0.0
