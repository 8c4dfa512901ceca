"""Linear questions about one marginal: `Q_C` of the paper, and its transpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError

Vector = npt.NDArray[np.float64]


class Query(Protocol):
    """A linear map from a marginal's cells (flat, C order) to answers."""

    def apply(self, cells: Vector) -> Vector:
        """The answers, `Q mu`."""
        ...

    def adjoint(self, answers: Vector) -> Vector:
        """The transpose: cells from answers, `Q^T r`."""
        ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """A dense or sparse matrix, one row an answer (anything with `@` and `.T`)."""

    matrix: Any

    def apply(self, cells: Vector) -> Vector:
        return np.asarray(self.matrix @ cells, dtype=np.float64)

    def adjoint(self, answers: Vector) -> Vector:
        return np.asarray(self.matrix.T @ answers, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Functions:
    """A pair of functions: the map and its transpose."""

    forward: Callable[[Vector], Vector]
    transpose: Callable[[Vector], Vector]

    def apply(self, cells: Vector) -> Vector:
        return np.asarray(self.forward(cells), dtype=np.float64)

    def adjoint(self, answers: Vector) -> Vector:
        return np.asarray(self.transpose(answers), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Binned:
    """Sums over groups of cells: along axis k, code c belongs to bin `bins[k][c]`.

    The paper's contest entry measured (SEX, CITY, INCWAGE_A) with INCWAGE_A in five bins: this query.
    """

    bins: tuple[npt.NDArray[np.int64], ...]

    def __post_init__(self) -> None:
        axes = tuple(np.asarray(bins) for bins in self.bins)
        for axis, bins in enumerate(axes):
            if bins.ndim != 1 or not bins.size or bins.dtype.kind not in "ui" or int(bins.min()) < 0:
                raise ParameterError(
                    f"axis {axis}: bins must be whole numbers of at least 0, one a code.",
                    hint="give one list of bin numbers a column.",
                )
        object.__setattr__(self, "bins", tuple(bins.astype(np.int64) for bins in axes))

    @property
    def fine_shape(self) -> tuple[int, ...]:
        return tuple(len(b) for b in self.bins)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the answers."""
        return tuple(int(b.max()) + 1 for b in self.bins)

    def apply(self, cells: Vector) -> Vector:
        table = cells.reshape(self.fine_shape)
        for axis, bins in enumerate(self.bins):
            coarse = np.zeros(
                (*table.shape[:axis], int(bins.max()) + 1, *table.shape[axis + 1 :]), table.dtype
            )
            np.add.at(np.moveaxis(coarse, axis, 0), bins, np.moveaxis(table, axis, 0))
            table = coarse
        return table.reshape(-1)

    def adjoint(self, answers: Vector) -> Vector:
        return answers.reshape(self.shape)[np.ix_(*self.bins)].reshape(-1)


def as_query(query: Any) -> Query | None:
    """A query from what a person may write: None (the identity), a matrix, or a pair of functions."""
    if query is None:
        return None
    if callable(getattr(query, "apply", None)) and callable(getattr(query, "adjoint", None)):
        given: Query = query
        return given
    if isinstance(query, Sequence) and len(query) == 2 and all(callable(part) for part in query):
        return Functions(query[0], query[1])
    if getattr(query, "ndim", None) == 2:
        return Matrix(query)
    raise ParameterError(
        f"query of type {type(query).__name__} is not linear in a form known here.",
        hint="give None, a matrix with one row an answer, or a pair (map, transpose) of functions.",
    )
