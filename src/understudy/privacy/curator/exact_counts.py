"""What an engine can count, found out before anything is charged; and its counts, believed only as integers.

Whether it counts in integers is a property of the engine, never of a record: an engine that does not is not private.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import OperatorError, ParameterError, SizeError
from understudy.marginals import Counter
from understudy.marginals.counter import OpenColumns
from understudy.privacy.curator.questions import MOST_CELLS

Integers = npt.NDArray[np.int64]
CellCounter = Callable[[Clique], tuple[Integers, Integers]]


def cell_counter(engine: Any, clique: Clique, cells: int) -> CellCounter | None:
    """How the engine counts the filled cells of a clique; None where it can only count all of them, and may."""
    count: CellCounter | None = getattr(engine, "count_cells", None)
    if count is None and cells > MOST_CELLS:
        raise SizeError(
            f"the histogram of {clique!r} has {cells:,} cells, and this engine cannot count the filled ones alone.",
            hint="put fewer columns in a group, or read the table into memory.",
        )
    return count


def open_column(engine: Any, column: str) -> OpenColumns:
    """The engine, once it can count the values of open columns."""
    if not callable(getattr(engine, "count_values", None)):
        raise ParameterError(f"column {column!r}: this engine cannot count the values of open columns.")
    opened: OpenColumns = engine
    return opened


def whole_tables(engine: Counter, domain: Domain, batch: Sequence[Clique]) -> list[Integers]:
    """Exact counts of each clique, flat, as int64. Private: for the curator alone."""
    counted = [marginal.counts for marginal in engine.count(batch)]
    for clique, counts in zip(batch, counted, strict=True):
        if counts.shape != domain.shape(clique) or not np.issubdtype(counts.dtype, np.integer):
            raise OperatorError(f"the engine's marginal of {clique!r} is not a table of integers.")
    return [counts.astype(np.int64, copy=False).reshape(-1) for counts in counted]


def filled_cells(count: CellCounter, clique: Clique) -> tuple[Integers, Integers]:
    """The places and exact counts of the cells that hold a record. Private: for the curator alone."""
    places, counts = count(clique)
    if not (np.issubdtype(places.dtype, np.integer) and np.issubdtype(counts.dtype, np.integer)):
        raise OperatorError(f"the engine's cells of {clique!r} are not counted in integers.")
    return places, counts.astype(np.int64)
