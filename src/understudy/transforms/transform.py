"""`forward` / `reverse` pairs, and how they chain.

A table goes: `Split`, `Floor` (values to values), then `Encoder` (values to codes), then `Compression`
(codes to fewer codes); and comes back the other way. The way back may draw random numbers, from a
generator that is passed in: it only ever sees synthetic codes, so a seed there costs no privacy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

CodedColumns = Mapping[str, npt.NDArray[Any]]  # a table of codes: one array of unsigned integers a column

Near = TypeVar("Near")
Far = TypeVar("Far")


class Transform(Protocol[Near, Far]):
    """Two functions that undo each other, up to what the far side can hold."""

    def forward(self, table: Near, /) -> Far:
        """The table on the far side."""
        ...

    def reverse(self, table: Far, /, rng: np.random.Generator | None = None) -> Near:
        """The table on the near side; what the far side cannot tell apart is drawn from `rng`."""
        ...


class Chain:
    """Transforms in order, as one: forward through all, back through all in the opposite order."""

    def __init__(self, *transforms: Transform[Any, Any]) -> None:
        self.transforms = transforms

    def forward(self, table: Any, /) -> Any:
        """The table on the far side of the last transform."""
        for transform in self.transforms:
            table = transform.forward(table)
        return table

    def reverse(self, table: Any, /, rng: np.random.Generator | None = None) -> Any:
        """The table on the near side of the first transform."""
        for transform in reversed(self.transforms):
            table = transform.reverse(table, rng)
        return table

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.transforms))})"
