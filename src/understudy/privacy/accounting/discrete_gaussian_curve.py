"""The privacy curve of few discrete Gaussian cells, on their own lattices.

A cell of scale s whose count moves by one has the loss (1/2 - x) h at noise x, with h = 1/s^2. The curve of one
cell is taken at the worst offset of its lattice, so that it falls as noise grows; cells of one spacing then add up
to a lattice again. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.compiled import njit
from understudy.privacy.accounting.discretisation import ROOM, TAU2, leak, moved_cells
from understudy.privacy.accounting.losses import Gaussian

_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_KINDS = 24
_LONGEST = 20_000


@njit(cache=True, nogil=True)
def _at_offset(h: float, epsilon: float, offset: float) -> float:
    """The sum, over lattice points l above epsilon, of their mass times 1 - e^(epsilon - l)."""
    mu = math.sqrt(h)
    at = (epsilon + offset - h / 2) / mu
    if at > 38:
        return 5e-324
    skip = max(0.0, math.floor((-37 - at) / mu))  # points so low that they have no mass
    at, over = at + skip * mu, offset + skip * h
    mass = mu / _ROOT_TWO_PI * math.exp(-0.5 * at * at)
    ratio, change = math.exp(-mu * at - 0.5 * h), math.exp(-h)
    total, left, step = 0.0, math.exp(-over), math.exp(-h)
    while mass > 0:
        total += mass * (1 - left) if left < 0.9 else mass * -math.expm1(-over)
        if ratio < 1 and mass < 1e-18 * total * (1 - ratio):
            break
        mass, ratio, left, over = mass * ratio, ratio * change, left * step, over + h
    return max(total, 5e-324)


@njit(cache=True, nogil=True)
def _top_of_parabola(h: float, epsilon: float) -> float:
    """The largest sum over offsets where many points count: it is all but a parabola in the offset."""
    left, right = _at_offset(h, epsilon, 0.25 * h), _at_offset(h, epsilon, 0.75 * h)
    middle = _at_offset(h, epsilon, 0.5 * h)
    bend = left - 2 * middle + right
    turn = 0.5 + 0.125 * (left - right) / bend if bend < 0 else 0.5
    return float(max(left, middle, right, _at_offset(h, epsilon, min(max(turn, 0.0), 1.0) * h)))


@njit(cache=True, nogil=True)
def _top_of_any(h: float, epsilon: float) -> float:
    """The largest sum over offsets where few points count, by narrowing."""
    low, high, best = 0.0, h, 0.0
    for _ in range(3):
        top, width = low, (high - low) / 8
        for j in range(9):
            value = _at_offset(h, epsilon, low + j * width)
            if value > best:
                best, top = value, low + j * width
        low, high = max(top - width, 0.0), min(top + width, h)
    return best


@njit(cache=True, nogil=True)
def cell_curve(h: float, epsilons: np.ndarray) -> np.ndarray:
    """The curve of one cell whose lattice has spacing h, at its true offset or the worst, the larger."""
    out = np.empty(len(epsilons))
    for i in range(len(epsilons)):
        e = epsilons[i]
        best = _at_offset(h, e, (h / 2 - e) % h)
        top = _top_of_parabola(h, e) if e < 0.5 + h / 2 else _top_of_any(h, e)
        best = max(best, top)
        out[i] = min(1.0, best * (1 + 1e-11))
    return out


@dataclass(frozen=True)
class Lattice:
    """`cells` cells of one spacing: their summed loss is all but a discrete Gaussian."""

    spacing: float
    cells: int

    @property
    def mu2(self) -> float:
        return self.spacing * self.cells

    def atoms(self, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """The values of the summed loss, and bounds on their probabilities; `offset`, in spacings, moves both."""
        h, mu2 = self.spacing, self.mu2
        mu = math.sqrt(mu2)
        if 51 * mu / h > _LONGEST:
            return self._smooth_atoms()
        low, high = math.floor(-12 * mu / h), math.ceil(39 * mu / h)
        losses = mu2 / 2 + h * (offset + np.arange(low, high + 1))
        at = (losses - mu2 / 2) / mu
        showing = 2.5 * (self.cells - 1) * math.exp(-2 * math.pi**2 / mu2)
        masses = h / mu / _ROOT_TWO_PI * np.exp(-0.5 * at * at) * math.exp(showing + 1e-12)
        masses[0] += 1e-31  # all that lies lower still
        return losses, masses

    def _smooth_atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """A loss of fewer values for a lattice too fine to list: its cells pay, which costs them nothing to speak of.

        The values are those at which chords of the continuous curve change slope, so their curve lies above it.
        """
        from understudy.privacy.accounting.bounded_range import gaussian_curve

        mu2, error = self.mu2 / (1 - TAU2[0] * self.spacing), self.cells * leak(TAU2[0])
        mu = math.sqrt(mu2)
        step = mu / 400
        losses = np.asarray(mu2 / 2 + step * np.arange(-12.0 * 400, 39 * 400), np.float64)
        values = gaussian_curve(mu, losses)
        rises = np.diff(values)
        masses = np.empty(len(values) + 1)
        masses[1:-2] = rises[1:] / math.expm1(step) + rises[:-1] / math.expm1(-step)
        masses[0] = rises[0] / math.expm1(step) + (1 - values[0])
        masses[-2:] = rises[-1] / math.expm1(-step), values[-1]
        losses = np.append(losses + 2.1 * error, math.inf)
        return losses, np.maximum(masses, 0.0) * math.exp(error + 1e-11)


def lattices(losses: Sequence[Gaussian]) -> tuple[Lattice, ...] | None:
    """The lattices of these batches, coarsest first, or None where they are not known or too many."""
    cells: Counter[float] = Counter()
    for loss in losses:
        known = moved_cells(loss)
        if known is None:
            return None
        cells.update(known)
    found: list[Lattice] = []
    for spacing, count in sorted(cells.items()):
        if found and spacing <= found[-1].spacing * (1 + 1e-12):
            found[-1] = Lattice(spacing, found[-1].cells + count)
        else:
            found.append(Lattice(spacing, count))
    small = all(lattice.cells == 1 or lattice.mu2 < 15 for lattice in found)
    if not (0 < len(found) <= _KINDS and small):
        return None
    return tuple(Lattice(lattice.spacing * (1 + ROOM), lattice.cells) for lattice in reversed(found))
