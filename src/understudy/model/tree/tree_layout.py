"""A junction tree as integers: where every table lies, and how its cells project onto smaller ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.model.tree.junction_tree import JunctionTree
from understudy.model.tree.waypoints import waypoints

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ports:
    """Places in a vector that cliques project onto, clique by clique: `rows[first[k]:first[k + 1]]` are those of k.

    Columns of `rows`: where in the vector, by which projection, with which sign (see `propagation_kernels.exchange`).
    """

    rows: Integers
    first: Integers
    cells: int

    @property
    def arrays(self) -> tuple[Integers, Integers]:
        """What `exchange` needs to know of them."""
        return self.rows, self.first

    @property
    def unsigned(self) -> Ports:
        """The places with every sign positive."""
        return Ports(np.abs(self.rows), self.first, self.cells)

    @classmethod
    def of(cls, cliques: int, rows: Sequence[tuple[int, int, int, int]], cells: int) -> Ports:
        """Ports from rows of four integers: the clique, and the three columns of `rows`."""
        ordered = sorted(rows)
        counts = np.bincount(np.array([row[0] for row in ordered], np.int64), minlength=cliques)
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return cls(np.array([row[1:] for row in ordered], np.int64).reshape(-1, 3), first, cells)


@dataclass(frozen=True, eq=False)
class ReadingRoutes:
    """How observed marginals are read: some off their clique, others off a table on the way (see `waypoints`)."""

    direct: Ports
    tables: Integers  # on the way: where each lies
    onto_tables: Ports
    onto_marginals: Ports


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """The flat layout of a tree and of the marginals observed in it; columns as in `propagation_kernels`."""

    tree: JunctionTree
    cliques: Integers
    shapes: tuple[Integers, Integers, Integers]  # projections, sizes and strides: see `projection_kernels`
    observed: Ports
    marginals: tuple[Clique, ...]  # the observed ones
    places: tuple[tuple[int, int, int], ...]  # of every observed marginal: its home, where it lies, its size
    walk: tuple[int, ...]
    cells: int
    separator_cells: int
    routes: ReadingRoutes

    @property
    def observed_cells(self) -> int:
        """The cells of all observed marginals together."""
        return self.observed.cells

    def split(self, flat: Floats) -> list[Floats]:
        """The tables of a flat array, one a clique, shaped by its columns (views)."""
        domain = self.tree.domain
        return [
            flat[a : a + n].reshape(domain.shape(clique))
            for clique, (a, n) in zip(self.tree.cliques, self.cliques[:, :2].tolist(), strict=True)
        ]

    def flatten(self, tables: Sequence[Floats]) -> Floats:
        """Tables, one a clique, as one flat array (a copy)."""
        return np.concatenate([np.asarray(table, np.float64).reshape(-1) for table in tables])


def lay_out_tree(tree: JunctionTree, observed: Sequence[Clique] = ()) -> TreeLayout:
    """The layout of `tree` with the marginals of `observed` (in the domain's order) read from it.

    Each is read from the smallest clique that contains it: that keeps the curvature low.
    """
    builder = Projections(tree.domain)
    rows = []
    start = separator_start = 0
    for k, clique in enumerate(tree.cliques):
        cells, separator = tree.domain.size(clique), tree.separator(k)
        above = tree.parent[k]
        width = tree.domain.size(separator) if above >= 0 else 0
        down = builder.add(clique, separator) if above >= 0 else -1
        up = builder.add(tree.cliques[above], separator) if above >= 0 else -1
        rows.append((start, cells, above, separator_start, width, down, up))
        start += cells
        separator_start += width
    seen, places, observed_start = [], [], 0
    for clique in observed:
        home = tree.home(clique)
        assert home is not None
        places.append((home, observed_start, tree.domain.size(clique)))
        seen.append((home, observed_start, builder.add(tree.cliques[home], clique), 1))
        observed_start += tree.domain.size(clique)
    routes = _routes(tree, builder, observed, seen, observed_start)
    return TreeLayout(
        tree,
        np.array(rows, np.int64).reshape(-1, 7),
        builder.arrays(),
        Ports.of(len(rows), seen, observed_start),
        tuple(observed),
        tuple(places),
        tuple(_walk(tree)),
        start,
        separator_start,
        routes,
    )


def _routes(
    tree: JunctionTree,
    builder: Projections,
    observed: Sequence[Clique],
    seen: Sequence[tuple[int, int, int, int]],
    cells: int,
) -> ReadingRoutes:
    """The routes to marginals of which clique and place are `seen`, in the order of `observed`."""
    at_home: dict[int, list[int]] = {}
    for place, (home, *_) in enumerate(seen):
        at_home.setdefault(home, []).append(place)
    tables: list[int] = []
    first, second, direct, start = [], [], set(range(len(seen))), 0
    for home, places in at_home.items():
        clique = tree.cliques[home]
        for table, within in waypoints(tree.domain, clique, [observed[place] for place in places]):
            first.append((home, start, builder.add(clique, table), 1))
            for place in (places[one] for one in within):
                second.append((len(tables), seen[place][1], builder.add(table, observed[place]), 1))
                direct.remove(place)
            tables.append(start)
            start += tree.domain.size(table)
    count = len(tree.cliques)
    return ReadingRoutes(
        Ports.of(count, [seen[place] for place in direct], cells),
        np.array(tables, np.int64).reshape(-1, 1),
        Ports.of(count, first, start),
        Ports.of(len(tables), second, cells),
    )


def homes(tree: JunctionTree, cliques: Sequence[Clique]) -> list[int]:
    """The smallest clique of the tree that holds each of `cliques`."""
    found = [tree.home(clique) for clique in cliques]
    assert None not in found
    return [home for home in found if home is not None]


class Projections:
    """Grows the list of projections; axes that are both kept or both summed are merged."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.rows: list[tuple[int, int, int]] = []
        self.sizes: list[int] = []
        self.strides: list[int] = []

    def arrays(self) -> tuple[Integers, Integers, Integers]:
        """Projections, sizes and strides, as every kernel wants them."""
        rows = np.array(self.rows, np.int64).reshape(-1, 3)
        return rows, np.array(self.sizes, np.int64), np.array(self.strides, np.int64)

    def add(self, clique: Clique, subset: Clique) -> int:
        """The number of the projection from a clique's cells onto those of some of its columns."""
        groups: list[list[int]] = []  # size, stride in the target (0: summed)
        kept = set(subset)
        below = self.domain.size(subset)
        for name in clique:
            size = self.domain[name]
            if size == 1:
                continue
            stride = 0
            if name in kept:
                below //= size
                stride = below
            if groups and (groups[-1][1] > 0) == (stride > 0):
                groups[-1] = [groups[-1][0] * size, stride]
            else:
                groups.append([size, stride])
        groups = [[1, 0]] * max(0, 2 - len(groups)) + groups
        rows = 1
        for size, _ in groups[:-2]:
            rows *= size
        self.rows.append((len(self.sizes), len(groups), rows))
        self.sizes.extend(size for size, _ in groups)
        self.strides.extend(stride for _, stride in groups)
        return len(self.rows) - 1


def _walk(tree: JunctionTree) -> list[int]:
    """A tour that enters every clique once (k) and leaves it again (-k - 1), component by component."""
    tour: list[int] = []
    stack = list(reversed(tree.roots))
    while stack:
        step = stack.pop()
        tour.append(step)
        if step >= 0:
            if tree.parent[step] >= 0:
                stack.append(-step - 1)
            stack.extend(reversed(tree.children[step]))
    return tour
