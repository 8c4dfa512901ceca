"""The faces of a clique: the largest of its marginals that a fit looks at, of which the smaller ones are read off.

A separator, an observed marginal, a total: many places may look at one clique, often at the same columns. Cells
meet only the faces; a place meets the face that contains it, which is a small table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from understudy.domain import Clique, Domain
from understudy.model.plan import Integers, Plan, Ports, Projections

_LARGE = 1 << 17  # cells of a clique from which it is divided into pieces
_PIECES = 4


@dataclass(frozen=True, eq=False)
class Faces:
    """The layout that `response.py` walks, and how places lie in faces (in the form of `kernels.press`)."""

    tables: Integers
    sizes: Integers
    faces: Integers
    strides: Integers
    cells: int  # of all faces together
    spans: Integers  # of every face: its first cell, its cells
    ports: Ports
    shapes: tuple[Integers, Integers, Integers]
    units: Integers  # the work, in pieces that do not share what they write
    spare: tuple[
        tuple[slice, slice], ...
    ]  # what a later piece of a clique sums beside its faces, and where it belongs
    room: int  # cells of all faces and of what lies beside them

    @property
    def layout(self) -> tuple[Integers, Integers, Integers, Integers]:
        """What `response.respond` needs to know of the model."""
        return self.tables, self.sizes, self.faces, self.strides


def make_faces(plan: Plan) -> Faces:
    """The faces of every clique of a plan: what its separators, observed marginals and totals look at."""
    builder = _Builder(plan)
    seen: list[list[tuple[int, Clique, int]]] = [[] for _ in plan.cliques]
    for k, at, columns, sign in _places(plan):
        seen[k].append((at, columns, sign))
    for k, places in enumerate(seen):
        builder.add(k, places)
    return builder.built()


class _Builder:
    """Grows the lists of tables and faces, clique by clique."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.domain = plan, plan.tree.domain
        self.tables: list[tuple[int, ...]] = []
        self.sizes: list[int] = []
        self.faces: list[tuple[int, ...]] = []
        self.strides: list[int] = []
        self.spans: list[tuple[int, ...]] = []
        self.ports: list[tuple[int, int, int, int]] = []
        self.projections = Projections(self.domain)
        self.cells = 0

    def add(self, k: int, places: list[tuple[int, Clique, int]]) -> None:
        """Lay out clique `k`, at which these places look: where they are, their columns and sign."""
        largest = _largest({columns for _, columns, _ in places})
        *outer, inner = _axes(self.domain, self.plan.tree.cliques[k], largest)
        largest.sort(key=lambda face: not set(inner) <= set(face))
        flat = sum(set(inner) <= set(face) for face in largest)
        first, start = len(self.faces), int(self.plan.cliques[k, 0])
        width = self.domain.size(inner)
        self.tables.append((start, len(self.sizes), len(outer), width, first, flat, len(largest)))
        self.sizes += [self.domain.size(axis) for axis in outer]
        for face in largest:
            self.faces.append((self.cells, len(self.strides)))
            self.spans.append((self.cells, self.domain.size(face)))
            self.strides += [_stride(self.domain, face, axis) for axis in outer]
            self.cells += self.domain.size(face)
        for at, columns, sign in places:
            home = next(f for f, face in enumerate(largest) if set(columns) <= set(face))
            self.ports.append((first + home, at, self.projections.add(largest[home], columns), sign))

    def built(self) -> Faces:
        """The layout of all cliques added."""
        plan = self.plan
        units, spare, room = self._units()
        places = plan.separator_cells + plan.observed_cells + len(plan.tree.roots)
        return Faces(
            _integers(self.tables, 7),
            np.array(self.sizes, np.int64),
            _integers(self.faces, 2),
            np.array(self.strides, np.int64),
            self.cells,
            _integers(self.spans, 2),
            Ports.of(len(self.faces), self.ports, places),
            self.projections.arrays(),
            units,
            spare,
            room,
        )

    def _units(self) -> tuple[Integers, tuple[tuple[slice, slice], ...], int]:
        """Every clique as one unit of work, large ones as several: always the same, so that sums are, too."""
        units: list[tuple[int, ...]] = []
        spare, room = [], self.cells
        for k, (_, axis, axes, width, face, _, count) in enumerate(self.tables):
            rows = math.prod(self.sizes[axis : axis + axes])
            start, stop = self.spans[face][0], sum(self.spans[face + count - 1])
            pieces = 1
            if rows * width >= _LARGE:  # as long as summing up beside the faces costs little
                pieces = max(1, min(_PIECES, rows, rows * width // (4 * (stop - start))))
            for piece in range(pieces):
                shift = room - start if piece else 0
                units.append((k, rows * piece // pieces, rows * (piece + 1) // pieces, shift))
                if piece:
                    spare.append((slice(room, room + stop - start), slice(start, stop)))
                    room += stop - start
        return _integers(units, 4), tuple(spare), room


def _places(plan: Plan) -> Iterator[tuple[int, int, Clique, int]]:
    """Every separator from both sides, every observed marginal, the total of every root: clique, where, what, sign.

    They lie in this order, one after another.
    """
    tree, edges = plan.tree, plan.separator_cells
    for k, (_, _, above, at, *_) in enumerate(plan.cliques.tolist()):
        if above >= 0:
            yield k, at, tree.separator(k), 1
            yield above, at, tree.separator(k), -1
    for (home, at, _), columns in zip(plan.places, plan.marginals, strict=True):
        yield home, edges + at, columns, 1
    for i, k in enumerate(tree.roots):
        yield k, edges + plan.observed_cells + i, (), 1


def _largest(seen: Iterable[Clique]) -> list[Clique]:
    """Those that no other one contains."""
    sets = {columns: set(columns) for columns in seen}
    return sorted(c for c in sets if not any(sets[c] < other for other in sets.values()))


def _axes(domain: Domain, clique: Clique, faces: list[Clique]) -> list[Clique]:
    """The clique's axes, outermost first; neighbours that the same faces keep are one axis."""
    axes: list[Clique] = []
    patterns: list[tuple[bool, ...]] = []
    for name in clique:
        pattern = tuple(name in face for face in faces)
        if domain[name] == 1:
            continue
        if patterns and patterns[-1] == pattern:
            axes[-1] += (name,)
        else:
            axes.append((name,))
            patterns.append(pattern)
    return axes or [clique]


def _stride(domain: Domain, face: Clique, axis: Clique) -> int:
    """How far apart in a face neighbours along this axis are, 0 where it is summed."""
    return domain.size(face[face.index(axis[-1]) + 1 :]) if axis[-1] in face else 0


def _integers(rows: list[tuple[int, ...]], columns: int) -> Integers:
    return np.array(rows, np.int64).reshape(-1, columns)
