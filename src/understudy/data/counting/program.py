"""A counting plan as flat arrays of integers, which the kernel runs without coming back to Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from understudy.data.counting.packing import Pass, Unit, plan, unit_size
from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes

Integers = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.uint32]
Member = tuple[int, int]  # a row of the packed codes, and what one step of its code is worth

NARROW = 1 << 16  # packed codes are 16-bit; a unit with more takes two rows, high digit and low
RUN_PASSES = 16  # passes a run, so that the cores can share the runs evenly


class Program:
    """What to pack, which tables to fill and what to read off them, for one request.

    A *run* is passes that share all units but the last, so that these are combined once.

    members  row, stride            the left of a run is the sum of code * stride
    runs     members from, to; passes from, to
    passes   right row (or -1), width, cells, where in the results (or -1: a table of its own), folds from, to
    folds    left offsets from, to; right offsets from, to; where in the results
    """

    def __init__(self, domain: Domain, cliques: Sequence[Clique], starts: Sequence[int], rows: int) -> None:
        self._cliques, self._starts = cliques, starts
        self._sizes = dict(domain.items())
        passes = plan(cliques, self._sizes, rows)
        self.units = sorted({unit for step in passes for unit in step.units})
        self._size = {unit: unit_size(unit, self._sizes) for unit in self.units}
        self._row: dict[Unit, int] = {}
        self.height = 0
        for unit, size in self._size.items():
            self._row[unit] = self.height
            self.height += 1 if size <= NARROW else 2
        self.scratch = max((step.cells for step in passes if not step.in_place), default=0)
        self._parts: list[Offsets] = []
        self._part_at: dict[tuple[object, ...], tuple[int, int]] = {}
        self._length = 0
        self._flatten(passes)
        self.offsets = np.concatenate(self._parts) if self._parts else np.empty(0, np.uint32)
        del self._parts, self._part_at

    def pack(self, unit: Unit, batch: Mapping[str, Codes], packed: npt.NDArray[np.uint16]) -> None:
        """Write a unit's codes into its rows: those of its columns as the digits of one number."""
        row = self._row[unit]
        if self._size[unit] > NARROW:
            np.right_shift(batch[unit[0]], 16, out=packed[row], casting="unsafe")
            np.bitwise_and(batch[unit[0]], NARROW - 1, out=packed[row + 1], casting="unsafe")
            return
        packed[row] = batch[unit[0]]
        for name in unit[1:]:
            packed[row] *= np.uint16(self._sizes[name])
            np.add(packed[row], batch[name], out=packed[row], casting="unsafe")

    def _flatten(self, passes: Sequence[Pass]) -> None:
        by_left: dict[tuple[Member, ...], list[tuple[int, int, Pass]]] = defaultdict(list)
        for step in passes:
            left, width, right = self._split(step.units)
            by_left[left].append((right, width, step))
        members: list[Member] = []
        runs: list[tuple[int, ...]] = []
        steps: list[tuple[int, ...]] = []
        folds: list[tuple[int, ...]] = []
        for left, group in by_left.items():
            first = len(members)
            members += left
            for start in range(0, len(group), RUN_PASSES):
                before = len(steps)
                for right, width, step in group[start : start + RUN_PASSES]:
                    where = self._starts[step.cliques[0]] if step.in_place else -1
                    read = [] if step.in_place else [self._fold(step.units, i) for i in step.cliques]
                    steps.append((right, width, step.cells, where, len(folds), len(folds) + len(read)))
                    folds += read
                runs.append((first, len(members), before, len(steps)))
        self.members = _table(members, 2)
        self.runs = _table(runs, 4)
        self.passes = _table(steps, 6)
        self.folds = _table(folds, 5)

    def _split(self, units: Sequence[Unit]) -> tuple[tuple[Member, ...], int, int]:
        """The members of a pass's left, the width of its right, and the right's row (-1 for none)."""
        width = self._size[units[-1]]
        if len(units) == 1 or width > NARROW:
            return self._members(units), 1, -1
        return self._members(units[:-1]), width, self._row[units[-1]]

    def _members(self, units: Sequence[Unit]) -> tuple[Member, ...]:
        members, stride = [], 1
        for unit in reversed(units):
            size = self._size[unit]
            if size > NARROW:
                members += [(self._row[unit], stride * NARROW), (self._row[unit] + 1, stride)]
            else:
                members.append((self._row[unit], stride))
            stride *= size
        return tuple(members)

    def _fold(self, units: Sequence[Unit], number: int) -> tuple[int, int, int, int, int]:
        """How to sum a table over `units` onto a clique: where each left and right code points."""
        strides, stride, sizes = {}, 1, self._sizes
        for name in reversed(self._cliques[number]):
            strides[name] = stride
            stride *= sizes[name]
        worth = [tuple([strides.get(name, 0) for name in unit]) for unit in units]
        if len(units) == 1:
            return *self._place(units, worth), *self._place((), ()), self._starts[number]
        left = self._place(units[:-1], worth[:-1])
        return *left, *self._place(units[-1:], worth[-1:]), self._starts[number]

    def _place(self, units: Sequence[Unit], worth: Sequence[tuple[int, ...]]) -> tuple[int, int]:
        """Where the offsets of these units' codes stand among all offsets; made once."""
        key = (tuple(units), tuple(worth))
        if key not in self._part_at:
            digits = [
                np.arange(self._sizes[name], dtype=np.uint32) * np.uint32(step)
                for unit, steps in zip(units, worth, strict=True)
                for name, step in zip(unit, steps, strict=True)
            ]
            part = reduce(lambda a, b: np.add.outer(a, b).reshape(-1), digits, np.zeros(1, np.uint32))
            self._parts.append(part)
            self._part_at[key] = (self._length, self._length + len(part))
            self._length += len(part)
        return self._part_at[key]


def _table(rows: Sequence[tuple[int, ...]], width: int) -> Integers:
    return np.array(rows, np.int64).reshape(-1, width)
