"""Batches of coded columns in, exact counts of many cliques out.

Counts add, so a `Histogram` is fed one batch or a thousand. Every engine counts with it.

Memory, whatever the request: the results (8 bytes a cell, at most `limit` bytes, refused in exact
integers before anything is counted) plus at most `WORKING_BYTES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from understudy.data.counting.program import Program
from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes, check_codes
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.marginals import Marginal
from understudy.processors import available_cores

Counts = npt.NDArray[np.int64]

# The most that the results of one request may take, and the most that counting needs besides.
RESULT_BYTES = 6 << 30
WORKING_BYTES = 512 << 20
MAX_CELLS = (1 << 32) - 1  # of one marginal: cell numbers are 32-bit
MAX_THREADS = 8
FEW_A_COLUMN = 6  # cliques: so many are counted in small blocks
SMALL_WORK = 200_000  # increments below which starting threads costs more than it saves


class Histogram:
    """Counts of `cliques`, over the records added so far."""

    def __init__(
        self,
        domain: Domain,
        cliques: Iterable[Iterable[str] | str],
        *,
        limit: int = RESULT_BYTES,
        threads: int | None = None,
    ) -> None:
        self.domain = domain
        self.cliques = [domain.clique(clique) for clique in cliques]
        self.rows = 0
        self._shapes = [domain.shape(clique) for clique in self.cliques]
        cells = [math.prod(shape) for shape in self._shapes]
        _check_cells(self.cliques, cells, limit)
        self._threads = min(threads or available_cores(), MAX_THREADS)
        # A clique is counted once, however often and in whatever order it is asked for.
        first: dict[frozenset[str], int] = {}
        self._place = [first.setdefault(frozenset(clique), i) for i, clique in enumerate(self.cliques)]
        self._distinct = [self.cliques[i] for i in first.values()]
        self._columns = domain.order({name for clique in self._distinct for name in clique})
        self._ends = ends = list(accumulate(cells[place] for place in first.values()))
        self._starts = [0, *ends][: len(ends)]
        self._start_of = dict(zip(first.values(), self._starts, strict=True))
        self._results = np.zeros(ends[-1] if ends else 0, np.int64)
        self._program: tuple[int, Program] | None = None
        self._packed = np.empty(
            0, np.uint16
        )  # from one block to the next: new memory costs as much as packing

    def add(
        self,
        columns: Mapping[str, npt.ArrayLike],
        rows: int | None = None,
        *,
        checked: bool = False,
        advance: Callable[[int], object] | None = None,
    ) -> None:
        """Count one batch: an array of codes for every column in a clique, all of one length.

        `rows` is needed only when `columns` is empty. `checked` vouches that the codes are unsigned arrays
        within the domain. `advance` is told how many records were counted, block by block.
        """
        batch = self._batch(columns, checked)
        lengths = {np.size(codes) for codes in (batch or columns).values()}
        lengths |= {rows} if rows is not None else set()
        if len(lengths) > 1:
            raise ParameterError(f"columns of one batch have different lengths: {sorted(lengths)}.")
        count = lengths.pop() if lengths else 0
        block = self._block_rows(count)
        for start in range(0, count, block):
            stop = min(start + block, count)
            self._count_block({name: codes[start:stop] for name, codes in batch.items()}, stop - start)
            if advance is not None:
                advance(stop - start)
        self.rows += count

    def counts(self) -> list[Counts]:
        """The counts of every clique, in the order asked, axes in each clique's own order.

        Distinct cliques share one buffer with the histogram: copy what must outlive the next `add`.
        """
        results = []
        ends = dict(zip(self._start_of, self._ends, strict=True))
        for number, (clique, place) in enumerate(zip(self.cliques, self._place, strict=True)):
            table = self._results[self._start_of[place] : ends[place]].reshape(self._shapes[place])
            if not clique:
                table = np.array(self.rows, np.int64)
            elif number != place:
                first = self.cliques[place]
                table = table.transpose([first.index(name) for name in clique]).copy()
            results.append(table)
        return results

    def marginals(self) -> list[Marginal]:
        """The counts as marginals, in the order asked."""
        return [Marginal(c, counts) for c, counts in zip(self.cliques, self.counts(), strict=True)]

    def _batch(self, columns: Mapping[str, npt.ArrayLike], checked: bool) -> dict[str, Codes]:
        for name in self._columns:
            if name not in columns:
                raise DomainError(f"column {name!r} is in a clique but not in the batch.")
        if checked:
            return {name: columns[name] for name in self._columns}  # type: ignore[misc]  # checked: arrays of codes
        return {name: check_codes(name, columns[name], self.domain[name]) for name in self._columns}

    def _block_rows(self, count: int) -> int:
        """Records a block, of so many in all, so that packed codes (2 bytes a row of the program) and every thread's
        left (4 bytes) fit in half the working memory."""
        if not self._columns:
            return max(1, count)
        # Many cliques are packed together the better the more records there are; few are counted in less time than
        # it takes the system to hand out so much memory.
        few = len(self._distinct) <= FEW_A_COLUMN * len(self._columns)
        most = min(1 << 20, WORKING_BYTES // (16 if few else 2) // self._row_bytes())
        if not few and most < count <= 1 << 20:  # tables are read off once a block: one is best
            whole = count * (2 * self._program_for(count).height + 4 * self._threads)
            most = count if whole <= WORKING_BYTES // 2 else most
        return max(1024, most)

    def _row_bytes(self) -> int:
        """What a record may take at most: each column is packed at most once an order and once alone, in two rows."""
        orders = len({len(clique) for clique in self._distinct})
        wide = sum(self.domain[name] > 1 << 16 for name in self._columns)
        return 2 * (len(self._columns) + wide) * (orders + 1) + 4 * self._threads

    def _program_for(self, rows: int) -> Program:
        """The program for blocks of about this many records, kept from one block to the next."""
        scale = rows.bit_length()
        if self._program is None or self._program[0] != scale:
            self._program = (scale, Program(self.domain, self._distinct, self._starts, rows))
        return self._program[1]

    def _count_block(self, batch: Mapping[str, Codes], rows: int) -> None:
        if not batch:
            return
        from understudy.data.counting.kernel import run_program  # Numba takes a while to import

        program = self._program_for(rows)
        if self._packed.size < program.height * rows:
            self._packed = np.empty(program.height * rows, np.uint16)
        packed = self._packed[: program.height * rows].reshape(program.height, rows)

        def pack(unit: tuple[str, ...]) -> None:
            program.pack(unit, batch, packed)

        def make(share: tuple[int, int]) -> None:
            arrays = (program.members, program.runs, program.passes, program.folds, program.offsets)
            run_program(packed, *arrays, program.scratch, self._results, *share)

        if self._threads == 1 or rows * len(program.passes) < SMALL_WORK:
            for unit in program.units:
                pack(unit)
            make((0, len(program.runs)))
            return
        # Every clique belongs to one pass and every pass to one thread, so threads share no result.
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(pack, program.units))
            list(pool.map(make, _shares(len(program.runs), 8 * self._threads)))


def check_results(domain: Domain, cliques: Sequence[Clique], limit: int = RESULT_BYTES) -> None:
    """Refuse a request whose counts would take more than `limit` bytes, before anything is counted."""
    _check_cells(cliques, [domain.size(clique) for clique in cliques], limit)


def _check_cells(cliques: Sequence[Clique], cells: Sequence[int], limit: int) -> None:
    if max(cells, default=0) > MAX_CELLS:
        clique, most = next(pair for pair in zip(cliques, cells, strict=True) if pair[1] > MAX_CELLS)
        raise SizeError(
            f"clique {clique!r} has {most:,} cells; one marginal may have {MAX_CELLS:,}.",
            hint="compress its columns into fewer codes, or leave one out.",
        )
    total = 8 * sum(cells)
    if total > limit:
        raise SizeError(
            f"the counts of {len(cliques):,} cliques take {total:,} bytes; the limit is {limit:,}.",
            hint="compress large columns into fewer codes first, or ask for fewer cliques at a time.",
        )


def _shares(count: int, most: int) -> list[tuple[int, int]]:
    """`count` items divided into at most `most` shares of nearly equal size."""
    parts = min(count, most)
    return [(count * i // parts, count * (i + 1) // parts) for i in range(parts)]
