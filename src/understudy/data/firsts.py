"""Which records of a stream are among the first of their unit, in bounded memory.

The same records are kept as by `units.bound` on the whole table. Units and record numbers go to a database on
disk, which groups as many units at a time as fit in its memory; what comes back is one bit a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.open_values import nameable
from understudy.data.scratch import ScratchDatabase
from understudy.data.units import check_most

BYTES_A_RECORD = 256  # that the database needs, at most, to group records by unit
MOST_OF_MIN = 1_000_000  # that DuckDB's own "the least so many" can give
FETCHED = 1 << 18  # record numbers that come back at a time


class Firsts:
    """The first `most` records of every unit: `add` all units in order, `close`, then ask `keep`."""

    def __init__(self, most: int, memory: int) -> None:
        self._most, self._rows = check_most(most), 0
        self._database = ScratchDatabase(memory)
        self._bits: npt.NDArray[np.uint8] = np.empty(0, np.uint8)

    def add(self, units: Any) -> None:
        """The units of the next records."""
        values = plain_units(units)
        numbers = pa.array(np.arange(self._rows, self._rows + len(values)))
        self._rows += len(values)
        known = pc.is_valid(values)
        self._database.append(pa.table({"unit": values.filter(known), "record": numbers.filter(known)}))

    def close(self) -> None:
        """Decide, once all units are known."""
        self._bits = np.zeros(-(-self._rows // 8), np.uint8)
        for query in _first_records(self._database, self._rows, self._most):
            for batch in self._database.batches(query, FETCHED):
                record = batch.column(0).to_numpy()
                np.bitwise_or.at(self._bits, record >> 3, (128 >> (record & 7)).astype(np.uint8))
        self._database.close()

    def keep(self, first: int, rows: int) -> npt.NDArray[np.bool_]:
        """Which of the `rows` records from number `first` on are kept."""
        start = first // 8
        bits = np.unpackbits(self._bits[start : (first + rows + 7) // 8])
        return bits[first - 8 * start :][:rows].astype(np.bool_)


def count_first_values(parts: Iterable[tuple[Any, Any]], most: int, memory: int) -> dict[Any, int]:
    """How many of the kept records have each value, from units and values in order; missing ones left out."""
    database, rows = ScratchDatabase(memory), 0
    check_most(most)
    try:
        for units, values in parts:
            owners = plain_units(units)
            known = pc.is_valid(owners)
            numbers = pa.array(np.arange(rows, rows + len(owners)))
            rows += len(owners)
            arrived = {"unit": owners, "record": numbers, "value": nameable(values)}
            database.append(pa.table({name: column.filter(known) for name, column in arrived.items()}))
        found: dict[Any, int] = {}
        for first in _first_records(database, rows, most):
            kept = f"SELECT value FROM kept SEMI JOIN ({first}) AS first USING (record)"
            query = f"SELECT value, count(*) FROM ({kept}) WHERE value IS NOT NULL GROUP BY value"
            for batch in database.batches(query, FETCHED):
                for value, count in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    found[value] = found.get(value, 0) + count
        return found
    finally:
        database.close()


def _first_records(database: ScratchDatabase, rows: int, most: int) -> Iterator[str]:
    """Queries for the records that are kept, each for a share of the units that can be grouped in memory.

    A unit with ever so many records takes no more than the `most` that are kept of it.
    """
    first = f"min(record, {most})" if most < MOST_OF_MIN else f"list(record ORDER BY record)[1:{most}]"
    shares = -(-rows * BYTES_A_RECORD // database.memory) if database.filled else 0
    for share in range(shares):
        some = f"SELECT unit, record FROM kept WHERE hash(unit) % {shares} = {share}"
        yield f"SELECT unnest({first}) AS record FROM ({some}) GROUP BY unit"


def plain_units(units: Any) -> pa.ChunkedArray | pa.Array:
    """Units as plain values, null where missing (or NaN)."""
    values = units
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return values
