"""Triangulate a set of cliques and join them into a tree, with its size known before it is built."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from understudy.domain import Clique, Domain
from understudy.errors import SizeError

LIMIT_CELLS = 100_000_000
BYTES_PER_CELL = 48  # what an estimation holds at once: six float64 tables over the tree
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

    @property
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

    def home(self, clique: Iterable[str]) -> int | None:
        """The smallest clique of the tree that contains all of `clique`; None when there is none."""
        wanted = self._graph.mask(clique)
        fitting = [i for i, mask in enumerate(self._graph.masks) if wanted & ~mask == 0]
        return min(fitting, key=lambda i: (self._graph.sizes[i], i)) if fitting else None

    def with_clique(self, clique: Iterable[str]) -> JunctionTree:
        """This tree with the least change that gives `clique` a home (never re-triangulated)."""
        forest = self._graph.copy()
        forest.admit(self.domain.order(clique))
        return forest.tree(self.domain)

    @cached_property
    def _graph(self) -> _Forest:
        return _Forest.of(self)


def predict(tree: JunctionTree, clique: Iterable[str]) -> int:
    """The exact cells of `tree.with_clique(clique)`, in microseconds for a pair."""
    names = tree.domain.order(clique)
    if len(names) == 2:
        return tree._graph.cells_with_pair(names[0], names[1])
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


# --- triangulation -----------------------------------------------------------------------------------------


def _best_tree(domain: Domain, cliques: Sequence[Clique], restarts: int) -> JunctionTree:
    index = {name: i for i, name in enumerate(domain)}
    neighbours = [0] * len(index)
    for clique in set(cliques):
        mask = sum(1 << index[name] for name in clique)
        for name in clique:
            neighbours[index[name]] |= mask & ~(1 << index[name])
    sizes = list(domain.values())
    best: tuple[int, JunctionTree] | None = None
    for attempt in range(2 + max(restarts, 0)):
        order, later, filled = _eliminate(list(neighbours), sizes, attempt)
        tree = _tree_of(domain, order, later)
        if best is None or tree.cells < best[0]:
            best = (tree.cells, tree)
        if not filled:  # already triangulated: the maximal cliques are what they are
            break
    assert best is not None
    return best[1]


def _eliminate(neighbours: list[int], sizes: list[int], attempt: int) -> tuple[list[int], list[int], bool]:
    """An elimination order, each column's later neighbours, and whether any edge had to be filled in.

    Attempt 0 takes the smallest clique, 1 the least fill, later ones the smallest clique up to chance.
    A column whose neighbours already form a clique always goes first: that is never a mistake.
    """
    # The seed is fixed and the draw chooses only among equally valid trees: results are reproducible.
    chance = random.Random(attempt)
    scores: dict[int, tuple[bool, float]] = {}

    def score(v: int) -> tuple[bool, float]:
        around = neighbours[v]
        missing = sum((around & ~neighbours[u]).bit_count() - 1 for u in _bits(around)) // 2
        if attempt == 1:
            return missing > 0, float(missing)
        cells = float(sizes[v])
        for u in _bits(around):
            cells *= sizes[u]
        return missing > 0, cells if attempt == 0 else cells * chance.uniform(1.0, 3.0)

    for v in range(len(sizes)):
        scores[v] = score(v)
    order: list[int] = []
    later = [0] * len(sizes)
    filled = False
    while scores:
        v = min(scores, key=lambda u: (*scores[u], u))
        fill = scores.pop(v)[0]
        around = later[v] = neighbours[v]
        order.append(v)
        changed = around
        for u in _bits(around):
            neighbours[u] = (neighbours[u] | around) & ~(1 << u) & ~(1 << v)
            changed |= neighbours[u] if fill else 0
        filled = filled or fill
        for u in _bits(changed):
            scores[u] = score(u)
    return order, later, filled


def _tree_of(domain: Domain, order: list[int], later: list[int]) -> JunctionTree:
    """The clique tree of an elimination order: maximal cliques, running intersection by construction."""
    rank = {v: position for position, v in enumerate(order)}
    masks: list[int] = []
    parents: list[int] = []
    node_of: dict[int, int] = {}
    for v in reversed(order):
        around = later[v]
        above = node_of[min(_bits(around), key=rank.__getitem__)] if around else -1
        if above >= 0 and masks[above] == around:
            masks[above] |= 1 << v
            node_of[v] = above
        else:
            node_of[v] = len(masks)
            masks.append(around | 1 << v)
            parents.append(above)
    if not masks:  # a domain without columns still has a total
        masks, parents = [0], [-1]
    names = domain.names
    last = len(masks) - 1
    return JunctionTree(
        domain,
        tuple(tuple(names[i] for i in _bits(mask)) for mask in reversed(masks)),
        tuple(last - above if above >= 0 else -1 for above in reversed(parents)),
        tuple(names[v] for v in order),
    )


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _too_large(tree: JunctionTree, cliques: Sequence[Clique], limit_cells: int) -> SizeError:
    """The refusal, naming what to drop or to bin: the one change that helps most."""
    domain = tree.domain
    largest = max(tree.cliques, key=domain.size)
    inside = set(largest)
    blamed = sorted({c for c in cliques if len(inside.intersection(c)) > 1}, key=domain.size)[-40:]
    ways = []
    if blamed:
        kept = {c: _best_tree(domain, [o for o in cliques if o != c], RESTARTS).cells for c in blamed}
        drop = min(blamed, key=lambda c: (kept[c], c))
        ways.append(f"leave out clique {drop!r} ({kept[drop]:,} cells without it)")
    wide = max(largest, key=lambda name: (domain[name], name))
    ways.append(f"bin or compress column {wide!r} ({domain[wide]:,} codes)")
    ways.append("raise limit_cells")
    return SizeError(
        f"the junction tree needs {tree.cells:,} cells ({tree.bytes():,} bytes to fit), more than "
        f"limit_cells={limit_cells:,}; its largest clique is {largest!r} with {domain.size(largest):,}.",
        hint=", or ".join(ways) + ".",
    )


# --- what if a clique were added -----------------------------------------------------------------------------


class _Forest:
    """A junction forest as bit masks and adjacency, cheap to copy and to change."""

    def __init__(
        self, names: Clique, widths: list[int], masks: list[int], links: list[set[int]], order: Clique
    ) -> None:
        self.names, self.widths, self.masks, self.links, self.order = names, widths, masks, links, order
        self.index = {name: i for i, name in enumerate(names)}
        self.sizes = [self._size(mask) for mask in masks]
        self.cells = sum(self.sizes)
        self._paths: dict[int, list[int]] = {}
        self._holders: list[int] | None = None

    @classmethod
    def of(cls, tree: JunctionTree) -> _Forest:
        index = {name: i for i, name in enumerate(tree.domain)}
        masks = [sum(1 << index[name] for name in clique) for clique in tree.cliques]
        links: list[set[int]] = [set() for _ in masks]
        for i, above in enumerate(tree.parent):
            if above >= 0:
                links[i].add(above)
                links[above].add(i)
        return cls(tree.domain.names, list(tree.domain.values()), masks, links, tree.order)

    def copy(self) -> _Forest:
        return _Forest(self.names, self.widths, list(self.masks), [set(s) for s in self.links], self.order)

    def mask(self, clique: Iterable[str]) -> int:
        return sum(1 << self.index[name] for name in clique)

    def _size(self, mask: int) -> int:
        size = 1
        for bit in _bits(mask):
            size *= self.widths[bit]
        return size

    def admit(self, clique: Clique) -> None:
        """Make room for a clique: pair by pair, since in a triangulated graph pairs make the clique."""
        for k, second in enumerate(clique):
            for first in clique[:k]:
                self._admit_pair(first, second)

    def cells_with_pair(self, first: str, second: str) -> int:
        """The cells after this pair is admitted."""
        plan = self._plan(1 << self.index[first], 1 << self.index[second])
        return self.cells if plan is None else self.cells + plan[0]

    def _plan(self, u: int, v: int) -> tuple[int, list[int], list[int]] | None:
        """What admitting edge (u, v) costs, the path between their cliques, and the cliques to put on it.

        One end is carried along the path: between separators S and T stands the new clique S | T | end,
        which swallows the clique it stands for when that holds nothing else.
        """
        path = self._path(u, v)
        if len(path) == 1:
            return None
        separators = [self.masks[a] & self.masks[b] for a, b in zip(path, path[1:], strict=False)]
        best: tuple[int, list[int], list[int]] | None = None
        for carried, target, along, gates in ((u, v, path, separators), (v, u, path[::-1], separators[::-1])):
            new = [s | t | carried for s, t in zip(gates, gates[1:], strict=False)] + [
                gates[-1] | carried | target
            ]
            known = {self.masks[node]: self.sizes[node] for node in along}
            local = {*known, *new}
            kept = [m for m in local if not any(m != o and m & ~o == 0 for o in local)]
            cost = sum(known.get(m) or self._size(m) for m in kept) - sum(known.values())
            if best is None or cost < best[0]:
                best = (cost, along, new)
        return best

    def _path(self, u: int, v: int) -> list[int]:
        """The shortest run of cliques from one that holds u to one that holds v (any two, if unconnected)."""
        both = next((i for i, mask in enumerate(self.masks) if mask & u and mask & v), None)
        if both is not None:
            return [both]
        source = self._first_holder(u)
        towards = self._rooted(source)
        node = self._first_holder(v)
        if towards[node] == -2:
            return [min((i for i, m in enumerate(self.masks) if m & end), key=lambda i: self.sizes[i]) for end in (u, v)]
        path = [node]
        while node != source:
            node = towards[node]
            path.append(node)
        path.reverse()
        start = max(k for k, n in enumerate(path) if self.masks[n] & u)
        stop = min(k for k, n in enumerate(path) if self.masks[n] & v)
        return path[start : stop + 1]

    def _first_holder(self, bit: int) -> int:
        if self._holders is None:
            self._holders = [-1] * len(self.names)
            for node, mask in reversed(list(enumerate(self.masks))):
                for column in _bits(mask):
                    self._holders[column] = node
        return self._holders[bit.bit_length() - 1]

    def _rooted(self, source: int) -> list[int]:
        """For every node the next one on the way to `source` (itself at the source, -2 where unreachable)."""
        if source not in self._paths:
            towards = [-2] * len(self.masks)
            towards[source] = source
            front = [source]
            while front:
                node = front.pop()
                for other in self.links[node]:
                    if towards[other] == -2:
                        towards[other] = node
                        front.append(other)
            self._paths[source] = towards
        return self._paths[source]

    def _admit_pair(self, first: str, second: str) -> None:
        plan = self._plan(1 << self.index[first], 1 << self.index[second])
        if plan is None:
            return
        _, path, new = plan
        for a, b in zip(path, path[1:], strict=False):
            self.links[a].discard(b)
            self.links[b].discard(a)
        fresh = list(range(len(self.masks), len(self.masks) + len(new)))
        self.masks.extend(new)
        self.links.extend(set() for _ in new)
        for a, b in zip(fresh, fresh[1:], strict=False):
            self._link(a, b)
        for node, chain in zip(path, [fresh[0], *fresh], strict=True):
            self._link(node, chain)
        self._absorb()

    def _link(self, a: int, b: int) -> None:
        self.links[a].add(b)
        self.links[b].add(a)

    def _absorb(self) -> None:
        """Let every clique that a neighbour contains vanish into it, then number the rest afresh."""
        alive = [True] * len(self.masks)
        pending = list(range(len(self.masks)))
        while pending:
            node = pending.pop()
            host = next(
                (o for o in self.links[node] if alive[node] and self.masks[node] & ~self.masks[o] == 0), None
            )
            if host is None:
                continue
            alive[node] = False
            for other in self.links[node] - {host}:
                self.links[other].discard(node)
                self._link(other, host)
                pending.append(other)
            self.links[host].discard(node)
            pending.append(host)
            self.links[node] = set()
        number = {node: k for k, node in enumerate(n for n, kept in enumerate(alive) if kept)}
        masks = [self.masks[node] for node in number]
        links = [{number[o] for o in self.links[node]} for node in number]
        self.__init__(self.names, self.widths, masks, links, self.order)  # type: ignore[misc]

    def tree(self, domain: Domain) -> JunctionTree:
        """The forest as a junction tree, cliques in collect order."""
        visited: list[tuple[int, int]] = []  # (node, parent), parents first
        seen: set[int] = set()
        for root in range(len(self.masks)):
            front = [] if root in seen else [(root, -1)]
            while front:
                node, above = front.pop()
                seen.add(node)
                visited.append((node, above))
                front.extend((o, node) for o in sorted(self.links[node]) if o not in seen)
        last = len(visited) - 1
        position = {node: last - k for k, (node, _) in enumerate(visited)}
        ordered = list(reversed(visited))
        cliques = tuple(tuple(self.names[i] for i in _bits(self.masks[node])) for node, _ in ordered)
        parent = tuple(position[above] if above >= 0 else -1 for _, above in ordered)
        return JunctionTree(domain, cliques, parent, _elimination(cliques, parent))


def _elimination(cliques: Sequence[Clique], parent: Sequence[int]) -> Clique:
    """A perfect elimination order of a junction tree: what a clique does not share with its parent, leaves first."""
    order: list[str] = []
    for clique, above in zip(cliques, parent, strict=True):
        kept = set(cliques[above]) if above >= 0 else set()
        order.extend(name for name in clique if name not in kept)
    return tuple(order)
