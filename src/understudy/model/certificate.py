"""How good a fit is, and the proof: no distribution has a loss more than `gap` lower."""

from __future__ import annotations

from dataclasses import dataclass


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

    def __str__(self) -> str:
        state = "certified" if self.converged else "stopped"
        return (
            f"{state} after {self.steps} steps, {self.seconds:.3f} s: loss {self.loss:.6g}, "
            f"at most {self.gap:.3g} above the optimum"
        )
