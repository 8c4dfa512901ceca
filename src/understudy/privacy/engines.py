"""What an engine can count besides whole marginals: found out before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.marginals.counter import OpenColumns
from understudy.privacy.questions import MOST_CELLS

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
    """The engine, once it can count the values of open columns and `column` may be one."""
    if not callable(getattr(engine, "count_values", None)):
        raise ParameterError(f"column {column!r}: this engine cannot count the values of open columns.")
    if not isinstance(column, str) or not column:
        raise DomainError(f"column name {column!r} is not a non-empty text.")
    opened: OpenColumns = engine
    return opened
