"""The marginals of a clique that a fit looks at: the largest ones, from which the smaller ones are read off.

A separator, an observed marginal, a total: many places may look at one clique, often at the same columns. Cells
meet only the marginals; a place meets the marginal that contains it, which is a small table. Where many small ones
are looked at, cells meet a few tables that hold them (`waypoints`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from understudy.domain import Clique, Domain
from understudy.model.tree.tree_layout import Integers, Ports, Projections, TreeLayout
from understudy.model.tree.waypoints import waypoints

_LARGE = 1 << 17  # cells of a clique from which it is divided into pieces
_PIECES = 4


@dataclass(frozen=True, eq=False)
class CliqueMarginals:
    """The arrays that `dual_kernels` walks, and how places lie in marginals, as `exchange` reads them."""

    tables: Integers
    sizes: Integers
    marginals: Integers
    strides: Integers
    cells: int  # of all marginals together
    spans: Integers  # of every marginal: its first cell, its cells
    ports: Ports
    shapes: tuple[Integers, Integers, Integers]
    units: Integers  # the work, in pieces that do not share what they write
    spare: tuple[tuple[slice, slice], ...]  # where later pieces of a clique sum, and where that belongs
    room: int  # cells of all marginals and of what lies beside them

    @property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers]:
        """What `dual_kernels.respond` needs to know of the model."""
        return self.tables, self.sizes, self.marginals, self.strides


def lay_out_marginals(layout: TreeLayout) -> CliqueMarginals:
    """The marginals of every clique of a layout: what its separators, observed marginals and totals look at."""
    builder = _Builder(layout)
    seen: list[list[tuple[int, Clique, int]]] = [[] for _ in layout.cliques]
    for k, at, columns, sign in _places(layout):
        seen[k].append((at, columns, sign))
    for k, places in enumerate(seen):
        builder.add(k, places)
    return builder.built()


class _Builder:
    """Grows the lists of tables and marginals, clique by clique."""

    def __init__(self, layout: TreeLayout) -> None:
        self.layout, self.domain = layout, layout.tree.domain
        self.tables: list[tuple[int, ...]] = []
        self.sizes: list[int] = []
        self.marginals: list[tuple[int, ...]] = []
        self.strides: list[int] = []
        self.spans: list[tuple[int, ...]] = []
        self.ports: list[tuple[int, int, int, int]] = []
        self.projections = Projections(self.domain)
        self.cells = 0

    def add(self, k: int, places: list[tuple[int, Clique, int]]) -> None:
        """Lay out clique `k` for the places that look at it, each given by its position, its columns and its sign."""
        clique, seen = self.layout.tree.cliques[k], sorted({columns for _, columns, _ in places})
        largest = _largest([*seen, *(table for table, _ in waypoints(self.domain, clique, seen))])
        *outer, inner = _axes(self.domain, clique, largest)
        largest.sort(key=lambda marginal: not set(inner) <= set(marginal))
        flat = sum(set(inner) <= set(marginal) for marginal in largest)
        first, start = len(self.marginals), int(self.layout.cliques[k, 0])
        width = self.domain.size(inner)
        self.tables.append((start, len(self.sizes), len(outer), width, first, flat, len(largest)))
        self.sizes += [self.domain.size(axis) for axis in outer]
        for marginal in largest:
            self.marginals.append((self.cells, len(self.strides)))
            self.spans.append((self.cells, self.domain.size(marginal)))
            self.strides += [_stride(self.domain, marginal, axis) for axis in outer]
            self.cells += self.domain.size(marginal)
        for at, columns, sign in places:
            home = next(f for f, marginal in enumerate(largest) if set(columns) <= set(marginal))
            self.ports.append((first + home, at, self.projections.add(largest[home], columns), sign))

    def built(self) -> CliqueMarginals:
        """The arrays of all cliques added."""
        layout = self.layout
        units, spare, room = self._units()
        places = layout.separator_cells + layout.observed_cells + len(layout.tree.roots)
        return CliqueMarginals(
            _integers(self.tables, 7),
            np.array(self.sizes, np.int64),
            _integers(self.marginals, 2),
            np.array(self.strides, np.int64),
            self.cells,
            _integers(self.spans, 2),
            Ports.of(len(self.marginals), self.ports, places),
            self.projections.arrays(),
            units,
            spare,
            room,
        )

    def _units(self) -> tuple[Integers, tuple[tuple[slice, slice], ...], int]:
        """The units of work: one a clique, several for a large one. They never vary, so that sums do not either."""
        units: list[tuple[int, ...]] = []
        spare, room = [], self.cells
        for k, (_, axis, axes, width, marginal, _, count) in enumerate(self.tables):
            rows = math.prod(self.sizes[axis : axis + axes])
            start, stop = self.spans[marginal][0], sum(self.spans[marginal + count - 1])
            pieces = 1
            if rows * width >= _LARGE:  # as long as summing up beside the marginals costs little
                pieces = max(1, min(_PIECES, rows, rows * width // (4 * (stop - start))))
            for piece in range(pieces):
                shift = room - start if piece else 0
                units.append((k, rows * piece // pieces, rows * (piece + 1) // pieces, shift))
                if piece:
                    spare.append((slice(room, room + stop - start), slice(start, stop)))
                    room += stop - start
        return _integers(units, 4), tuple(spare), room


def _places(layout: TreeLayout) -> Iterator[tuple[int, int, Clique, int]]:
    """Every separator from both sides, every observed marginal, the total of every root: clique, where, what, sign.

    They lie in this order, one after another.
    """
    tree, edges = layout.tree, layout.separator_cells
    for k, (_, _, above, at, *_) in enumerate(layout.cliques.tolist()):
        if above >= 0:
            yield k, at, tree.separator(k), 1
            yield above, at, tree.separator(k), -1
    for (home, at, _), columns in zip(layout.places, layout.marginals, strict=True):
        yield home, edges + at, columns, 1
    for i, k in enumerate(tree.roots):
        yield k, edges + layout.observed_cells + i, (), 1


def _largest(seen: Iterable[Clique]) -> list[Clique]:
    """The cliques that no other one contains."""
    sets = {columns: set(columns) for columns in seen}
    return sorted(c for c in sets if not any(sets[c] < other for other in sets.values()))


def _axes(domain: Domain, clique: Clique, marginals: list[Clique]) -> list[Clique]:
    """The clique's axes, outermost first; neighbours that the same marginals keep are one axis."""
    axes: list[Clique] = []
    patterns: list[tuple[bool, ...]] = []
    for name in clique:
        pattern = tuple(name in marginal for marginal in marginals)
        if domain[name] == 1:
            continue
        if patterns and patterns[-1] == pattern:
            axes[-1] += (name,)
        else:
            axes.append((name,))
            patterns.append(pattern)
    return axes or [clique]


def _stride(domain: Domain, marginal: Clique, axis: Clique) -> int:
    """How far apart in a marginal neighbours along this axis are, 0 where it is summed."""
    return domain.size(marginal[marginal.index(axis[-1]) + 1 :]) if axis[-1] in marginal else 0


def _integers(rows: list[tuple[int, ...]], columns: int) -> Integers:
    return np.array(rows, np.int64).reshape(-1, columns)
