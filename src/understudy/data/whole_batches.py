"""Small batches of a stream joined into larger ones, so that what each batch costs is not paid for a few records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

LEAST = 1 << 14  # records, from which on a batch stays as it is


def whole_batches(batches: Iterable[pa.RecordBatch], least: int = LEAST) -> Iterator[pa.RecordBatch]:
    """The same records in the same order, neighbours of equal types joined until they have so many.

    A file of row groups of a hundred records, or thousands of small files, come in as many batches otherwise.
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if waiting and (rows >= least or batch.num_rows >= least or batch.schema != waiting[0].schema):
            yield from _joined(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += batch.num_rows
    yield from _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """One batch of all, or the batches themselves where Arrow cannot make one of them."""
    if len(batches) < 2:
        return batches
    try:
        joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    except pa.ArrowException:  # such as dictionaries that together are too large for their indices
        return batches
    return joined
