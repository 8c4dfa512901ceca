"""The engine seam: whatever the data's size, a mechanism needs only counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals.marginal import Marginal

Recoding = npt.NDArray[np.integer]  # recoding[old code] = new code


class Counter(Protocol):
    """An engine: coded records that can be counted, and nothing else.

    Counts add, so an engine may hold one batch, a stream of them, or partitions on many machines.
    """

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes."""
        ...

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64; in as few passes as the engine can."""
        ...

    def recode(self, maps: Mapping[str, Recoding]) -> Counter:
        """The same records with the codes of some columns replaced: code c of column k becomes maps[k][c].

        The new size of a column is the largest new code plus one.
        """
        ...


class OpenColumns(Protocol):
    """An engine that can also count the values of columns whose categories are not known yet."""

    def count_values(self, column: str) -> Mapping[Any, int]:
        """How many records hold each value (text, integer or boolean) of an open column, missing ones aside.

        With a unit column, contributions are bounded first, as for `count`.
        """
        ...


class UnitCounts(Protocol):
    """An engine that can also count how many records units have."""

    def count_units(self) -> Mapping[int, int]:
        """A number of records -> how many units have so many, before any bound; records without a unit left out."""
        ...


class SparseCells(Protocol):
    """An engine that can also count the filled cells of a clique that has too many to be counted whole."""

    def count_cells(self, clique: Clique) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The cells that hold a record, as places in C order (rising), and how many each holds."""
        ...
