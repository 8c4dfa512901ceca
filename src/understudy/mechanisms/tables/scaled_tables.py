"""A table brought to the sums that are known of its columns, by proportional fitting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.float64]

_LEAST = 1e-3  # of a record: what a code is thought to hold where nothing is expected
_SCALINGS = 3  # of each axis of a table to what is known of its columns


def scaled(table: Cells, sums: Sequence[Cells], times: int = _SCALINGS) -> Cells:
    """A table with the sums that are known of its columns by now."""
    for _ in range(times):
        for axis, held in enumerate(sums):
            others = tuple(other for other in range(table.ndim) if other != axis)
            factor = np.maximum(held, _LEAST) / np.maximum(
                table.sum(axis=others, keepdims=True), _LEAST
            ).reshape(-1)
            table = table * factor.reshape([-1 if other == axis else 1 for other in range(table.ndim)])
    return table
