"""Codes on disk: one file without a name, read back as often as wanted.

A file without a name is seen by nobody but this process, and the system removes it with its last handle: at
the end, on an error, and after a crash or a power failure. Nothing is left to sweep.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from understudy.data.file_places import read_into, write_at
from understudy.data.scratch import scratch_folder
from understudy.domain import Domain
from understudy.domain.codes import Codes, code_type
from understudy.errors import OperatorError


class CodeCache:
    """Blocks of coded columns, each column the smallest unsigned type of its size."""

    def __init__(self, domain: Domain, folder: str | os.PathLike[str] | None = None) -> None:
        self._types = {name: code_type(size) for name, size in domain.items()}
        self._width = sum(kind.itemsize for kind in self._types.values())
        self._blocks: list[tuple[int, int]] = []  # rows, where in the file
        self._end = 0
        with tempfile.TemporaryFile(dir=scratch_folder() if folder is None else folder, buffering=0) as file:
            self._handle = os.dup(file.fileno())
        self.close = weakref.finalize(self, os.close, self._handle)

    @property
    def bytes(self) -> int:
        """How much disk it takes."""
        return self._end

    def append(self, codes: Mapping[str, Codes], rows: int) -> None:
        """Add a block. Raises OSError when the disk refuses it."""
        place = self._end
        for name, kind in self._types.items():
            column = np.ascontiguousarray(codes[name], kind)
            place = self._write(column.view(np.uint8).data, place)
        self._blocks.append((rows, self._end))
        self._end = place

    def blocks(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Codes]]]:
        """Every block, in order: its number of records and the codes of `columns`."""
        for rows, start in self._blocks:
            place, found = start, {}
            for name, kind in self._types.items():
                if name in columns:
                    found[name] = self._read(np.empty(rows, kind), place)
                place += rows * kind.itemsize
            yield rows, found

    def _write(self, data: memoryview, place: int) -> int:
        while data:
            written = write_at(self._handle, data, place)
            data, place = data[written:], place + written
        return place

    def _read(self, target: Codes, place: int) -> Codes:
        view = target.view(np.uint8).data
        while view:
            got = read_into(self._handle, view, place)
            if not got:
                raise OperatorError("the cache of codes on disk was cut short.", hint="run it again.")
            view, place = view[got:], place + got
        return target
