"""The exact optimum when every clique of the tree was measured whole: a quadratic programme, by its dual.

Written over clique tables b >= 0 that agree on their separators, the least-squares problem separates cell by cell
once agreement has a price: lambda on every separator, r on every answer about a smaller marginal, nu on every
component's total. At prices c a cell is max(0, y - c / w): negative noise becomes an exact zero. The dual is
concave and piecewise quadratic; Newton's method on it, with conjugate gradients over the flat plan, ends after
a few steps, and its value is a proven lower bound on the loss of every distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from understudy.marginals import Measurement
from understudy.model import kernels, start
from understudy.model.certificate import Certificate
from understudy.model.observations import Observations
from understudy.model.plan import Floats
from understudy.model.propagation import Propagation

_CG_STEPS = 200
_CG_ACCURACY = 0.1
_HALVINGS = 30


def applies(observations: Observations) -> bool:
    """Whether every clique of the tree was measured directly and whole."""
    return set(observations.plan.tree.cliques) <= set(observations.direct)


class QuadraticProgramme:
    """The dual of one whole-clique problem, in shares of the total; `possible` is inf where a cell is forbidden."""

    def __init__(
        self,
        observations: Observations,
        measurements: Sequence[Measurement],
        total: float,
        possible: Floats | None,
    ) -> None:
        plan = self.plan = observations.plan
        tree = plan.tree
        whole = set(tree.cliques)
        partial = [m for m in measurements if m.query is not None or tree.domain.order(m.clique) not in whole]
        self.partial = Observations(tree, partial)
        self.propagation = Propagation(self.partial.plan)
        spans = plan.cliques[:, :2].tolist()
        places = {clique: slice(a, a + n) for clique, (a, n) in zip(tree.cliques, spans, strict=True)}
        self.values, self.weights = np.empty(plan.cells), np.empty(plan.cells)
        for clique, values, weights in observations.direct_measurements():
            if clique in whole:
                self.values[places[clique]] = values / total
                self.weights[places[clique]] = weights * total**2
        self.asked, self.scales = self.partial.values / total, self.partial.weights * total**2
        self.allowed = None if possible is None else np.isfinite(possible)
        self.roots = [places[tree.cliques[k]] for k in tree.roots]
        self.edges = plan.separator_cells
        self.answers = slice(self.edges, self.edges + self.partial.count)
        self.totals = slice(self.answers.stop, self.answers.stop + len(self.roots))
        self.steps = 0
        self._lifted = np.empty(plan.cells)
        self.prices = np.zeros(self.totals.stop)
        self.bound, self.cells = self.value(self.prices)

    def loss(self, tables: Floats) -> float:
        """The loss of clique tables that agree with one another (without what merging measurements left over)."""
        apart = self.partial.answers(self.propagation, tables) - self.asked
        squares = float(np.dot(self.scales * apart, apart))
        return 0.5 * (float(np.dot(self.weights, np.square(tables - self.values))) + squares)

    def advance(self, accuracy: float) -> bool:
        """Take one Newton step on the prices; False when none improves the bound."""
        gradient = self.slope(self.prices, self.cells)
        direction = self.direction(gradient, self.cells, accuracy)
        rise = float(gradient @ direction)
        length = 1.0
        for _ in range(_HALVINGS):
            prices = self.prices + length * direction
            bound, cells = self.value(prices)
            if bound >= self.bound + 1e-4 * length * rise:
                self.prices, self.bound, self.cells = prices, bound, cells
                return True
            length *= 0.5
        return False

    def lift(self, prices: Floats) -> Floats:
        """What every cell pays: the prices carried from separators, answers and totals to the cliques."""
        cells = self._lifted
        cells[:] = 0.0
        kernels.charge(cells, prices, self.plan.cliques, *self.plan.shapes)
        self.partial.blame(self.propagation, 1.0, prices[self.answers], cells)
        for place, price in zip(self.roots, prices[self.totals].tolist(), strict=True):
            cells[place] += price
        return cells

    def drop(self, cells: Floats, out: Floats) -> Floats:
        """The transpose of `lift`: disagreement on separators, answers, totals."""
        out[: self.edges] = 0.0
        kernels.disagree(cells, out, self.plan.cliques, *self.plan.shapes)
        out[self.answers] = self.partial.answers(self.propagation, cells)
        out[self.totals] = [cells[place].sum() for place in self.roots]
        return out

    def value(self, prices: Floats) -> tuple[float, Floats]:
        """The dual value, and the cells it buys."""
        cost = self.lift(prices)
        cells = self.values - cost / self.weights
        bought = np.maximum(cells, 0.0)
        if self.allowed is not None:
            bought *= self.allowed
        r = prices[self.answers]
        value = 0.5 * float(np.dot(self.weights, np.square(bought - self.values))) + float(np.dot(cost, bought))
        value -= float(np.dot(r, 0.5 * r / self.scales + self.asked)) + float(prices[self.totals].sum())
        self.steps += 1
        return value, bought

    def slope(self, prices: Floats, cells: Floats) -> Floats:
        gradient = self.drop(cells, np.empty_like(prices))
        gradient[self.answers] -= self.asked + prices[self.answers] / self.scales
        gradient[self.totals] -= 1.0
        return gradient

    def direction(self, gradient: Floats, cells: Floats, accuracy: float) -> Floats:
        """Newton's direction on the cells that are bought now."""
        open_cells = np.where(cells > 0.0, 1.0 / self.weights, 0.0)
        diagonal = np.empty_like(gradient)
        diagonal[: self.edges] = 0.0
        kernels.gather(open_cells, diagonal, self.plan.cliques, *self.plan.shapes)
        diagonal[self.answers] = self.partial.diagonal(self.propagation, open_cells) + 1.0 / self.scales
        diagonal[self.totals] = [open_cells[place].sum() for place in self.roots]
        least = 1e-9 * float(diagonal.max())
        np.maximum(diagonal, least, out=diagonal)
        solution = np.zeros_like(gradient)
        residual = gradient.copy()
        preconditioned = residual / diagonal
        step = preconditioned.copy()
        image = np.empty_like(step)
        energy = first = float(residual @ preconditioned)
        for _ in range(_CG_STEPS):
            if energy <= accuracy**2 * first:
                break
            cost = self.lift(step)
            cost *= open_cells
            self.drop(cost, image)
            image[self.answers] += step[self.answers] / self.scales
            image += least * step
            self.steps += 1
            length = energy / float(step @ image)
            solution += length * step
            residual -= length * image
            np.divide(residual, diagonal, out=preconditioned)
            before, energy = energy, float(residual @ preconditioned)
            step *= energy / before
            step += preconditioned
        return solution


def solve(
    programme: QuadraticProgramme,
    marginals: Floats,
    *,
    target: float,
    fine: float,
    patience: int,
    limit: int,
    callback: Callable[[Certificate], None] | None,
) -> tuple[Floats, Certificate]:
    """The best clique marginals found, from `marginals` on, and their certificate.

    A dual step's cells nearly agree on the separators; fitted to the tree in proportion they do exactly, and
    their loss less the dual value is the gap.
    """
    plan = programme.plan
    loss = programme.loss(marginals)
    failures = 0
    while True:
        found = Certificate(loss, max(loss - programme.bound, 0.0), programme.steps)
        if callback is not None:
            callback(found)
        enough = found.gap <= fine or (found.gap <= target and programme.steps >= patience)
        if enough or programme.steps >= limit or failures >= 3:
            return marginals, found
        before = programme.bound
        moved = programme.advance(_CG_ACCURACY if failures == 0 else 1e-3)
        tables = start.joined(plan, programme.cells)
        reached = programme.loss(tables)
        better = reached < loss
        if better:
            marginals, loss = tables, reached
        rise = programme.bound - before
        failures = 0 if moved and (better or rise > 1e-3 * found.gap) else failures + 1
