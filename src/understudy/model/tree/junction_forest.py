"""A junction forest that cliques can be added to: what would the tree be, without triangulating again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from understudy.domain import Clique, Domain
from understudy.model.tree.triangulation import bits


class Forest:
    """A junction forest as bit masks and adjacency, cheap to copy and to change."""

    def __init__(
        self,
        names: Clique,
        widths: list[int],
        masks: list[int],
        links: list[set[int]],
        known: dict[int, int] | None = None,
    ) -> None:
        self.names, self.widths, self.masks, self.links = names, widths, masks, links
        self.index = {name: i for i, name in enumerate(names)}
        self._known = {} if known is None else known  # sizes of masks, which copies share
        self.sizes = [self._size(mask) for mask in masks]
        self.cells = sum(self.sizes)
        self._paths: dict[int, list[int]] = {}
        self._holders: list[int] | None = None

    @classmethod
    def of(cls, domain: Domain, cliques: Sequence[Clique], parent: Sequence[int]) -> Forest:
        """The forest of a junction tree."""
        index = {name: i for i, name in enumerate(domain)}
        masks = [sum(1 << index[name] for name in clique) for clique in cliques]
        links: list[set[int]] = [set() for _ in masks]
        for i, above in enumerate(parent):
            if above >= 0:
                links[i].add(above)
                links[above].add(i)
        return cls(domain.names, list(domain.values()), masks, links)

    def copy(self) -> Forest:
        return Forest(self.names, self.widths, list(self.masks), [set(s) for s in self.links], self._known)

    def mask(self, clique: Iterable[str]) -> int:
        return sum(1 << self.index[name] for name in clique)

    def _size(self, mask: int) -> int:
        size = self._known.get(mask)
        if size is None:
            size = math.prod(self.widths[bit] for bit in bits(mask))
            self._known[mask] = size
        return size

    def holds(self, clique: Clique) -> bool:
        """Whether one of the cliques has all these columns already."""
        wanted = self.mask(clique)
        return any(wanted & ~mask == 0 for mask in self.masks)

    def admit(self, clique: Clique) -> None:
        """Make room for a clique: pair by pair, since in a triangulated graph pairs make the clique."""
        for k, second in enumerate(clique):
            for first in clique[:k]:
                self._admit_pair(first, second)

    def cells_with_pair(self, first: str, second: str) -> int:
        """The cells after this pair is admitted."""
        extension = self._extension(1 << self.index[first], 1 << self.index[second])
        return self.cells if extension is None else self.cells + extension[0]

    def _extension(self, u: int, v: int) -> tuple[int, list[int], list[int]] | None:
        """What admitting edge (u, v) costs, the path between their cliques, and the cliques to put on it.

        One end is carried along the path: between separators S and T stands the new clique S | T | end,
        which swallows the clique it stands for when that holds nothing else.
        """
        path = self._path(u, v)
        if len(path) == 1:
            return None
        separators = [self.masks[a] & self.masks[b] for a, b in pairwise(path)]
        best: tuple[int, list[int], list[int]] | None = None
        for carried, target, along, gates in ((u, v, path, separators), (v, u, path[::-1], separators[::-1])):
            new = [s | t | carried for s, t in pairwise(gates)] + [gates[-1] | carried | target]
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
        towards = self._towards(source)
        node = self._first_holder(v)
        if towards[node] == -2:
            return [
                min((i for i, m in enumerate(self.masks) if m & end), key=lambda i: self.sizes[i])
                for end in (u, v)
            ]
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
                for column in bits(mask):
                    self._holders[column] = node
        return self._holders[bit.bit_length() - 1]

    def _towards(self, source: int) -> list[int]:
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
        extension = self._extension(1 << self.index[first], 1 << self.index[second])
        if extension is None:
            return
        _, path, new = extension
        for a, b in pairwise(path):
            self.links[a].discard(b)
            self.links[b].discard(a)
        fresh = list(range(len(self.masks), len(self.masks) + len(new)))
        self.masks.extend(new)
        self.links.extend(set() for _ in new)
        for a, b in pairwise(fresh):
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
        self.__init__(self.names, self.widths, masks, links, self._known)  # type: ignore[misc]  # no class derives from this one

    def rooted(self) -> tuple[tuple[Clique, ...], tuple[int, ...]]:
        """The cliques in collect order, and their parents."""
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
        cliques = tuple(tuple(self.names[i] for i in bits(self.masks[node])) for node, _ in ordered)
        parent = tuple(position[above] if above >= 0 else -1 for _, above in ordered)
        return cliques, parent
