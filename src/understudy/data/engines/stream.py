"""The streamed engine: records that come in batches, counted without ever being in memory together.

The first scan codes every batch, keeps the codes on disk (see `code_cache`) and counts every column alone; all
later scans read the codes. A fault of the source therefore shows in the first scan, which `prepare` makes
before anybody asks, so before anything is charged.

Memory, whatever the number of records: the tables that are asked for, plus `memory` bytes: a few batches,
one block of codes, the counting kernel's working memory, and the tables remembered. A unit column takes room
on disk besides (see `kept_records`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.data.counting.filled_cells import FilledCells
from understudy.data.counting.histogram import RESULT_BYTES, Histogram, check_results
from understudy.data.counting.recoding import recoded
from understudy.data.engines.code_recording import Batches, Coder, CodeRecording
from understudy.data.progress_bar import progress
from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes
from understudy.errors import ParameterError
from understudy.marginals import Marginal
from understudy.marginals.clique_runs import runs_within
from understudy.marginals.counter import Recoding

Integers = npt.NDArray[np.int64]

MEMORY = 1 << 30
LEAST_MEMORY = 1 << 24
REMEMBERED = 8  # one part in so many of the memory holds tables that may be asked for again


class Streamed:
    """Records as a stream that can be started again and again: `batches()` gives it, `coder` codes a batch.

    `unit` names the column of a batch that says whose record it is, of whom at most `most` are counted, whatever
    the stream's order (see `counting.units`). `memory` is in bytes. Without `cache` every scan starts the stream
    again.
    """

    def __init__(
        self,
        domain: Domain,
        batches: Batches,
        coder: Coder,
        *,
        memory: int = MEMORY,
        cache: bool = True,
        unit: str | None = None,
        most: int = 1,
    ) -> None:
        check_memory(memory)
        self._records = CodeRecording(domain, batches, coder, memory, cache, unit, most)
        self._domain, self._maps = domain, dict[str, Codes]()
        self._known: dict[frozenset[str], tuple[Clique, Any]] = {}

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes."""
        return self._domain

    def __repr__(self) -> str:
        return f"Streamed({len(self._domain)} columns)"

    def prepare(self) -> Streamed:
        """The engine itself, once every record was read and coded, so that no fault of the source is left.

        Also counts every column alone, which costs next to nothing in the same scan.
        """
        self._records.record()
        return self

    def scans(self, cliques: Sequence[Clique]) -> int:
        """How many times the records will be read to count these cliques: none for those remembered."""
        return len(self._parts(self._unknown([self._domain.clique(clique) for clique in cliques])))

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64; in as few scans as memory allows."""
        wanted = [self._domain.clique(clique) for clique in cliques]
        check_results(self._domain, wanted, RESULT_BYTES)
        self._records.record()
        counted: dict[Clique, Any] = {}
        for part in self._parts(self._unknown(wanted)):
            counted |= {marginal.clique: marginal.counts for marginal in self._scan(part)}
        self._remember(counted)
        given: set[Clique] = set()
        answers = []
        for clique in wanted:
            counts = self._recall(clique, counted.get(clique))
            # A copy, but for the first use of a fresh table: nobody's answer is a view of another's.
            fresh = clique in counted and clique not in given
            answers.append(Marginal(clique, counts if fresh else np.array(counts, order="C")))
            given.add(clique)
        return answers

    def count_cells(self, clique: Clique) -> tuple[Integers, Integers]:
        """The cells that hold a record, as places in C order (rising), and how many each holds.

        Besides a block of codes this takes what `counting.filled_cells` does, in one scan.
        """
        filled = FilledCells(self._domain, clique)
        self._records.record()
        with progress("counting", total=self._records.rows) as advance:
            for rows, codes in self._mapped(filled.clique):
                filled.add(codes, rows)
                advance(rows)
        return filled.cells()

    def recode(self, maps: Mapping[str, Recoding]) -> Streamed:
        """The same records with code c of column k replaced by maps[k][c], as they are read."""
        other = object.__new__(Streamed)
        other._records, other._known = self._records, {}
        other._domain, other._maps = recoded(self._domain, self._maps, maps)
        return other

    # -- tables remembered -----------------------------------------------------------------------------------

    def _unknown(self, wanted: Sequence[Clique]) -> list[Clique]:
        """The cliques that no remembered table answers, each once."""
        return [clique for clique in dict.fromkeys(wanted) if self._recall(clique) is None]

    def _recall(self, clique: Clique, fresh: Any = None) -> Any:
        """The counts of a clique: fresh ones, or remembered ones with their axes turned; None if there are none."""
        if fresh is not None:
            return fresh
        if (known := self._known.get(frozenset(clique))) is not None:
            order, counts = known
            return counts.transpose([order.index(name) for name in clique])
        alone = self._records.one_way
        if len(clique) != 1 or clique[0] not in alone:
            return None
        (name,) = clique
        if name not in self._maps:
            return alone[name]
        merged = np.zeros(self._domain[name], np.int64)
        np.add.at(merged, self._maps[name], alone[name])
        return merged

    def _remember(self, counted: Mapping[Clique, Any]) -> None:
        """Keep copies of small tables: a mechanism measures what it has just chosen among."""
        left = self._records.memory // REMEMBERED - sum(counts.nbytes for _, counts in self._known.values())
        for clique, counts in counted.items():
            if counts.nbytes <= left and frozenset(clique) not in self._known:
                self._known[frozenset(clique)] = (clique, counts.copy())
                left -= counts.nbytes

    # -- scans -----------------------------------------------------------------------------------------------

    def _parts(self, wanted: Sequence[Clique]) -> list[list[Clique]]:
        """The cliques in runs whose tables together take no more than the memory (or one clique alone)."""
        return runs_within(self._domain, wanted, self._records.memory // 8)

    def _scan(self, part: Sequence[Clique]) -> list[Marginal]:
        histogram = Histogram(self._domain, part)
        columns = self._domain.order({name for clique in part for name in clique})
        with progress("counting", total=self._records.rows) as advance:
            for rows, codes in self._mapped(columns):
                histogram.add(codes, rows, checked=True, advance=advance)
        return histogram.marginals()

    def _mapped(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Codes]]]:
        """Every block in this engine's own codes."""
        for rows, codes in self._records.blocks(columns):
            yield (
                rows,
                {n: self._maps[n][column] if n in self._maps else column for n, column in codes.items()},
            )


def check_memory(memory: int) -> int:
    """The memory, once it is a number of bytes that suffices for a stream."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise ParameterError(
            f"memory {memory!r} is not a number of bytes of at least {LEAST_MEMORY:,}.",
            hint="give 1 GB (1 << 30), say.",
        )
    return memory
