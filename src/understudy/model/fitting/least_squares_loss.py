"""The paper's objective and its convex dual, in shares of the total."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.model.fitting.observations import Observations
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """1/2 sum w (B p - y)^2 over tables p that sum to one; `possible` is inf where a cell is forbidden."""

    observations: Observations
    propagation: Propagation
    values: Floats
    weights: Floats
    possible: Floats | None

    def loss(self, answers: Floats) -> float:
        difference = answers - self.values
        return 0.5 * float(dot(self.weights * difference, difference))

    def gradient(self, answers: Floats) -> Floats:
        return self.weights * (answers - self.values)

    def lower_bound(self, dual: Floats, spare: Floats) -> float:
        """A lower bound on the loss of every distribution, for any `dual`: -L*(r) + min over records of B^T r."""
        spare[:] = 0.0
        self.observations.add_transpose(self.propagation, 1.0, dual, spare)
        if self.possible is not None:
            spare += self.possible
        conjugate = float(dot(dual, 0.5 * dual / self.weights + self.values))
        return self.propagation.cheapest(spare) - conjugate
