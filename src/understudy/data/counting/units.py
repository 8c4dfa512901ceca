"""Whose record is whose: bounding what one unit (a person, say) contributes.

Neighbouring tables differ in all records of one unit. Of every unit at most k records count, and which ones is a
function of that unit's own records: of their contents and how often it has each, never of the order in which they
were read (see `unit_order`, which proves it). So a unit's presence never changes which records of another count,
and any count over those moves by at most k. Every engine keeps the same ones.

A record whose unit is missing is dropped. Its owner is unknown, so it could be the (k + 1)-th of anybody,
and treating all such records as one unit would let one person's record push out another's. Dropped
records contribute nothing, whoever owned them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.data.counting import unit_order
from understudy.data.counting.bytes_of_values import buffers, unit_bytes
from understudy.errors import ParameterError

Integers = npt.NDArray[np.int64]


def bound(units: Any, contents: pa.Array, most: int) -> npt.NDArray[np.bool_]:
    """Which records to keep: the least of every unit in its order. A record without a unit or a content is not kept.

    `contents` are the bytes of what is counted of each record (see `bytes_of_values`).
    """
    check_most(most)
    owners = Owners(units)
    keep: npt.NDArray[np.bool_] = (owners.numbers >= 0) & np.asarray(contents.is_valid())
    crowded = np.append(np.bincount(owners.numbers[keep], minlength=len(owners.units)) > most, False)
    rows = np.flatnonzero(keep & crowded[owners.numbers])
    if not rows.size:
        return keep
    numbers, once = owners.numbers[rows], np.ones(rows.size, np.int64)
    chosen, _ = least(owners, numbers, contents.take(pa.array(rows)), None, once, most)
    keep[rows] = False
    keep[rows[chosen]] = True
    return keep


def unit_counts(units: Any) -> dict[int, int]:
    """A number of records -> how many units have so many; records without a unit left out."""
    numbers = Owners(units).numbers
    sizes, counts = np.unique(np.bincount(numbers[numbers >= 0]), return_counts=True)
    return {int(size): int(count) for size, count in zip(sizes, counts, strict=True) if size}


class Owners:
    """The units of some records, each with a number: `numbers` holds every record's, -1 where it has none."""

    def __init__(self, units: Any) -> None:
        encoded = unit_bytes(units).dictionary_encode()
        self.units = encoded.dictionary
        self.numbers: Integers = np.asarray(encoded.indices.cast(pa.int64()).fill_null(-1))


def least(
    owners: Owners, numbers: Integers, contents: Any, first: Integers | None, times: Integers, most: int
) -> tuple[Integers, Integers]:
    """The rows that hold the least `most` records of every unit, and the number of each among those of its content.

    A row stands for so many records (`times`) of one content, numbered from `first` on; without `first` for one
    record each, which are numbered here. `numbers` says whose they are.
    """
    starts, rows = unit_order.by_unit(numbers, len(owners.units))
    offsets, data = buffers(contents)
    held = unit_order.hash_bytes(offsets, data), offsets, data
    if first is None:
        first = unit_order.number(starts, rows, held)
    hashes = unit_order.hash_bytes(*buffers(owners.units))
    chosen, which = unit_order.choose(starts, rows, hashes, held, first, times, min(most, int(times.sum())))
    return chosen, which


def check_most(most: int) -> int:
    """The most records of one unit, once it is a whole number of at least 1."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ParameterError(
            f"max_records_per_unit: {most!r} is not a whole number of at least 1.",
            hint="give the most records that one unit may have.",
        )
    return int(most)
