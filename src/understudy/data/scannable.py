"""What a source of records must offer to be streamed, however large it is and wherever it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import pyarrow as pa


class Scannable(Protocol):
    """Records that can be read from the beginning as often as wanted, in the same order each time."""

    @property
    def types(self) -> pa.Schema:
        """The names and types of the columns: taken as public."""
        ...

    @property
    def snapshot(self) -> str | None:
        """What tells this state of the data from a later one, such as times of change; None when unknown."""
        ...

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """All records in batches, with `columns` in that order; where a source is text, `types` says as what
        to try each before it stays text.

        Raises an `OperatorError` that names the part of the source at fault, and never shows a value.
        """
        ...


def batch_rows(columns: int, most_bytes: int = 64 << 20) -> int:
    """How many records a batch should have, so that one of numbers takes about `most_bytes`."""
    return max(1 << 12, min(1 << 18, most_bytes // (8 * max(1, columns))))
