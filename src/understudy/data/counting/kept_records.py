"""Which records of a stream count, in bounded memory: the same ones as `units.bound` keeps of the whole table.

Units and contents go to a database on disk, which counts how often every unit has each content, for as many units at
a time as fit in memory. What comes back are the contents that count, in no order that means anything: that of the
stream had no part in choosing them, so a source may give its records in another order every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.counting.bytes_of_values import unit_bytes
from understudy.data.counting.units import Owners, check_most, least
from understudy.data.scratch import ScratchDatabase

BYTES_A_RECORD = 256  # that the database needs, at most, to group records by unit
FETCHED = 1 << 18  # records that come back at a time
HELD = 1 << 20  # contents of units that are looked at together


class KeptRecords:
    """At most `most` records of every unit: `add` all of them, then ask for `contents`, once."""

    def __init__(self, most: int, memory: int) -> None:
        self._most, self._rows = check_most(most), 0
        self._database = ScratchDatabase(memory)

    def add(self, units: Any, contents: Any) -> None:
        """Add records: the unit of each, and the bytes of what is counted of it."""
        owners = unit_bytes(units)
        known = pc.and_(owners.is_valid(), contents.is_valid())
        self._rows += known.true_count
        self._database.append(pa.table({"unit": owners, "content": contents}).filter(known))

    def contents(self) -> Iterator[pa.ChunkedArray]:
        """The contents of the records that are kept, one for each record."""
        shares = -(-self._rows * BYTES_A_RECORD // self._database.memory) if self._database.filled else 0
        try:
            for share in range(shares):
                yield from self._share(f"hash(unit) % {shares} = {share}")
        finally:
            self._database.close()

    def unit_counts(self) -> dict[int, int]:
        """A number of records -> how many units have so many, all of them counted; asked instead of `contents`."""
        each = "SELECT count(*) AS times FROM kept GROUP BY unit"
        query = f"SELECT times, count(*)::BIGINT AS units FROM ({each}) GROUP BY times"
        found: dict[int, int] = {}
        try:
            for batch in self._database.batches(query, FETCHED) if self._database.filled else ():
                found |= dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        finally:
            self._database.close()
        return found

    def _share(self, which: str) -> Iterator[pa.ChunkedArray]:
        query = (
            "SELECT unit, content, 1::BIGINT AS first, count(*) AS times FROM kept "
            f"WHERE {which} GROUP BY unit, content"
        )
        held: list[pa.Table] = []
        rows = 0
        for batch in self._database.batches(query, FETCHED):
            held.append(pa.Table.from_batches([batch]))
            rows += batch.num_rows
            if rows >= HELD:  # cut now and then, so that a unit takes memory for its kept records alone
                held = [_bounded(pa.concat_tables(held), self._most)]
                rows = 0
        if held:
            yield from _repeated(_bounded(pa.concat_tables(held), self._most))


def _bounded(table: pa.Table, most: int) -> pa.Table:
    """The contents and how often each occurs, cut to the `most` records of every unit that are least in its order."""
    owners, times = Owners(table["unit"]), table["times"].to_numpy()
    held = np.zeros(len(owners.units), np.int64)
    np.add.at(held, owners.numbers, times)
    crowded = held[owners.numbers] > most
    if not crowded.any():
        return table
    over = table.filter(pa.array(crowded))
    first, times = (over[name].to_numpy() for name in ("first", "times"))
    rows, which = least(owners, owners.numbers[crowded], over["content"], first, times, most)
    chosen = over.take(pa.array(rows))
    for name, column in (("first", which), ("times", np.ones(len(rows), np.int64))):
        chosen = chosen.set_column(chosen.schema.get_field_index(name), name, pa.array(column))
    return pa.concat_tables([table.filter(pa.array(~crowded)), chosen])


def _repeated(table: pa.Table) -> Iterator[pa.ChunkedArray]:
    """The content of each record that counts, a good many at a time."""
    ends = np.cumsum(table["times"].to_numpy())
    for start in range(0, int(ends[-1]) if len(ends) else 0, FETCHED):
        places = np.arange(start, min(start + FETCHED, ends[-1]))
        yield table["content"].take(pa.array(np.searchsorted(ends, places, side="right")))
