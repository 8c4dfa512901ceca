"""How much more discrete Gaussian noise reveals than continuous noise of the same scale.

In zCDP, nothing. In (epsilon, delta) a little, because the loss lives on a lattice: at scale 1, epsilon 8 is
really about 8.06. A cell of scale s whose count moves by one contributes a loss of size a = 1/s on a lattice of
spacing a^2. Three bounds, each proved in docs/privacy.md, "Accounting":

- paying: a discrete cell of scale s is all but a rounded continuous one of scale sqrt(s^2 - tau^2);
- riding: once some cells have paid, the others' lattices are smoothed away by them, at no cost in mu;
- the lattices themselves, summed, where few cells of small scale make the first two too costly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy.privacy.accounting.losses import Gaussian

# tau^2 of a paying cell: a larger one costs mu, a smaller one costs epsilon (2 exp(-2 pi^2 tau^2) a cell).
TAU2 = (1.25, 0.8, 0.5)
# What the riding cells may add to delta, as a factor on it.
_RIDE = 1e-9
# Room for the rounding of weights, scales and sums: relative, on mu^2.
ROOM = 1e-12
# Of which the square of a weight may exceed the largest that was promised by so much.
OF_WEIGHTS = 1e-13


@dataclass(frozen=True)
class Smooth:
    """A continuous Gaussian loss that bounds discrete ones: delta <= factor * delta_mu(epsilon - shift).

    `least` is what mu^2 would be if the noise were continuous; `payers` cells of known scale paid for it.
    """

    mu2: float
    least: float
    shift: float
    log_factor: float
    payers: int

    @property
    def mu(self) -> float:
        return math.sqrt(self.mu2)


def smooth(losses: Iterable[Gaussian], tau2: float) -> Smooth | None:
    """A continuous loss that bounds these batches together, or None where the scales are too small for one."""
    cells: Counter[float] = Counter()
    paid, error, least = 0.0, 0.0, 0.0
    for loss in losses:
        least += 1 / loss.sigma**2
        known = moved_cells(loss)
        if known is not None:
            cells.update(known)
            continue
        widest = loss.largest if loss.weights is None else max(loss.weights) ** 2
        room = loss.sigma**2 - tau2 * widest / loss.neighbours.l2**2
        if room <= 0:
            return None
        paid += 1 / room
        as_many = 1 / loss.largest if loss.weights is None else len(loss.weights)
        error += loss.neighbours.l1 * as_many * leak(tau2)
    spacings = np.array(sorted(cells))
    counts = np.array([cells[a2] for a2 in spacings.tolist()], dtype=np.int64)
    payers = _payers(spacings, counts, paid, tau2)
    if np.any(tau2 * spacings[payers > 0] >= 1):
        return None
    paid += float(np.sum(payers * spacings / np.where(payers > 0, 1 - tau2 * spacings, 1.0)))
    error += float(payers.sum()) * leak(tau2)
    excess = _ride(spacings, counts - payers, paid)
    mu2 = paid + float(np.sum((counts - payers) * spacings))
    if error > 0.1:
        return None
    return Smooth(mu2 * (1 + ROOM), least, 2.1 * error, error + excess, int(payers.sum()))


def moved_cells(loss: Gaussian) -> Counter[float] | None:
    """a^2 of each cell that a neighbour moves, when it moves each by exactly one; else None."""
    if loss.weights is None or loss.neighbours.records > 1:
        return None
    part = loss.neighbours.l1  # "replace" moves two cells of a marginal by one each
    counts = Counter(loss.weights)
    return Counter({weight**2 / (part * loss.sigma**2): part * count for weight, count in counts.items()})


def leak(tau2: float) -> float:
    """2 sum over n of exp(-2 pi^2 tau^2 n^2), with its tail."""
    return 2.001 * math.exp(-2 * math.pi**2 * tau2)


def _ride(spacings: np.ndarray, riders: np.ndarray, paid: float) -> float:
    """By how much, in ln delta, the lattices of riding cells can show through what was paid."""
    if not riders.any():
        return 0.0
    if paid <= 0:
        return math.inf
    share = paid / (paid + float(np.sum(riders * spacings)))
    return float(np.sum(riders * 2.5 * np.exp(-2 * math.pi**2 * share / spacings)))


def _payers(spacings: np.ndarray, counts: np.ndarray, paid: float, tau2: float) -> np.ndarray:
    """How many cells of each spacing must pay, the finest (cheapest) first: the more pay, the less show."""
    ends = np.cumsum(counts)
    low, high = 0, int(ends[-1]) if len(ends) else 0
    while low < high:
        middle = (low + high) // 2
        payers = np.clip(middle - (ends - counts), 0, counts)
        pay = float(np.sum(payers * spacings / np.maximum(1 - tau2 * spacings, 1e-9)))
        if _ride(spacings, counts - payers, paid + pay) <= _RIDE:
            high = middle
        else:
            low = middle + 1
    return np.asarray(np.clip(low - (ends - counts), 0, counts))
