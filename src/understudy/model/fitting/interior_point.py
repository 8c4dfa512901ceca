"""The quadratic programme of a small model, solved whole: a primal-dual interior-point method on dense matrices.

Conjugate gradients stall where scales differ by many powers of ten; a direct solution does not. Clique tables b >= 0
agree on their separators and sum to one (A b = c); each answer has a price r = w (B b - y), each cell a dual z >= 0.
A step solves

    [ z/b   B^T   A^T ]
    [ B    -1/w    0  ]     for the changes of b, r and the prices of agreement,
    [ A      0     0  ]

twice (Mehrotra's predictor and corrector; after a step that gained nothing, a plain one without corrector). Entries
are near one whatever the scales: only the diagonal varies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.model.fitting.least_squares_loss import LeastSquares
from understudy.model.tree.projection_kernels import add_back
from understudy.model.tree.tree_layout import Floats, TreeLayout

SMALL = 800  # unknowns that are solved in about a second
LARGEST = 1_500  # unknowns that are solved in some seconds: for models on which all else stalls
_STEPS = 60
_SHY = 0.995  # of the way to the first cell that would become negative
_LEAST = 1e-30  # of the duality at the start: beyond it numbers say no more
_FALLS = 0.9  # of the least duality so far: a step that leaves more is followed by a plain one, without a corrector
_SHARE = 0.1  # of what is enough that the duality may be at the end
_REFINEMENTS = 2
_RIDGE = 1e-14

Solver = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Clique tables near the optimum, the price of every answer, and the steps it took."""

    cells: Floats
    dual: Floats
    steps: int


def unknowns(problem: LeastSquares) -> int:
    """How many numbers a step solves for."""
    layout = problem.observations.layout
    return layout.cells + problem.observations.count + layout.separator_cells + len(layout.tree.roots)


def interior_point(problem: LeastSquares, start: Floats, enough: float) -> InteriorPoint:
    """The optimum of a small model, from clique tables to start near, to a loss of about `enough` above the least.

    How far to go is told by what is left, never by how far it is from the start: of a start whose loss is 1e14 above
    the optimum even a part in 1e15 is too much.
    """
    layout = problem.observations.layout
    asked, agree, totals = _answers(problem), *_agreement(layout)
    kept = np.ones(layout.cells, bool) if problem.possible is None else np.isfinite(problem.possible)
    asked, agree = asked[:, kept], agree[:, kept]
    n, m, k = int(kept.sum()), problem.values.size, totals.size
    cells = np.maximum(start[kept], 1e-3 / layout.cells)
    steepest = problem.gradient(asked @ cells)  # the loss in units that make prices near one, as cells are
    size = max(float(np.abs(asked.T @ steepest).max(initial=0.0)), 1e-300)
    weights, dual = problem.weights / size, steepest / size
    prices, slack = np.zeros(k), np.ones(n)
    matrix = np.zeros((n + m + k, n + m + k))
    matrix[n : n + m, :n], matrix[:n, n : n + m] = asked, asked.T
    matrix[n + m :, :n], matrix[:n, n + m :] = agree, agree.T
    across = np.arange(n + m + k)
    matrix[across[n : n + m], across[n : n + m]] = -1.0 / weights
    first = float(cells @ slack)
    steps, least = 0, np.inf
    while steps < _STEPS:
        duality = float(cells @ slack)
        if not (duality * size > _SHARE * enough and duality > _LEAST * first):
            break
        matrix[across[:n], across[:n]] = slack / cells
        left = np.concatenate(
            [
                slack - asked.T @ dual - agree.T @ prices,
                problem.values + dual / weights - asked @ cells,
                totals - agree @ cells,
            ]
        )
        steps += 1
        solve = _factored(matrix)
        if solve is None:
            break
        step, back = _change(solve, left, cells, slack, slack, n)
        reach = _reach(cells, step[:n]), _reach(slack, back)
        ahead = float((cells + reach[0] * step[:n]) @ (slack + reach[1] * back))
        centre, beyond = (ahead / duality) ** 3 * duality / n, step[:n] * back
        if duality > _FALLS * least:  # the correction overshoots, and may do so for ever in a circle
            centre, beyond = 0.5 * duality / n, np.zeros(n)
        least = min(least, duality)
        target = slack - (centre - beyond) / cells
        step, back = _change(solve, left, cells, slack, target, n)
        if not (np.isfinite(step).all() and np.isfinite(back).all()):
            break
        length = min(_SHY * _reach(cells, step[:n]), _SHY * _reach(slack, back), 1.0)
        cells, slack = cells + length * step[:n], slack + length * back
        dual, prices = dual + length * step[n : n + m], prices + length * step[n + m :]
    dual = dual + _restored(asked, agree, weights, slack - asked.T @ dual - agree.T @ prices)
    whole = np.zeros(layout.cells)
    whole[kept] = cells
    return InteriorPoint(whole, dual * size, steps)


def _restored(asked: Floats, agree: Floats, weights: Floats, left: Floats) -> Floats:
    """The least change of the answers' prices after which B^T r + A^T p is the slack again, to the last digit.

    Where scales differ by 1e16 a step solves for that no better than a part of a unit, and a bound is as loose as the
    worst cell. Prices of answers that weigh much may change freely: it costs the bound next to nothing.
    """
    ease = np.sqrt(np.maximum(weights / weights.max(initial=1e-300), 1e-16))
    try:
        change = np.linalg.lstsq(np.hstack([asked.T * ease, agree.T]), left, rcond=None)[0]
    except np.linalg.LinAlgError:
        return np.zeros_like(weights)
    return np.asarray(ease * change[: weights.size], np.float64)


def _change(
    solve: Solver, left: Floats, cells: Floats, slack: Floats, target: Floats, n: int
) -> tuple[Floats, Floats]:
    """The step of all unknowns, and that of the slacks: z + dz = z - target - (z/b) db."""
    right = left.copy()
    right[:n] -= target
    step = solve(right)
    return step, -target - slack / cells * step[:n]


def _factored(matrix: Floats) -> Solver | None:
    """What solves a system with this symmetric matrix; None when nothing does."""
    size = np.sqrt(np.maximum(np.abs(np.diagonal(matrix)), 1.0))
    scaled = matrix / np.multiply.outer(size, size)
    across = np.arange(size.size)
    signs = np.where(np.diagonal(matrix) > 0.0, 1.0, -1.0)
    scaled[across, across] += _RIDGE * signs
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None

    def solve(right: Floats) -> Floats:
        wanted = right / size
        found = inverse @ wanted
        for _ in range(_REFINEMENTS):
            found += inverse @ (wanted - scaled @ found)
        return np.asarray(found / size, np.float64)

    return solve


def _reach(values: Floats, step: Floats) -> float:
    """How much of a step leaves every value positive, at most all of it."""
    falling = step < 0.0
    return min(1.0, float((-values[falling] / step[falling]).min(initial=1.0)))


def _answers(problem: LeastSquares) -> Floats:
    """The matrix from cells to answers."""
    matrix = np.zeros((problem.observations.count, problem.observations.layout.cells))
    unit = np.zeros(problem.observations.count)
    for i, row in enumerate(matrix):
        unit[i] = 1.0
        problem.observations.add_transpose(problem.propagation, 1.0, unit, row)
        unit[i] = 0.0
    return matrix


def _agreement(layout: TreeLayout) -> tuple[Floats, Floats]:
    """The matrix and the right side of what makes tables a distribution: separators agree, components sum to one."""
    roots = layout.tree.roots
    matrix = np.zeros((layout.separator_cells + len(roots), layout.cells))
    unit = np.zeros(layout.separator_cells)
    for a, _, above, first, width, down, up in layout.cliques.tolist():
        for i in range(first, first + width) if above >= 0 else ():
            unit[i] = 1.0
            add_back(matrix[i], a, 1.0, unit, first, down, layout.shapes)
            add_back(matrix[i], int(layout.cliques[above, 0]), -1.0, unit, first, up, layout.shapes)
            unit[i] = 0.0
    for i, k in enumerate(roots):
        a, n = layout.cliques[k, :2].tolist()
        matrix[layout.separator_cells + i, a : a + n] = 1.0
    right = np.zeros(matrix.shape[0])
    right[layout.separator_cells :] = 1.0
    return matrix, right
