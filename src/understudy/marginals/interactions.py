"""What a marginal says beyond what some of its own sums say: the parts of an analysis of variance that are left.

A table over columns with n_1, ..., n_k codes is the sum of parts, one for every set t of its axes: what the sums over
the other axes say that no smaller set of axes does (t empty: the total; one axis: a column on its own; two: how they
go together). The parts are perpendicular. To leave out those that are known already is to ask less of each record:
one record moves a table of two binary columns by one, and how the two go together by a half.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Interactions:
    """The parts of a table that belong to none of the sets of axes left out, times its number of cells.

    The factor keeps whole numbers whole. The map is its own transpose.

    Parameters:
        shape: how many codes each axis has.
        left_out: sets of axes whose parts are left out, with all smaller sets: never all axes.

    Raises:
        ParameterError: a set has an axis that the table does not, or all of them.
    """

    shape: tuple[int, ...]
    left_out: tuple[Axes, ...]

    def __init__(self, shape: Sequence[int], left_out: Iterable[Sequence[int]]) -> None:
        axes = range(len(shape))
        given = {tuple(sorted({int(axis) for axis in part})) for part in left_out}
        if any(len(part) == len(axes) or not set(part) <= set(axes) for part in given):
            raise ParameterError(f"{sorted(given)} are not sets of some of {len(axes)} axes.")
        smaller = {
            part
            for whole in given
            for size in range(len(whole))
            for part in itertools.combinations(whole, size)
        }
        object.__setattr__(self, "shape", tuple(int(size) for size in shape))
        object.__setattr__(self, "left_out", tuple(sorted(given | smaller | {()}, key=lambda t: (len(t), t))))

    @property
    def cells(self) -> int:
        """How many cells the table has, and so how many answers there are."""
        return math.prod(self.shape)

    @property
    def squared_move(self) -> int:
        """By how much one record moves the answers: the sum of squares, the same for every record.

        A record is a table with a one in it. Its part t has the squares (product over t of n - 1) / cells, whatever
        cell it is in; the parts are perpendicular; and the answers are cells times what is left of it.
        """
        gone = sum(math.prod(self.shape[axis] - 1 for axis in part) for part in self.left_out)
        return self.cells * (self.cells - gone)

    def apply(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The answers, whole numbers of whole numbers."""
        table = cells.reshape(self.shape)
        found = table * self.cells
        for part in self.left_out:
            found = found - self._part(table, part)
        return np.asarray(found).reshape(-1)

    def adjoint(self, answers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The transpose, which is the map itself."""
        return self.apply(answers)

    def completed(
        self, answers: npt.NDArray[np.float64], known: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """A whole table: the answers, and what another one, of the same shape, says of the parts left out."""
        rest = sum(self._part(known, part) for part in self.left_out)
        return np.asarray(self.apply(answers).reshape(self.shape) / self.cells**2 + rest / self.cells)

    def _part(self, table: npt.NDArray[Any], part: Axes) -> npt.NDArray[Any]:
        """One part of a table, times its number of cells."""
        for axis, size in enumerate(self.shape):
            summed = table.sum(axis=axis, keepdims=True)
            table = table * size - summed if axis in part else np.broadcast_to(summed, table.shape)
        return table
