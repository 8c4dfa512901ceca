"""Triangulate a set of cliques and join them into a tree, with its size known before it is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from understudy.domain import Clique, Domain
from understudy.errors import SizeError
from understudy.model.tree.junction_forest import Forest
from understudy.model.tree.triangulation import bits, clique_tree, eliminate

LIMIT_CELLS = 50_000_000
BYTES_PER_CELL = 144  # what an estimation was measured to hold at once: eighteen float64 tables over the tree
LOOPED_BYTES_PER_CELL = (
    2 * BYTES_PER_CELL
)  # where cliques make loops: its fit takes steps of the second order
RESTARTS = 8


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques joined so that the cliques that hold a column are connected (running intersection).

    Every clique is in the domain's own order and every column is in one. Cliques stand in collect order:
    `parent[i] > i`, or -1 for a root. A disconnected model is a forest: one root a component, no
    empty separators. `order` is the elimination order that gave the tree.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    parent: tuple[int, ...]
    order: Clique

    def separator(self, i: int) -> Clique:
        """The columns that clique `i` shares with its parent; () for a root."""
        if self.parent[i] < 0:
            return ()
        above = set(self.cliques[self.parent[i]])
        return tuple(name for name in self.cliques[i] if name in above)

    @cached_property
    def cells(self) -> int:
        """The exact number of cells of all cliques together."""
        return sum(self.domain.size(clique) for clique in self.cliques)

    def bytes(self, per_cell: int = BYTES_PER_CELL) -> int:
        """The memory that an estimation over this tree holds at once, exactly `per_cell` times the cells."""
        return self.cells * per_cell

    @property
    def width(self) -> int:
        """The treewidth: the columns of the largest clique, less one."""
        return max(len(clique) for clique in self.cliques) - 1

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The root of every component."""
        return tuple(i for i, above in enumerate(self.parent) if above < 0)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For every clique, the cliques whose parent it is."""
        below: list[list[int]] = [[] for _ in self.cliques]
        for i, above in enumerate(self.parent):
            if above >= 0:
                below[above].append(i)
        return tuple(map(tuple, below))

    @cached_property
    def holding(self) -> dict[str, list[int]]:
        """For every column, the cliques that hold it."""
        found: dict[str, list[int]] = {name: [] for name in self.domain}
        for i, clique in enumerate(self.cliques):
            for name in clique:
                found[name].append(i)
        return found

    def home(self, clique: Iterable[str]) -> int | None:
        """The smallest clique of the tree that contains all of `clique`; None when there is none."""
        names = self.domain.clique(clique)
        wanted, masks = self._graph.mask(names), self._graph.masks
        near = min((self.holding[name] for name in names), key=len, default=range(len(masks)))
        fitting = [i for i in near if wanted & ~masks[i] == 0]
        return min(fitting, key=lambda i: (self._graph.sizes[i], i)) if fitting else None

    def with_clique(self, clique: Iterable[str]) -> JunctionTree:
        """This tree with the least change that gives `clique` a home (never re-triangulated)."""
        forest = self._graph.copy()
        forest.admit(self.domain.order(clique))
        cliques, parent = forest.rooted()
        return JunctionTree(self.domain, cliques, parent, _elimination(cliques, parent))

    def over(self, domain: Domain) -> JunctionTree:
        """The same tree for the same columns in another order."""
        cliques = tuple(domain.order(clique) for clique in self.cliques)
        return JunctionTree(domain, cliques, self.parent, self.order)

    @cached_property
    def _graph(self) -> Forest:
        return Forest.of(self.domain, self.cliques, self.parent)


def predict(tree: JunctionTree, clique: Iterable[str]) -> int:
    """The exact cells of `tree.with_clique(clique)`, in microseconds for a pair."""
    names = tree.domain.order(clique)
    if len(names) == 2:
        return tree._graph.cells_with_pair(names[0], names[1])
    if tree._graph.holds(names):
        return tree._graph.cells
    forest = tree._graph.copy()
    forest.admit(names)
    return forest.cells


def build_tree(
    domain: Domain,
    cliques: Iterable[Iterable[str]],
    *,
    limit_cells: int | None = LIMIT_CELLS,
    restarts: int = RESTARTS,
) -> JunctionTree:
    """A junction tree with a home for every one of `cliques`; deterministic.

    Greedy elimination of the column whose clique is smallest, then by least fill, then `restarts`
    perturbed ones; the smallest result is kept. A tree of more than `limit_cells` cells is refused, by
    exact integers, before anything is allocated.
    """
    wanted = [domain.order(clique) for clique in cliques]
    tree = _best_tree(domain, wanted, restarts)
    if limit_cells is not None and tree.cells > limit_cells:
        raise _too_large(tree, wanted, limit_cells)
    return tree


def tree_cells(domain: Domain, cliques: Iterable[Iterable[str]]) -> int:
    """The cells of `build_tree(domain, cliques)`; no tree is built where the cliques are pairs without a loop.

    The cliques of such a tree are those pairs, and each column that is in none.
    """
    wanted = {domain.order(clique) for clique in cliques}
    several = [clique for clique in wanted if len(clique) > 1]
    if not domain or not _are_forest(several):
        return build_tree(domain, wanted, limit_cells=None).cells
    apart = set(domain).difference(*several)
    return sum(domain.size(pair) for pair in several) + sum(domain[name] for name in apart)


def _are_forest(cliques: Sequence[Clique]) -> bool:
    """Whether these are distinct pairs that make no loop."""
    above: dict[str, str] = {}  # a column -> one that it is joined to, up to one that stands for all

    def top(name: str) -> str:
        while name in above:
            name = above[name]
        return name

    for clique in cliques:
        ends = {top(name) for name in clique}
        if len(clique) > 2 or len(ends) < 2:
            return False
        one, two = ends
        above[one] = two
    return True


def _best_tree(domain: Domain, cliques: Sequence[Clique], restarts: int) -> JunctionTree:
    index = {name: i for i, name in enumerate(domain)}
    neighbours = [0] * len(index)
    for clique in set(cliques):
        mask = sum(1 << index[name] for name in clique)
        for name in clique:
            neighbours[index[name]] |= mask & ~(1 << index[name])
    sizes = list(domain.values())
    trees = []
    for attempt in range(2 + max(restarts, 0)):
        order, later, filled = eliminate(list(neighbours), sizes, attempt)
        trees.append(_tree(domain, order, later))
        if not filled:  # already triangulated: the maximal cliques are what they are
            break
    return min(trees, key=lambda tree: tree.cells)


def _tree(domain: Domain, order: list[int], later: list[int]) -> JunctionTree:
    masks, parents = clique_tree(order, later)
    names = domain.names
    cliques = tuple(tuple(names[i] for i in bits(mask)) for mask in masks)
    return JunctionTree(domain, cliques, tuple(parents), tuple(names[v] for v in order))


def _too_large(tree: JunctionTree, cliques: Sequence[Clique], limit_cells: int) -> SizeError:
    """The refusal, naming what to drop or to bin: the one change that helps most."""
    domain = tree.domain
    largest = max(tree.cliques, key=domain.size)
    inside = set(largest)
    suspects = sorted({c for c in cliques if len(inside.intersection(c)) > 1}, key=domain.size)[-40:]
    ways = []
    if suspects:
        kept = {c: _best_tree(domain, [o for o in cliques if o != c], RESTARTS).cells for c in suspects}
        drop = min(suspects, key=lambda c: (kept[c], c))
        if kept[drop] < tree.cells:
            ways.append(f"leave out clique {drop!r} ({kept[drop]:,} cells without it)")
    wide = max(largest, key=lambda name: (domain[name], name))
    ways.append(f"bin or compress column {wide!r} ({domain[wide]:,} codes)")
    ways.append("raise limit_cells")
    return SizeError(
        f"the junction tree needs {tree.cells:,} cells ({tree.bytes():,} bytes to fit), more than "
        f"limit_cells={limit_cells:,}; its largest clique is {largest!r} with {domain.size(largest):,}.",
        hint=", or ".join(ways) + ".",
    )


def _elimination(cliques: Sequence[Clique], parent: Sequence[int]) -> Clique:
    """A perfect elimination order of a junction tree: what a clique does not share with its parent, leaves first."""
    order: list[str] = []
    for clique, above in zip(cliques, parent, strict=True):
        kept = set(cliques[above]) if above >= 0 else set()
        order.extend(name for name in clique if name not in kept)
    return tuple(order)
