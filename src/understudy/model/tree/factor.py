"""A table of non-negative numbers over a few named columns, and its algebra. A structural zero is an exact 0.0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import DomainError, ParameterError

Array = npt.NDArray[np.float64]
Codes = int | Sequence[int] | npt.NDArray[np.integer]


def align(clique: Clique, values: Array, onto: Clique) -> Array:
    """A view of `values` with one axis for every column of `onto`, of length one where `clique` lacks it."""
    held = [name for name in onto if name in clique]
    moved = values.transpose([clique.index(name) for name in held])
    sizes = iter(moved.shape)
    return moved.reshape([next(sizes) if name in clique else 1 for name in onto])


def joined(first: Clique, second: Clique) -> Clique:
    """The columns of both cliques, each once, those of `first` first."""
    return first + tuple(name for name in second if name not in first)


def without(clique: Clique, names: Iterable[str]) -> tuple[Clique, tuple[int, ...]]:
    """The columns that are left without `names`, and the axes of those that go."""
    gone = set((names,) if isinstance(names, str) else names)
    unknown = gone.difference(clique)
    if unknown:
        raise DomainError(f"column {min(unknown)!r} is not in the table over {clique!r}.")
    return (
        tuple(name for name in clique if name not in gone),
        tuple(axis for axis, name in enumerate(clique) if name in gone),
    )


def taken(clique: Clique, values: Array, given: Mapping[str, Codes]) -> tuple[Clique, Array]:
    """The part of a table where `given` holds: a code drops its axis, several codes keep a shorter one."""
    without(clique, given)
    index: list[npt.NDArray[np.intp]] = []
    kept: list[str] = []
    for axis, name in enumerate(clique):
        size = values.shape[axis]
        codes = np.asarray(given[name] if name in given else np.arange(size), dtype=np.intp)
        if codes.ndim > 1 or (codes.size and not 0 <= codes.min() <= codes.max() < size):
            raise DomainError(f"column {name!r}: a code lies outside 0..{size - 1}.")
        if codes.ndim:
            kept.append(name)
        index.append(codes.reshape(-1))
    shape = [len(codes) for name, codes in zip(clique, index, strict=True) if name in kept]
    return tuple(kept), values[np.ix_(*index)].reshape(shape) if clique else values


def checked_axes(clique: Clique, values: npt.ArrayLike) -> tuple[Clique, Array]:
    """A clique and its table once they fit each other."""
    names = (clique,) if isinstance(clique, str) else tuple(clique)
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != len(names):
        raise DomainError(f"table over {names!r} has {table.ndim} axes, not {len(names)}.")
    if len(set(names)) != len(names):
        raise DomainError(f"table over {names!r} names a column twice.")
    return names, table


def check_shared(first: Clique, one: Array, second: Clique, other: Array) -> None:
    """Refuse two tables that give one column two sizes."""
    for axis, name in enumerate(first):
        if name in second and one.shape[axis] != other.shape[second.index(name)]:
            raise DomainError(
                f"column {name!r} has {one.shape[axis]} codes in one table, "
                f"{other.shape[second.index(name)]} in the other."
            )


@dataclass(frozen=True, eq=False)
class Factor:
    """Non-negative numbers, one a cell of `clique`; axes in the clique's order."""

    clique: Clique
    values: Array

    def __post_init__(self) -> None:
        clique, values = checked_axes(self.clique, self.values)
        object.__setattr__(self, "clique", clique)
        object.__setattr__(self, "values", values)

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return float(self.values.sum())

    def __mul__(self, other: Factor | float) -> Factor:
        """The product over the columns of both, ours first; or every cell times a number."""
        if not isinstance(other, Factor):
            return Factor(self.clique, self.values * float(other))
        check_shared(self.clique, self.values, other.clique, other.values)
        onto = joined(self.clique, other.clique)
        return Factor(onto, align(self.clique, self.values, onto) * align(other.clique, other.values, onto))

    __rmul__ = __mul__

    def __truediv__(self, other: Factor) -> Factor:
        """The quotient over the columns of both; where the divisor is zero, zero (0/0 = 0)."""
        check_shared(self.clique, self.values, other.clique, other.values)
        onto = joined(self.clique, other.clique)
        top, bottom = align(self.clique, self.values, onto), align(other.clique, other.values, onto)
        out = np.zeros(np.broadcast_shapes(top.shape, bottom.shape))
        return Factor(onto, np.divide(top, bottom, out=out, where=bottom != 0))

    def sum_out(self, names: Iterable[str]) -> Factor:
        """The table without `names`, every cell the sum of those it stands for."""
        kept, axes = without(self.clique, names)
        return Factor(kept, self.values.sum(axis=axes)) if axes else self

    def project(self, clique: Clique) -> Factor:
        """The table of some of the columns, the rest summed out, axes in the order given."""
        wanted = (clique,) if isinstance(clique, str) else tuple(clique)
        without(self.clique, wanted)
        summed = self.sum_out([name for name in self.clique if name not in wanted])
        return Factor(wanted, summed.values.transpose([summed.clique.index(name) for name in wanted]))

    def normalise(self, total: float = 1.0) -> Factor:
        """The same table scaled to `total`."""
        now = self.total
        if not (math.isfinite(now) and now > 0):
            raise ParameterError(f"the table over {self.clique!r} sums to {now!r}: it has no shape to scale.")
        return Factor(self.clique, self.values * (total / now))

    def condition(self, given: Mapping[str, Codes]) -> Factor:
        """The cells where `given` holds, not rescaled: a code drops its column, several shorten its axis."""
        return Factor(*taken(self.clique, self.values, given))
