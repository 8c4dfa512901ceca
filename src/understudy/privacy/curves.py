"""The privacy curve of a whole plan: delta at any epsilon, for Gaussians, choices and pure answers together.

Read backwards in time, every question turns the curve of what follows it into the curve from it on. Gaussians and
pure answers do so linearly, so among themselves their order does not matter. A choice takes a maximum, which an
earlier question can only make larger (the maximum inside its average). So every plan is bounded by

    everything up to the last choice, then all choices in their order, then what follows the last choice,

and this curve is exact whenever the plan has that form, as MST has. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from understudy.privacy import gaussian
from understudy.privacy.discrete import TAU2, Lattice, Smooth, lattice, smooth
from understudy.privacy.losses import Approximate, Choice, Gaussian, Laplace, Loss
from understudy.privacy.pure import Atoms

# How far, relative to epsilon, the grid may move the answer when there are up to a hundred choices.
RESOLUTION = 1e-5
# The grid reaches to where the curve is e^-25 of its value at the epsilon asked about.
_REACH = 50.0


@dataclass(frozen=True)
class Plan:
    """Losses in the order of time, sorted into what comes before, at and after the choices."""

    before: tuple[Gaussian, ...]
    choices: tuple[Choice, ...]
    after: tuple[Gaussian, ...]
    pure: tuple[tuple[float, int], ...]
    rho: float

    @classmethod
    def of(cls, losses: Sequence[Loss]) -> Plan:
        """The plan of these losses; additive deltas are left to the caller."""
        places = [place for place, loss in enumerate(losses) if isinstance(loss, Choice)]
        last = places[-1] if places else len(losses)
        pure: dict[float, int] = {}
        for loss in losses:
            if isinstance(loss, Laplace):
                pure[loss.epsilon] = pure.get(loss.epsilon, 0) + loss.count
            elif isinstance(loss, Approximate) and loss.epsilon > 0:
                pure[loss.epsilon] = pure.get(loss.epsilon, 0) + 1
        return cls(
            tuple(loss for loss in losses[:last] if isinstance(loss, Gaussian)),
            _joined(loss for loss in losses if isinstance(loss, Choice)),
            tuple(loss for loss in losses[last:] if isinstance(loss, Gaussian)),
            tuple(sorted(pure.items())),
            math.fsum(loss.rho for loss in losses),
        )


def _joined(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """The same choices, neighbours of one epsilon counted together: k-fold is k separate ones."""
    joined: list[Choice] = []
    for choice in choices:
        if joined and joined[-1].epsilon == choice.epsilon:
            joined[-1] = Choice(choice.epsilon, joined[-1].count + choice.count)
        else:
            joined.append(choice)
    return tuple(joined)


def without_choices(plan: Plan, epsilon: float) -> float:
    """The delta at epsilon of a plan of Gaussians and pure answers, or 1 where only zCDP has a bound."""
    gaussians = (*plan.before, *plan.after)
    atoms = _atoms(plan.pure)
    found = [1.0]
    for bound in _smooths(gaussians):
        terms = (
            mass * gaussian.delta(bound.mu, epsilon - bound.shift - loss)
            for loss, mass in zip(atoms.losses.tolist(), atoms.masses.tolist(), strict=True)
        )
        found.append(math.exp(bound.log_factor) * math.fsum(terms))
        if bound.mu2 <= bound.least * (1 + 1e-7):
            break  # so near to the continuous loss that nothing better is worth looking for
    else:
        if not plan.pure and (single := _lattice(gaussians)) is not None:
            found.append(single.delta(epsilon))
    return min(found)


@lru_cache(maxsize=256)
def _atoms(pure: tuple[tuple[float, int], ...]) -> Atoms:
    return Atoms.of(pure)


@lru_cache(maxsize=256)
def _smooths(gaussians: tuple[Gaussian, ...]) -> tuple[Smooth, ...]:
    bounds = (smooth(gaussians, tau2) for tau2 in TAU2)
    return tuple(bound for bound in bounds if bound is not None)


@lru_cache(maxsize=256)
def _lattice(gaussians: tuple[Gaussian, ...]) -> Lattice | None:
    return lattice(gaussians)


@dataclass(frozen=True)
class Grid:
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
        part = np.expm1(epsilons - self.first - inside * self.step) / math.expm1(self.step)
        chord = self.values[inside] + np.clip(part, 0, 1) * (self.values[inside + 1] - self.values[inside])
        return np.where(place < 0, 1.0, chord)

    def after_responses(self, epsilon: float) -> Grid:
        """The curve from one randomised response on."""
        heads = 1 / (1 + math.exp(-epsilon))
        values = heads * self.at(self.epsilons - epsilon) + (1 - heads) * self.at(self.epsilons + epsilon)
        return Grid(self.first, self.step, np.minimum(1.0, values * (1 + 1e-13)))

    def after_gaussian(self, mu: float, epsilon: float) -> float:
        """The curve at one epsilon, from a Gaussian loss of size mu on.

        The curve is a sum of hinges (1 - e^(epsilon - l))_+ at the grid points l, one for each change of slope;
        a Gaussian turns a hinge into its own curve, moved by l.
        """
        from understudy.privacy.folding import gaussian_curve

        if mu <= 0:
            return float(self.at(np.array([epsilon]))[0])
        values = np.concatenate(([1.0, 1.0], self.values, self.values[-1:]))
        rises = np.diff(values)
        hinges = rises[1:] / math.expm1(self.step) + rises[:-1] / math.expm1(-self.step)
        at = epsilon - (self.first + self.step * np.arange(-1, len(self.values)))
        return float(np.dot(hinges, gaussian_curve(mu, at)) + self.values[-1])


def with_choices(plan: Plan, epsilon: float, near: float, resolution: float) -> float:
    """The delta at epsilon of a plan that has choices, on a grid that is made for epsilons like `near`."""
    before, after = _smooths(plan.before), _smooths(plan.after)
    if not before or not after:
        return 1.0
    folded = _folded(plan, after[0].mu, _bucket(plan, near), resolution)
    shift = before[0].shift + after[0].shift
    value = folded.after_gaussian(before[0].mu, epsilon - shift)
    return min(1.0, value * math.exp(before[0].log_factor + after[0].log_factor + 1e-11))


def _bucket(plan: Plan, near: float) -> int:
    """How many deviations of the whole loss lie below epsilon, rounded."""
    return min(40, math.ceil(max(near - plan.rho, 0.0) / math.sqrt(2 * plan.rho)))


@lru_cache(maxsize=32)
def _folded(plan: Plan, mu: float, bucket: int, resolution: float) -> Grid:
    """The curve from the first choice on, with the pure answers put before it."""
    from understudy.privacy.folding import fold, gaussian_curve

    count = sum(choice.count for choice in plan.choices) + sum(count for _, count in plan.pure)
    resolution *= max(1.0, count / 100)
    step = math.sqrt(32 * resolution * plan.rho / count)
    main = max(plan.choices, key=lambda choice: choice.count).epsilon
    step = main / math.ceil(main / step) if main > step else step
    deviation, reach = math.sqrt(2 * plan.rho), math.sqrt((1.1 * bucket + 1) ** 2 + _REACH)
    low = math.sqrt((0.7 * bucket) ** 2 + _REACH) - 0.7 * bucket
    start, end = (math.ceil((x * deviation + plan.rho) / step) for x in (low, reach))
    epsilons = step * np.arange(-start, end + 1)
    values = gaussian_curve(mu, epsilons) if mu > 0 else np.maximum(0.0, -np.expm1(epsilons))
    # a waste, in each fold, well below what the grid itself costs
    slope = bucket / deviation
    waste = (step * slope) ** 2 / 64
    for choice in reversed(plan.choices):
        values = fold(values, step, choice.epsilon * (1 + 1e-13), waste, choice.count)
    grid = Grid(-start * step, step, values)
    for epsilon, times in plan.pure:
        for _ in range(times):
            grid = grid.after_responses(epsilon)
    return grid
