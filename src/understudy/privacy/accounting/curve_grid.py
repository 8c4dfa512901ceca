"""A privacy curve kept by its values on an even grid of epsilons, and what questions do to it.

Between grid points the curve is straight in e^epsilon, which lies above it, since privacy curves are convex there.
Below the grid it is taken as 1, beyond it as its last value. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_HARDLY = 1e-60  # a probability that adds nothing to any delta


@dataclass(frozen=True)
class CurveGrid:
    """A curve by its values on even epsilons `first + i step`, straight in e^epsilon between them."""

    first: float
    step: float
    values: np.ndarray

    @property
    def epsilons(self) -> np.ndarray:
        return self.first + self.step * np.arange(len(self.values))

    def at(self, epsilons: np.ndarray) -> np.ndarray:
        """The curve at these epsilons, or above it: 1 below the grid, the last value beyond it."""
        place = np.floor((epsilons - self.first) / self.step)
        inside = np.clip(place, 0, len(self.values) - 2).astype(np.int64)
        over = np.minimum(epsilons - self.first - inside * self.step, self.step)
        part = np.expm1(over) / math.expm1(self.step)
        chord = self.values[inside] + np.clip(part, 0, 1) * (self.values[inside + 1] - self.values[inside])
        return np.where(place < 0, 1.0, chord)

    def after_responses(self, epsilon: float) -> CurveGrid:
        """The curve from one randomised response on."""
        heads = 1 / (1 + math.exp(-epsilon))
        values = heads * self.at(self.epsilons - epsilon) + (1 - heads) * self.at(self.epsilons + epsilon)
        return CurveGrid(self.first, self.step, np.minimum(1.0, values * (1 + 1e-13)))

    def after_atoms(self, losses: np.ndarray, masses: np.ndarray) -> CurveGrid:
        """The curve from a loss with these values and probabilities on, each value shared by two grid points.

        Sharing keeps the mass of both worlds, and moves it outward: so it bounds the loss from above.
        """
        size = len(self.values)
        span = self.step * (size - 1)
        # From here every point of the grid falls below it, where the curve is 1; what hardly ever is counts as that.
        beyond = (losses >= span) | (masses < _HARDLY)
        sure = float(masses[beyond].sum())
        losses, masses = np.maximum(losses[~beyond], -span), masses[~beyond]
        place = np.floor(losses / self.step)
        upper = np.clip(np.expm1(place * self.step - losses) / math.expm1(-self.step), 0, 1)
        index = place.astype(np.int64)
        first = int(index.min())
        kernel = np.bincount(index - first, masses * (1 - upper), int(index.max()) - first + 2)
        kernel[1:] += np.bincount(index - first, masses * upper, len(kernel) - 1)
        below, above = max(first + len(kernel) - 1, 0), max(-first, 0)
        padded = np.concatenate((np.ones(below), self.values, np.full(above, self.values[-1])))
        # new[i] = sum over j of kernel[j] * old[i - first - j]
        filled = np.flatnonzero(kernel)
        if 2 * len(filled) > len(kernel):
            reached = padded[below - first - len(kernel) + 1 :][: size + len(kernel) - 1]
            moved = np.convolve(reached, kernel, "valid") + sure
        else:  # a lattice wider than the grid's steps
            moved = np.full(size, sure)
            for j, mass in zip(filled.tolist(), kernel[filled].tolist(), strict=True):
                moved += mass * padded[below - first - j :][:size]
        return CurveGrid(self.first, self.step, np.minimum(1.0, moved * (1 + 1e-12)))

    def after_gaussian(self, mu: float, epsilon: float) -> float:
        """The curve at one epsilon, from a Gaussian loss of size mu on.

        The curve is a sum of hinges (1 - e^(epsilon - l))_+ at the grid points l, one for each change of slope;
        a Gaussian turns a hinge into its own curve, moved by l.
        """
        from understudy.privacy.accounting.bounded_range import gaussian_curve

        if mu <= 0:
            return float(self.at(np.array([epsilon]))[0])
        values = np.concatenate(([1.0, 1.0], self.values, self.values[-1:]))
        rises = np.diff(values)
        hinges = rises[1:] / math.expm1(self.step) + rises[:-1] / math.expm1(-self.step)
        points = self.first + self.step * np.arange(-1.0, len(self.values))
        at = np.asarray(epsilon - points, np.float64)
        return float(np.dot(hinges, gaussian_curve(mu, at)) + self.values[-1])
