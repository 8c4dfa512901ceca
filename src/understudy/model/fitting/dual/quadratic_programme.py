"""The optimum as a quadratic programme over the tree's tables, by its dual.

Written over clique tables b >= 0 that agree on their separators, the least-squares problem separates cell by cell
once agreement has a price: lambda on every separator, r on every answer about a smaller marginal, nu on every
component's total. At prices c a cell is max(0, y - c / w): negative noise becomes an exact zero. The dual is
concave and piecewise quadratic; Newton's method on it, with conjugate gradients over the flat layout, ends after
a few steps.

A clique that was not measured whole has no y and w of its own: it is held, weakly, to where it was
before, and let go again and again (the proximal-point method), which ends at the same optimum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.marginals import Measurement
from understudy.model.fitting.conjugate_gradients import conjugate_gradients
from understudy.model.fitting.dual.dual_hessian import Hessian
from understudy.model.fitting.observations import Observations
from understudy.model.tree import propagation_kernels
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats

_CG_STEPS = 1_000
_REACH = 64  # of these, while the held cells that are bought still change from step to step
_HALVINGS = 30
_DOUBLINGS = 60
_HOLD = 0.1  # how strongly an unmeasured clique is held, against the measurements inside it
_LOOSEN = 0.5
_LOOSEST = 1e-7


class QuadraticProgramme:
    """The dual in shares of the total; cliques not measured whole are held to `centre`."""

    def __init__(
        self,
        observations: Observations,
        measurements: Sequence[Measurement],
        total: float,
        possible: Floats | None,
        centre: Floats,
        limit: int,
    ) -> None:
        layout = self.layout = observations.layout
        tree = layout.tree
        self.observations = observations
        self.whole = set(tree.cliques) & set(observations.direct)
        partial = [
            m for m in measurements if m.query is not None or tree.domain.order(m.clique) not in self.whole
        ]
        self.partial = Observations(tree, partial)
        self.propagation = Propagation(self.partial.layout)
        self.asked, self.scales = self.partial.values / total, self.partial.weights * total**2
        spans = layout.cliques[:, :2].tolist()
        self.places = {c: slice(a, a + n) for c, (a, n) in zip(tree.cliques, spans, strict=True)}
        self.values, self.weights = centre.copy(), np.zeros(layout.cells)
        for clique, values, weights in observations.direct_measurements():
            if clique in self.whole:
                self.values[self.places[clique]] = values / total
                self.weights[self.places[clique]] = weights * total**2
        self.free = self.weights == 0.0
        self.true_weights = self.weights
        if self.free.any():
            self.true_weights = self.weights.copy()
            self.weights[self.free] = self._hold()[self.free]
        self.firmness = 1.0
        self.damping = 1e-9
        self.limit = limit
        self.held = self._any_held()
        self.reach = _REACH if self.held else _CG_STEPS
        self.allowed = np.zeros(0, np.bool_) if possible is None else np.isfinite(possible)
        self.edges = layout.separator_cells
        self.answers = slice(self.edges, self.edges + self.partial.count)
        self.totals = slice(self.answers.stop, self.answers.stop + len(tree.roots))
        self.hessian = Hessian(self.partial.layout, self.partial)
        self.steps = 0
        self._cut_short = False
        self._yielding = np.empty(layout.cells)
        self.prices = np.zeros(self.totals.stop)
        self.cells, self._spare = np.zeros(layout.cells), np.zeros(layout.cells)
        self._again()

    def _hold(self) -> Floats:
        """A weight for every cell: what the answers about its clique would weigh, spread over its cells.

        Of answers with very unequal scales the usual one counts: held by the most exact, nothing could move.
        """
        felt = np.zeros(self.layout.cells)
        self.partial.add_transpose(self.propagation, _HOLD, self.scales, felt)
        felt = np.abs(felt)
        known = felt[felt > 0] if (felt > 0).any() else self.weights[~self.free]
        usual = float(known.mean()) if known.size else 1.0
        asked = np.abs(self.partial.to_cells(self.scales))
        means: dict[int, list[float]] = {}
        for home, at, size in self.partial.layout.places:
            means.setdefault(home, []).append(max(float(asked[at : at + size].mean()), 1e-300))
        for k, place in enumerate(self.places.values()):
            mean = float(felt[place].mean())
            apart = float(np.exp(np.log(means[k]).mean()) / np.mean(means[k])) if k in means else 1.0
            felt[place] = mean * apart if mean > 0 else usual
        return felt

    def _any_held(self) -> bool:
        """Whether a clique that was not measured whole matters: one alone and never asked about does not."""
        tree = self.layout.tree
        asked = {home for home, _, _ in self.partial.layout.places}
        return any(
            clique not in self.whole and (k in asked or tree.parent[k] >= 0 or tree.children[k])
            for k, clique in enumerate(tree.cliques)
        )

    def recentre(self, *, looser: bool) -> None:
        """Hold the cliques that were not measured whole to where they are now, less firmly or more."""
        change = _LOOSEN if looser else 1.0 / _LOOSEN
        if _LOOSEST < self.firmness * change <= 1.0:
            self.firmness *= change
            self.weights[self.free] *= change
        # No share of a distribution is above one: cells that are far from agreeing would carry the centre off.
        self.values[self.free] = np.minimum(self.cells[self.free], 1.0)
        self._again()

    def hold_at(self, centre: Floats) -> None:
        """Hold the cliques that were not measured whole to these tables."""
        self.values[self.free] = centre[self.free]
        self._again()

    def _again(self) -> None:
        """Evaluate the dual at the present prices, after what it depends on has changed."""
        self._move(self.prices, *self.value(self.prices))

    def loss(self, tables: Floats) -> float:
        """The loss of clique tables that agree with one another (without what merging measurements left over)."""
        apart = self.partial.answers(self.propagation, tables) - self.asked
        squares = dot(self.scales * apart, apart)
        return float(0.5 * (propagation_kernels.squares(self.true_weights, tables, self.values) + squares))

    def disagreement(self) -> tuple[float, float]:
        """How far the cells are from a distribution: the largest error of a separator or total; the loss at stake."""
        rest = np.concatenate([self.gradient[: self.edges], self.gradient[self.totals]])
        apart = self.gradient[self.answers]
        return float(np.abs(rest).max()), float(0.5 * dot(self.scales * apart, apart))

    def dual(self) -> Floats:
        """The price of every answer, in the order of all observations: a point to certify with."""
        parts = []
        start = self.edges
        for clique in self.observations.direct:
            place = self.places.get(clique)
            if clique in self.whole and place is not None:
                parts.append(self.weights[place] * (self.cells[place] - self.values[place]))
            else:
                size = self.layout.tree.domain.size(clique)
                parts.append(self.prices[start : start + size])
                start += size
        return np.concatenate([*parts, self.prices[start : self.answers.stop]])

    @np.errstate(over="ignore", invalid="ignore")  # a trial may leave what numbers can hold: it is no gain
    def advance(self, accuracy: float) -> bool:
        """Take one Newton step on the prices; False when none improves the bound."""
        gradient = self.gradient
        direction = self.direction(gradient, self.cells, accuracy)
        rise = float(dot(gradient, direction))
        length = 1.0
        for _ in range(_HALVINGS):
            prices = self.prices + length * direction
            bound, gradient, cells = self.value(prices)
            if np.inf > bound >= self.bound + 1e-4 * length * rise:
                self.damping = (
                    max(self.damping * 0.1, 1e-10) if length == 1.0 else min(self.damping * 30, 0.1)
                )
                self._trust(length == 1.0 and bound - self.bound >= 0.375 * rise)
                self._move(prices, bound, gradient, cells)
                self._stride(direction, length, rise)
                return True
            length *= 0.5
        self.damping = min(self.damping * 1e3, 0.1)
        return False

    def _trust(self, good: bool) -> None:
        """Allow the next direction more steps if this one, cut short, rose as predicted (by half its slope)."""
        if self.held and good and self._cut_short:
            self.reach = min(2 * self.reach, _CG_STEPS)
        elif self.held and not good:
            self.reach = max(self.reach // 2, _REACH // 2)

    def _move(self, prices: Floats, bound: float, gradient: Floats, cells: Floats) -> None:
        if cells is self._spare:
            self._spare = self.cells
        self.prices, self.bound, self.gradient, self.cells = prices, bound, gradient, cells

    def _stride(self, direction: Floats, length: float, rise: float) -> None:
        """Go on, by doubled steps, while the dual rises as steeply: where all cells are zero nothing curves."""
        for _ in range(_DOUBLINGS):
            if not dot(self.gradient, direction) > 0.5 * rise:
                return
            prices = self.prices + length * direction
            bound, gradient, cells = self.value(prices)
            if not np.inf > bound > self.bound:
                return
            self._move(prices, bound, gradient, cells)
            length *= 2.0

    def value(self, prices: Floats) -> tuple[float, Floats, Floats]:
        """The dual value, its gradient (how far cells are from agreeing) and the cells (in the spare)."""
        bought, gradient, r = self._spare, np.empty_like(prices), prices[self.answers]
        with self.hessian.threads():
            value = self.hessian.evaluate(prices, self.values, self.weights, self.allowed, bought, gradient)
        value -= dot(r, 0.5 * r / self.scales + self.asked) + float(prices[self.totals].sum())
        gradient[self.answers] -= self.asked + r / self.scales
        gradient[self.totals] -= 1.0
        self.steps += 1
        return float(value), gradient, bought

    def direction(self, gradient: Floats, cells: Floats, accuracy: float) -> Floats:
        """Newton's direction, with the cells that are positive now."""
        yielding = self._yielding
        diagonal = np.empty_like(gradient)
        with self.hessian.threads():
            self.hessian.diagonal(cells, self.weights, yielding, diagonal)
        diagonal[self.answers] += 1.0 / self.scales
        moving = diagonal > 0.0
        least = np.where(
            moving, self.damping * diagonal, float(np.median(diagonal[moving])) if moving.any() else 1.0
        )
        image = np.empty_like(gradient)
        ridge = least.copy()
        ridge[self.answers] += 1.0 / self.scales
        with self.hessian.threads():

            def apply(step: Floats) -> Floats:
                self.hessian.apply(step, yielding, image)
                return image

            scale = np.maximum(diagonal, least)
            most = min(self.reach, max(self.limit - self.steps, 1))
            solution, taken = conjugate_gradients(apply, ridge, gradient, scale, accuracy, most)
        self._cut_short = taken == self.reach
        self.steps += taken
        return solution
