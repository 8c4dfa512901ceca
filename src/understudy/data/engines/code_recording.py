"""Records as blocks of codes: coded from their source in a first scan, read from disk in every later one.

With a unit column only the records that count are on disk, so no later scan needs the source, or its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.counting.bytes_of_values import code_bytes, codes_of_bytes, unit_bytes
from understudy.data.counting.histogram import Histogram
from understudy.data.counting.kept_records import KeptRecords
from understudy.data.engines.code_cache import CodeCache
from understudy.data.progress_bar import progress
from understudy.data.read_ahead import read_ahead
from understudy.data.whole_batches import whole_batches
from understudy.domain import Domain
from understudy.domain.codes import Codes, check_codes, code_type
from understudy.errors import OperatorError

Batches = Callable[[], Iterator[pa.RecordBatch]]
Coder = Callable[[pa.RecordBatch], Mapping[str, Any]]

MOST_BLOCK = 1 << 20  # records counted at a time: the kernel's own block


class CodeRecording:
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
        width = sum(code_type(size).itemsize for size in domain.values())
        self._block = max(1 << 12, min(MOST_BLOCK, memory // 16 // max(1, width)))

    def record(self) -> None:
        """Make the first scan, unless it was made: code, keep, and count every column alone."""
        if self.rows is not None:
            return
        cache = self._new_cache()
        small = [name for name, size in self.domain.items() if 8 * size <= self.memory // 1024]
        alone = Histogram(self.domain, [(name,) for name in small])
        rows = 0
        for count, codes in self._counted():
            cache = self._append(cache, codes, count)
            alone.add({name: codes[name] for name in small}, count, checked=True)
            rows += count
        self._cache, self.rows = cache, rows
        self.one_way = dict(zip(small, alone.counts(), strict=True))

    def blocks(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Codes]]]:
        """Every block: its number of records, and the codes of `columns`, of the records that count."""
        if self._cache is not None:
            yield from read_ahead(self._cache.blocks(columns))
            return
        for rows, codes, _ in read_ahead(self._coded()):
            yield rows, {name: codes[name] for name in columns}

    def _counted(self) -> Iterator[tuple[int, dict[str, Codes]]]:
        """The records that count, in blocks, coded from the source: at most `most` of every unit."""
        kept = None if self._unit is None else KeptRecords(self._most, self.memory)
        with progress("reading and coding") as advance:
            for count, codes, units in read_ahead(self._coded()):
                if kept is None:
                    yield count, codes
                else:
                    kept.add(units, code_bytes(self.domain, codes, count))
                advance(count)
        for contents in () if kept is None else kept.contents():
            yield len(contents), codes_of_bytes(self.domain, contents)

    def _coded(self) -> Iterator[tuple[int, dict[str, Codes], Any]]:
        """The stream in blocks of codes, each with the units of its records."""
        parts: list[tuple[dict[str, Codes], Any]] = []
        rows = 0
        for batch in whole_batches(self._batches()):
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
        # As bytes: files of one set may hold units in other types, and which meet in a block depends on their sizes.
        return codes, None if self._unit is None else unit_bytes(batch.column(self._unit))

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
        """Go on without a cache: every scan reads the source anew, unless units decide which records count."""
        if self._unit is not None:
            raise OperatorError(
                "the disk has no room for the codes of the records, which a unit column needs.",
                hint="set TMPDIR to a folder with more room: about a byte a cell.",
            )
