"""How good a fit is, and the proof: no distribution has a loss more than `gap` lower.

For any numbers r, one an answer, convex duality gives L(p) >= -L*(r) + min over records x of (B^T r)(x) for every
distribution p: one min-sum pass over the tree. With r the gradient at the fit this is the familiar
`<grad, mu> - N min over x of grad(x)`; the dual of a proximal step is tighter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class OptimalityCertificate:
    """The loss of a fit after some steps, and a bound on how far above the optimum it is."""

    loss: float
    gap: float
    steps: int


Listener = Callable[[OptimalityCertificate], None]  # is told how a fit proceeds


@dataclass(frozen=True)
class FitReport:
    """What an estimation reached: the loss, a proven bound on what is left, and the work it took.

    `loss - gap` is below the loss of every distribution with the same total, whatever the noise was.
    """

    loss: float
    gap: float
    steps: int
    seconds: float
    converged: bool
    measured_cells: int
    tolerance: float

    @property
    def claim(self) -> str:
        """What is proven of the fit, in one line."""
        bound = f"its loss, {self.loss:.4g}, is at most {self.gap:.3g} above the least of any model"
        if self.converged:
            return f"certified: {bound}"
        return f"not certified: {bound}; {self.tolerance * self.measured_cells:.3g} would do"

    def __str__(self) -> str:
        state = "certified" if self.converged else "stopped"
        return (
            f"{state} after {self.steps} steps, {self.seconds:.3f} s: loss {self.loss:.6g}, "
            f"at most {self.gap:.3g} above the optimum"
        )
