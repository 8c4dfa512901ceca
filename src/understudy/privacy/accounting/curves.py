"""The privacy curve of a whole plan: delta at any epsilon, for Gaussians, choices and pure answers together.

Read backwards in time, every question turns the curve of what follows it into the curve from it on. Gaussians and
pure answers do so linearly, so among themselves their order does not matter. A choice takes a maximum, which an
earlier question can only make larger (the maximum inside its average). So every plan is bounded by

    everything up to the last choice, then all choices in their order, then what follows the last choice,

and this curve is exact whenever the plan has that form, as MST has. Proof: docs/privacy.md, "Accounting".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.privacy.accounting import gaussian
from understudy.privacy.accounting.budget import Neighbours
from understudy.privacy.accounting.curve_grid import CurveGrid
from understudy.privacy.accounting.discretisation import TAU2, Smooth, smooth
from understudy.privacy.accounting.losses import Approximate, Choice, Gaussian, Laplace, Loss
from understudy.privacy.accounting.pure_dp import Atoms

if TYPE_CHECKING:
    from understudy.privacy.accounting.discrete_gaussian_curve import Lattice

# How far, relative to epsilon, the grid may move the answer when there are up to a hundred choices.
RESOLUTION = 1e-5
# The grid reaches to where the curve is e^-30 of its value at the epsilon asked about.
_REACH = 60.0
# CurveGrid points in a deviation of the loss, where lattices are summed.
_PARTS = 150
# The excess of a smooth bound, on mu^2, below which lattices are not worth summing.
_LITTLE = 4e-5
# Offsets of a lattice to try before a curve that is not its own.
_OFFSETS = 8
_LITTLE_BESIDE_CHOICES = 5e-4
# The widest range of a choice that is folded: a fold multiplies three numbers of the size of e^range.
WIDEST = 200.0


@dataclass(frozen=True)
class OrderedLosses:
    """Losses in the order of time, sorted into what comes before, at and after the choices."""

    before: tuple[Gaussian, ...]
    choices: tuple[Choice, ...]
    after: tuple[Gaussian, ...]
    pure: tuple[tuple[float, int], ...]
    rho: float
    # Choices left out at the end may be measured instead, with such neighbours.
    refund: Neighbours | None = None

    @classmethod
    def of(cls, losses: Sequence[Loss], refund: Neighbours | None = None) -> OrderedLosses:
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
            refund if places else None,
        )


def _joined(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """The choices, with neighbours of one epsilon joined: k choices at once cost what k separate ones do."""
    joined: list[Choice] = []
    for choice in choices:
        if joined and joined[-1].epsilon == choice.epsilon:
            joined[-1] = Choice(choice.epsilon, joined[-1].count + choice.count)
        else:
            joined.append(choice)
    return tuple(joined)


def without_choices(plan: OrderedLosses, epsilon: float, near: float) -> float:
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
    if (exact := _exact(gaussians, _LITTLE)) is not None:
        found.append(_on_lattices(plan, exact, epsilon, near))
    return min(found)


def _on_lattices(plan: OrderedLosses, cells: tuple[Lattice, ...], epsilon: float, near: float) -> float:
    """The delta at epsilon where the lattices of the measured cells are summed one after another."""
    from understudy.privacy.accounting.discrete_gaussian_curve import cell_curve

    if len(cells) == cells[0].cells == 1 and not plan.pure:
        return float(cell_curve(cells[0].spacing, np.array([epsilon]))[0])
    return float(_summed(plan, cells, _bucket(plan, near)).at(np.array([epsilon]))[0])


@lru_cache(maxsize=32)
def _summed(plan: OrderedLosses, cells: tuple[Lattice, ...], bucket: int) -> CurveGrid:
    grid = _empty(plan, bucket, math.sqrt(2 * plan.rho) / _PARTS)
    grid = _after_cells(cells, grid)
    for epsilon, times in plan.pure:
        for _ in range(times):
            grid = grid.after_responses(epsilon)
    return grid


def _after_cells(cells: tuple[Lattice, ...], grid: CurveGrid) -> CurveGrid:
    """The curve of these cells alone: the coarsest at its worst offset, the others summed on their lattices."""
    from understudy.privacy.accounting.discrete_gaussian_curve import cell_curve

    return _with_others(cells, CurveGrid(grid.first, grid.step, cell_curve(cells[0].spacing, grid.epsilons)))


def _with_others(cells: tuple[Lattice, ...], grid: CurveGrid) -> CurveGrid:
    """The curve from all cells but one of the coarsest on."""
    from understudy.privacy.accounting.discrete_gaussian_curve import Lattice

    for lattice in (Lattice(cells[0].spacing, cells[0].cells - 1), *cells[1:]):
        if lattice.cells:
            grid = grid.after_atoms(*lattice.atoms())
    return grid


def _before_cells(cells: tuple[Lattice, ...], grid: CurveGrid) -> CurveGrid:
    """The curve from these cells on: the coarsest at the worst of its lattice's offsets, as `_after_cells`."""
    from understudy.privacy.accounting.discrete_gaussian_curve import Lattice

    one = Lattice(cells[0].spacing, 1)
    moved = [grid.after_atoms(*one.atoms(part / _OFFSETS)).values for part in range(_OFFSETS)]
    return _with_others(cells, CurveGrid(grid.first, grid.step, np.max(moved, axis=0)))


def _exact(gaussians: tuple[Gaussian, ...], little: float) -> tuple[Lattice, ...] | None:
    """The lattices, where a smooth bound would cost more than a little on mu^2 and they are few."""
    smooths = _smooths(gaussians)
    if not gaussians or (
        smooths and (not smooths[0].payers or smooths[0].mu2 <= smooths[0].least * (1 + little))
    ):
        return None
    return _lattices(gaussians)


@lru_cache(maxsize=256)
def _lattices(gaussians: tuple[Gaussian, ...]) -> tuple[Lattice, ...] | None:
    from understudy.privacy.accounting.discrete_gaussian_curve import lattices

    return lattices(gaussians)


@lru_cache(maxsize=256)
def _atoms(pure: tuple[tuple[float, int], ...]) -> Atoms:
    return Atoms.of(pure)


@lru_cache(maxsize=256)
def _smooths(gaussians: tuple[Gaussian, ...]) -> tuple[Smooth, ...]:
    bounds = (smooth(gaussians, tau2) for tau2 in TAU2)
    return tuple(bound for bound in bounds if bound is not None)


def with_choices(plan: OrderedLosses, epsilon: float, near: float, resolution: float) -> float:
    """The delta at epsilon of a plan that has choices, on a grid that is made for epsilons like `near`.

    1 where only zCDP has a bound: beside a choice so wide that its fold would leave the floats.
    """
    if max(choice.epsilon for choice in plan.choices) > WIDEST:
        return 1.0
    folded = _folded(plan, _bucket(plan, near), resolution)
    if folded is None:
        return 1.0
    grid, mu, shift, log_factor = folded
    return min(1.0, grid.after_gaussian(mu, epsilon - shift) * math.exp(log_factor + 1e-11))


def _bucket(plan: OrderedLosses, near: float) -> int:
    """How many deviations of the whole loss lie below epsilon, rounded."""
    return min(40, math.ceil(max(near - plan.rho, 0.0) / math.sqrt(2 * plan.rho)))


def _empty(plan: OrderedLosses, bucket: int, step: float) -> CurveGrid:
    """The curve of no loss at all, on a grid wide enough for epsilons of this bucket."""
    deviation, reach = math.sqrt(2 * plan.rho), math.sqrt((1.1 * bucket + 1) ** 2 + _REACH)
    low = math.sqrt((0.7 * bucket) ** 2 + _REACH) - 0.7 * bucket
    start, end = (math.ceil((x * deviation + plan.rho) / step) for x in (low, reach))
    below = np.minimum(0.0, step * np.arange(-start, end + 1))  # from 0 on nothing is lost
    return CurveGrid(-start * step, step, np.maximum(0.0, -np.expm1(below)))


@lru_cache(maxsize=32)
def _folded(
    plan: OrderedLosses, bucket: int, resolution: float
) -> tuple[CurveGrid, float, float, float] | None:
    """The plan's curve but for a Gaussian loss of size mu before all else; mu, shift and ln factor.

    None where a batch's scale is so small that only zCDP has a bound.
    """
    before, after = _block(plan.before), _block(plan.after)
    instead = _refunds(plan)
    if before is None or after is None or instead is None:
        return None
    empty = _empty(plan, bucket, _step(plan, resolution))
    grid = _fold_all(
        plan.choices, after.on(empty), bucket, plan.rho, [block.on(empty).values for block in instead]
    )
    for epsilon, times in plan.pure:
        for _ in range(times):
            grid = grid.after_responses(epsilon)
    if before.cells:
        grid = _before_cells(before.cells, grid)
    # A shift, or a factor, of any way on is one of all of them: curves fall, and factors are at least one.
    shift = max(block.shift for block in (after, *instead))
    log_factor = max(block.log_factor for block in (after, *instead))
    return grid, before.mu, before.shift + shift, before.log_factor + log_factor


def _refunds(plan: OrderedLosses) -> list[Block] | None:
    """What is measured in place of the last choice, the last two and so on, with what follows them; none without
    refunds, and None where only zCDP has a bound for one."""
    blocks: list[Block] = []
    left = 0.0
    for choice in reversed(plan.choices if plan.refund is not None else ()):
        for _ in range(choice.count):
            left += choice.rho / choice.count * (1 + 1e-12)
            assert plan.refund is not None
            block = _block((*plan.after, Gaussian(math.sqrt(0.5 / left), None, plan.refund)))
            if block is None:
                return None
            blocks.append(block)
    return blocks


def _step(plan: OrderedLosses, resolution: float) -> float:
    """The grid's step: what the folds add to epsilon grows with its square and with their number."""
    count = sum(choice.count for choice in plan.choices) + sum(count for _, count in plan.pure)
    step = math.sqrt(32 * resolution * max(1.0, count / 100) * plan.rho / count)
    main = max(plan.choices, key=lambda choice: choice.count).epsilon
    return main / math.ceil(main / step) if main > step else step


def _fold_all(
    choices: Sequence[Choice],
    grid: CurveGrid,
    bucket: int,
    rho: float,
    instead: Sequence[NDArray[np.float64]] = (),
) -> CurveGrid:
    """The curve from the first choice on; `instead` are those of what may take the place of the last ones."""
    from understudy.privacy.accounting.bounded_range import fold

    waste = (grid.step * bucket) ** 2 / (2 * rho) / 64  # in each fold: well below what the grid itself costs
    values, ways = grid.values, iter(instead)
    for choice in reversed(choices):
        others = list(itertools.islice(ways, choice.count))
        values = fold(values, grid.step, choice.epsilon * (1 + 1e-13), waste, choice.count, others)
    return CurveGrid(grid.first, grid.step, values)


def roughly(plan: OrderedLosses, epsilon: float) -> float:
    """About the delta at epsilon, at once: every loss is taken for a Gaussian one of the same rho. No bound.

    Of many small losses that is nearly so; of a few it is not. Where only zCDP has a bound it is 1.
    """
    mu2, shift, log_factor = 2 * plan.rho, 0.0, 0.0
    for gaussians in (plan.before, plan.after):
        block = _block(gaussians)
        if block is None:
            return 1.0
        if not block.cells:  # what a smooth bound costs more than the losses themselves
            mu2 += block.mu**2 - 2 * math.fsum(loss.rho for loss in gaussians)
        shift, log_factor = shift + block.shift, log_factor + block.log_factor
    return min(1.0, gaussian.delta(math.sqrt(mu2), epsilon - shift) * math.exp(log_factor))


@dataclass(frozen=True)
class Block:
    """Batches asked one after another: either a continuous loss that bounds them, or lattices of cells."""

    mu: float = 0.0
    shift: float = 0.0
    log_factor: float = 0.0
    cells: tuple[Lattice, ...] = ()

    def on(self, grid: CurveGrid) -> CurveGrid:
        """The curve of these batches alone, on the points of a grid."""
        from understudy.privacy.accounting.bounded_range import gaussian_curve

        if self.cells:
            return _after_cells(self.cells, grid)
        return (
            CurveGrid(grid.first, grid.step, gaussian_curve(self.mu, grid.epsilons)) if self.mu > 0 else grid
        )


def _block(gaussians: tuple[Gaussian, ...]) -> Block | None:
    if not gaussians:
        return Block()
    if (exact := _exact(gaussians, _LITTLE_BESIDE_CHOICES)) is not None:
        return Block(cells=exact)
    smooths = _smooths(gaussians)
    return Block(smooths[0].mu, smooths[0].shift, smooths[0].log_factor) if smooths else None
