"""Which records of a stream are among the first of their unit, in bounded memory.

The same records are kept as by `units.bound` on the whole table. Units and record numbers go to a database on
disk that sorts within its own memory limit; what comes back is one bit a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.scratch import ScratchDatabase
from understudy.data.units import check_most

_RANK = "row_number() OVER (PARTITION BY unit ORDER BY record)"
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
        if self._database.filled:
            query = f"SELECT record FROM kept QUALIFY {_RANK} <= {self._most}"
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
            arrived = {"unit": owners, "record": numbers, "value": plain_units(values)}
            database.append(pa.table({name: column.filter(known) for name, column in arrived.items()}))
        if not database.filled:
            return {}
        first = f"SELECT value FROM kept QUALIFY {_RANK} <= {most}"
        query = f"SELECT value, count(*) FROM ({first}) WHERE value IS NOT NULL GROUP BY value"
        found: dict[Any, int] = {}
        for batch in database.batches(query, FETCHED):
            found.update(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
        return found
    finally:
        database.close()


def plain_units(units: Any) -> pa.ChunkedArray | pa.Array:
    """Units as plain values, null where missing (or NaN)."""
    values = units
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return values
