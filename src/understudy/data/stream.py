"""The streamed engine: records that come in batches, counted without ever being in memory together.

The first scan codes every batch, keeps the codes on disk (see `cache`) and counts every column alone; all
later scans read the codes. A fault of the source therefore shows in the first scan, which `prepare` makes
before anybody asks, so before anything is charged.

Memory, whatever the number of records: the tables that are asked for, plus `memory` bytes: a few batches,
one block of codes, the counting kernel's working memory, and the tables remembered. A unit column takes one
bit a record besides (see `firsts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.ahead import ahead
from understudy.data.cache import CodeCache
from understudy.data.codes import Codes, check_codes, code_dtype
from understudy.data.firsts import Firsts
from understudy.data.histogram import RESULT_BYTES, Histogram, check_results
from understudy.data.progress import progress
from understudy.data.table import check_recoding
from understudy.domain import Clique, Domain
from understudy.errors import OperatorError, ParameterError
from understudy.marginals import Marginal
from understudy.marginals.counter import Recoding

Batches = Callable[[], Iterator[pa.RecordBatch]]
Coder = Callable[[pa.RecordBatch], Mapping[str, Any]]

MEMORY = 1 << 30
LEAST_MEMORY = 1 << 24
MOST_BLOCK = 1 << 20  # records counted at a time: the kernel's own block
REMEMBERED = 8  # one part in so many of the memory holds tables that may be asked for again


class Streamed:
    """Records as a stream that can be started again and again: `batches()` gives it, `coder` codes a batch.

    `unit` names the column of a batch that says whose record it is, of whom the first `most` are counted, in
    the stream's order. `memory` is in bytes. Without `cache` every scan starts the stream again.
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
        if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
            raise ParameterError(
                f"memory {memory!r} is not a number of bytes of at least {LEAST_MEMORY:,}.",
                hint="give 1 GB (1 << 30), say.",
            )
        self._stream = _Stream(domain, batches, coder, memory, cache, unit, most)
        self._domain, self._maps = domain, dict[str, Codes]()
        self._known: dict[Clique, Any] = {}

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
        self._stream.record()
        return self

    def scans(self, cliques: Sequence[Clique]) -> int:
        """How many times the records will be read to count these cliques: none for those remembered."""
        return len(self._parts(self._unknown([self._domain.clique(clique) for clique in cliques])))

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64; in as few scans as memory allows."""
        wanted = [self._domain.clique(clique) for clique in cliques]
        check_results(self._domain, wanted, RESULT_BYTES)
        self._stream.record()
        counted: dict[Clique, Any] = {}
        for part in self._parts(self._unknown(wanted)):
            counted |= {m.clique: m.counts for m in self._scan(part)}
        self._remember(counted)
        # A copy for every answer, but the last use of a fresh table: nobody's answer is a view of another's.
        uses = (
            {clique: wanted.count(clique) for clique in set(wanted)} if len(set(wanted)) < len(wanted) else {}
        )
        return [
            Marginal(clique, counted[clique])
            if clique in counted and clique not in self._known and uses.get(clique, 1) == 1
            else Marginal(clique, np.array(counted[clique] if clique in counted else self._recall(clique)))
            for clique in wanted
        ]

    def recode(self, maps: Mapping[str, Recoding]) -> Streamed:
        """The same records with code c of column k replaced by maps[k][c], as they are read."""
        other = object.__new__(Streamed)
        other._stream, other._known = self._stream, {}
        other._maps = dict(self._maps)
        sizes = {}
        for name, given in maps.items():
            recoding = check_recoding(name, given, self._domain[name])
            sizes[name] = int(recoding.max()) + 1
            narrow = recoding.astype(code_dtype(sizes[name]))
            other._maps[name] = narrow[self._maps[name]] if name in self._maps else narrow
        other._domain = self._domain.resize(sizes)
        return other

    # -- tables remembered -----------------------------------------------------------------------------------

    def _unknown(self, wanted: Sequence[Clique]) -> list[Clique]:
        """The cliques that no remembered table answers, each once."""
        return [clique for clique in dict.fromkeys(wanted) if self._recall(clique) is None]

    def _recall(self, clique: Clique) -> Any:
        if clique in self._known:
            return self._known[clique]
        alone = self._stream.one_way
        if len(clique) != 1 or clique[0] not in alone:
            return None
        (name,) = clique
        if name not in self._maps:
            return alone[name]
        merged = np.zeros(self._domain[name], np.int64)
        np.add.at(merged, self._maps[name], alone[name])
        return merged

    def _remember(self, counted: Mapping[Clique, Any]) -> None:
        """Keep small tables: a mechanism measures what it has just chosen among."""
        left = self._stream.memory // REMEMBERED - sum(counts.nbytes for counts in self._known.values())
        for clique, counts in counted.items():
            if counts.nbytes <= left:
                self._known[clique] = counts
                left -= counts.nbytes

    # -- scans -----------------------------------------------------------------------------------------------

    def _parts(self, wanted: Sequence[Clique]) -> list[list[Clique]]:
        """The cliques in runs whose tables together take no more than the memory (or one clique alone)."""
        parts: list[list[Clique]] = []
        room = 0
        for clique in wanted:
            size = 8 * self._domain.size(clique)
            if not parts or size > room:
                parts.append([])
                room = self._stream.memory
            parts[-1].append(clique)
            room -= size
        return parts

    def _scan(self, part: Sequence[Clique]) -> list[Marginal]:
        histogram = Histogram(self._domain, part)
        columns = self._domain.order({name for clique in part for name in clique})
        with progress("counting", total=self._stream.rows) as advance:
            for rows, codes in self._stream.blocks(columns):
                mapped = {
                    name: self._maps[name][column] if name in self._maps else column
                    for name, column in codes.items()
                }
                histogram.add(mapped, rows, checked=True, advance=advance)
        return histogram.marginals()


class _Stream:
    """The records as blocks of codes: coded from the source, or read from the cache once there is one."""

    def __init__(
        self,
        domain: Domain,
        batches: Batches,
        coder: Coder,
        memory: int,
        cached: bool,
        unit: str | None,
        most: int,
    ) -> None:
        self.domain, self.memory = domain, memory
        self._batches, self._coder = batches, coder
        self._cached, self._unit, self._most = cached, unit, most
        self.rows: int | None = None  # known after the first scan
        self.one_way: dict[str, Any] = {}
        self._cache: CodeCache | None = None
        self._kept: Firsts | None = None
        width = sum(code_dtype(size).itemsize for size in domain.values())
        self._block = max(1 << 12, min(MOST_BLOCK, memory // 16 // max(1, width)))

    def record(self) -> None:
        """Make the first scan, unless it was made: code, keep, and count every column alone."""
        if self.rows is not None:
            return
        cache, firsts = self._new_cache(), None if self._unit is None else Firsts(self._most, self.memory)
        small = [name for name, size in self.domain.items() if 8 * size <= self.memory // 1024]
        alone = Histogram(self.domain, [(name,) for name in small])
        rows = 0
        with progress("reading and coding") as advance:
            for count, codes, units in ahead(self._coded()):
                cache = self._append(cache, codes, count)
                if firsts is not None:
                    firsts.add(units)
                else:
                    alone.add(codes, count, checked=True)
                rows += count
                advance(count)
        if firsts is not None:
            firsts.close()
        self._cache, self._kept, self.rows = cache, firsts, rows
        if firsts is not None:
            for count, codes in self.blocks(small):
                alone.add(codes, count, checked=True)
        self.one_way = dict(zip(small, alone.counts(), strict=True))

    def blocks(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Codes]]]:
        """Every block: its number of records, and the codes of `columns`, of the records that are kept."""
        first = 0
        for rows, codes in self._all_blocks(columns):
            if self._kept is None:
                yield rows, codes
            else:
                keep = self._kept.keep(first, rows)
                yield int(np.count_nonzero(keep)), {name: column[keep] for name, column in codes.items()}
            first += rows

    def _all_blocks(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Codes]]]:
        if self._cache is not None:
            yield from ahead(self._cache.blocks(columns))
            return
        for rows, codes, _ in ahead(self._coded()):
            yield rows, {name: codes[name] for name in columns}

    def _coded(self) -> Iterator[tuple[int, dict[str, Codes], Any]]:
        """The stream in blocks of codes, each with the units of its records."""
        parts: list[tuple[dict[str, Codes], Any]] = []
        rows = 0
        for batch in self._batches():
            for start in range(0, batch.num_rows, self._block):
                part = batch.slice(start, self._block)
                parts.append(self._code(part))
                rows += part.num_rows
                if rows >= self._block // 2:
                    yield rows, *self._joined(parts)
                    parts, rows = [], 0
        if rows:
            yield rows, *self._joined(parts)

    def _code(self, batch: pa.RecordBatch) -> tuple[dict[str, Codes], Any]:
        given = self._coder(batch)
        codes = {name: check_codes(name, given[name], size) for name, size in self.domain.items()}
        return codes, None if self._unit is None else batch.column(self._unit)

    def _joined(self, parts: Sequence[tuple[dict[str, Codes], Any]]) -> tuple[dict[str, Codes], Any]:
        if len(parts) == 1:
            return parts[0]
        codes = {name: np.concatenate([part[name] for part, _ in parts]) for name in self.domain}
        return codes, None if self._unit is None else pa.chunked_array([units for _, units in parts])

    def _new_cache(self) -> CodeCache | None:
        if not self._cached and self._unit is None:
            return None
        try:
            return CodeCache(self.domain)
        except OSError:
            self._do_without()
            return None

    def _append(self, cache: CodeCache | None, codes: Mapping[str, Codes], rows: int) -> CodeCache | None:
        if cache is None:
            return None
        try:
            cache.append(codes, rows)
        except OSError:
            cache.close()
            self._do_without()
            return None
        return cache

    def _do_without(self) -> None:
        """Go on without a cache: every scan reads the source anew, unless units make its order matter."""
        if self._unit is not None:
            raise OperatorError(
                "the disk has no room for the codes of the records, which a unit column needs.",
                hint="set TMPDIR to a folder with more room: about a byte a cell.",
            )
