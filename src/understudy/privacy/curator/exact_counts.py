"""The records behind the door: exact counts, for a question to draw from; and what an engine can count.

What an engine can count is found out before anything is charged. Its counts are believed only as integers: whether it
counts in integers is a property of the engine, never of a record, and an engine that does not is not private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import OperatorError, ParameterError, SizeError
from understudy.marginals import Counter
from understudy.marginals.clique_runs import runs_within
from understudy.marginals.counter import OpenColumns, SparseCells, UnitCounts
from understudy.privacy.curator.question_checks import MOST_CELLS

Integers = npt.NDArray[np.int64]
AT_ONCE = 2**24  # cells of marginals that are counted together for a choice


class ExactCounts:
    """Exact counts of one engine's records. Private: a question is handed this behind the door, and nowhere else."""

    def __init__(self, engine: Counter, domain: Domain) -> None:
        self._engine, self.domain = engine, domain

    def tables(self, batch: Sequence[Clique]) -> list[Integers]:
        """The counts of each clique, flat, as int64."""
        counted = [marginal.counts for marginal in self._engine.count(batch)]
        for clique, counts in zip(batch, counted, strict=True):
            if counts.shape != self.domain.shape(clique) or counts.dtype.kind not in "iu":
                raise OperatorError(f"the engine's marginal of {clique!r} is not a table of integers.")
        return [counts.astype(np.int64, copy=False).reshape(-1) for counts in counted]

    def runs(self, wanted: Sequence[Clique]) -> Iterator[tuple[list[Clique], list[Integers]]]:
        """Cliques with their counts, so many at a time as memory can hold."""
        for run in runs_within(self.domain, wanted, AT_ONCE):
            yield run, self.tables(run)

    def in_turn(self, wanted: Sequence[Clique]) -> Iterator[tuple[Clique, Integers]]:
        """Each clique with its counts, in order."""
        for run, tables in self.runs(wanted):
            yield from zip(run, tables, strict=True)

    def filled_cells(self, clique: Clique) -> tuple[Integers, Integers]:
        """The places and counts of the cells that hold a record."""
        counter = cell_counter(self._engine, clique, self.domain.size(clique))
        if counter is None:
            (whole,) = self.tables([clique])
            filled = np.flatnonzero(whole)
            return filled, whole[filled]
        places, counts = counter.count_cells(clique)
        if not (np.issubdtype(places.dtype, np.integer) and np.issubdtype(counts.dtype, np.integer)):
            raise OperatorError(f"the engine's cells of {clique!r} are not counted in integers.")
        return places, counts.astype(np.int64)

    def values(self, column: str) -> Mapping[Any, int]:
        """How often each value of an open column occurs."""
        return open_column(self._engine, column).count_values(column)

    def unit_sizes(self, starts: Sequence[int]) -> Integers:
        """How many units have at least so many records, and fewer than the next number says."""
        found = np.zeros(len(starts), np.int64)
        for records, units in unit_counter(self._engine).count_units().items():
            if records > 0:
                found[int(np.searchsorted(starts, records, side="right")) - 1] += units
        return found


def unit_counter(engine: Any) -> UnitCounts:
    """The engine, once it can count how many records units have."""
    if not callable(getattr(engine, "count_units", None)):
        raise ParameterError(
            "these records cannot be counted by unit.",
            hint="say in the schema how many a unit may have: max_records_per_unit = 1.",
        )
    counter: UnitCounts = engine
    return counter


def cell_counter(engine: Any, clique: Clique, cells: int) -> SparseCells | None:
    """The engine, where it can count the filled cells alone; None where it cannot, and all are not too many."""
    if callable(getattr(engine, "count_cells", None)):
        counter: SparseCells = engine
        return counter
    if cells > MOST_CELLS:
        raise SizeError(
            f"the histogram of {clique!r} has {cells:,} cells, and this engine cannot count the filled ones alone.",
            hint="put fewer columns in a group, or read the table into memory.",
        )
    return None


def open_column(engine: Any, column: str) -> OpenColumns:
    """The engine, once it can count the values of open columns."""
    if not callable(getattr(engine, "count_values", None)):
        raise ParameterError(f"column {column!r}: this engine cannot count the values of open columns.")
    opened: OpenColumns = engine
    return opened
