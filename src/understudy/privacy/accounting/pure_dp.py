"""The privacy curve of pure differentially private answers, alone or beside Gaussians.

An answer that is epsilon-differentially private reveals at most what randomised response does, whose loss is
+epsilon or -epsilon; discrete Laplace noise on a count that moves by one is exactly that.
Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

# More values than this are shared out on an even grid.
_LONGEST = 2048


@dataclass(frozen=True)
class Atoms:
    """The loss of pure answers: finitely many values, each with its probability."""

    losses: np.ndarray = field(default_factory=lambda: np.zeros(1))
    masses: np.ndarray = field(default_factory=lambda: np.ones(1))

    @classmethod
    def of(cls, pure: Iterable[tuple[float, int]]) -> Atoms:
        """The summed loss of randomised responses, which bound pure answers and are discrete Laplace."""
        atoms = cls()
        for epsilon, count in pure:
            atoms = atoms._and(_responses(epsilon, count))
        return atoms

    def _and(self, other: Atoms) -> Atoms:
        losses = (self.losses[:, None] + other.losses[None, :]).ravel()
        masses = (self.masses[:, None] * other.masses[None, :]).ravel()
        return Atoms(losses, masses)._short()

    def _short(self) -> Atoms:
        """At most `_LONGEST` atoms: each shared between two even points so that both worlds keep their mass."""
        if len(self.losses) <= _LONGEST:
            return self
        grid = np.linspace(self.losses.min(), self.losses.max(), _LONGEST)
        step = grid[1] - grid[0]
        place = np.clip(((self.losses - grid[0]) / step).astype(np.int64), 0, _LONGEST - 2)
        over = np.clip(self.losses - grid[place], 0.0, step)
        upper = np.expm1(-over) / np.expm1(-step)
        masses = np.zeros(_LONGEST)
        np.add.at(masses, place, self.masses * (1 - upper))
        np.add.at(masses, place + 1, self.masses * upper)
        return Atoms(grid, masses)


def _responses(epsilon: float, count: int) -> Atoms:
    """Losses of `count` randomised responses: `heads` of them give +epsilon, the others -epsilon."""
    heads = np.arange(count + 1)
    tails = count - heads
    log_odds = -count * math.log1p(math.exp(-epsilon)) - tails * epsilon
    ways = np.array([_log_ways(count, int(head)) for head in heads])
    # room for the rounding of ln gamma
    masses = np.exp(log_odds + ways) * (1 + 1e-11 + 1e-14 * count)
    return Atoms((2 * heads - count) * epsilon, masses)._short()


def _log_ways(count: int, heads: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
