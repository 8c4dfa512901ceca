"""Answer any marginal of a calibrated junction tree, measured or not, with or without evidence.

A calibrated tree may be read from any of its cliques: P = its table times P(clique | separator on the way to it) of
all others. For a question about a few columns only the subtree that joins them matters; each of its cliques sends
the next one a message, a table over their separator and the wanted columns beyond. A message depends only on its
clique, its way and the columns it carries, so questions asked together share most of them. So do the parts of a
clique's table that they need: each is summed up once, from the smallest part that is known already. Which clique a
question is read from decides how large messages are: one that carries many columns should not have far to go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import SizeError
from understudy.model.tree.factor import Array, Factor, align
from understudy.model.tree.junction_tree import JunctionTree
from understudy.model.tree.waypoints import waypoints

LIMIT_CELLS = 1 << 27  # one GiB of float64: more than a marginal that anyone will look at
CACHE_BYTES = 1 << 28
_SMALL = 50_000  # cells of messages that are not worth a search for a better way

Evidence = Mapping[str, npt.NDArray[np.intp]]
Scaled = tuple[Factor, float]  # the factor times exp(second)


class Elimination:
    """Questions to one calibrated tree under one piece of evidence; remembers messages between questions."""

    def __init__(
        self,
        tree: JunctionTree,
        tables: Sequence[Array],
        evidence: Evidence | None = None,
        limit_cells: int = LIMIT_CELLS,
    ) -> None:
        self._tree, self._tables, self._limit = tree, tables, limit_cells
        self._evidence: Evidence = evidence or {}
        self._columns = tree.domain.names
        self._bit = {name: 1 << i for i, name in enumerate(self._columns)}
        self._size = {1 << i: size for i, size in enumerate(tree.domain.values())}
        self._own = [self._mask(clique) for clique in tree.cliques]
        self._near, self._gate, self._beyond = _surroundings(tree, self._own)
        self._root = _roots(tree)
        self._known = self._mask(self._evidence)
        self._messages: dict[tuple[int, int, int], Scaled] = {}
        self._parts: dict[int, dict[int, Factor]] = {}
        self._steps: dict[tuple[int, int, int], Array] = {}  # by clique and two of its separators
        self._held = 0

    def _mask(self, names: Sequence[str] | Evidence) -> int:
        return sum(self._bit[name] for name in names)

    def expect(self, cliques: Sequence[Clique]) -> None:
        """Sum up what many of these questions to one clique share, before they are asked; without evidence only."""
        asked: dict[int, list[Clique]] = {}
        for clique in dict.fromkeys(map(self._tree.domain.order, cliques)):
            home = self._tree.home(clique)
            if home is not None:
                asked.setdefault(home, []).append(clique)
        for home, marginals in asked.items():
            for table, _ in waypoints(self._tree.domain, self._tree.cliques[home], marginals):
                self._part(home, self._mask(table))

    def joint(self, clique: Clique) -> Scaled:
        """P(clique, evidence) with axes in the clique's order and evidence columns cut to their codes."""
        sizes = [len(self._evidence.get(name, range(self._tree.domain[name]))) for name in clique]
        self._guard(clique, math.prod(sizes))
        wanted = self._mask(clique)
        parts: list[Factor] = []
        log = 0.0
        for root in sorted({self._root[name] for name in (*clique, *self._evidence)}):
            inside = self._beyond[root, -1]
            needed = (wanted | self._known) & inside
            if needed:
                part, scale = self._within(root, wanted & inside, needed)
                parts.append(part)
                log += scale
        if not parts:
            return Factor((), np.ones(())), log
        return contract(parts, clique, self._limit), log

    def _within(self, root: int, wanted: int, needed: int) -> Scaled:
        """The answer inside one component."""
        some = self._columns[needed.bit_length() - 1]
        holding = [i for i in self._tree.holding[some] if needed & ~self._own[i] == 0]
        if holding:
            return self._part(min(holding, key=lambda i: self._tables[i].size), wanted), 0.0
        top = self._top(root, wanted, needed)
        for node, towards in self._ways(top, needed):
            self._message(node, towards, wanted)
        near = self._informative(top, -1, needed)
        messages = [self._messages[self._key(node, top, wanted)] for node in near]
        table = self._part(top, wanted | self._gates(near, top))
        answer = contract([table, *(m for m, _ in messages)], self._names(wanted), self._limit)
        return answer, sum(scale for _, scale in messages)

    def _top(self, root: int, wanted: int, needed: int) -> int:
        """The clique to read a question from: the lowest that has what is needed at or below it, or a better one."""
        top = root
        while True:
            lower = [c for c in self._tree.children[top] if needed & ~self._beyond[c, top] == 0]
            if not lower:
                break
            top = lower[0]
        if wanted.bit_count() < 3 or self._carried(top, wanted, needed) <= _SMALL:
            return top
        # Along a way on which nothing joins, messages grow or shrink in one direction: an end of it is the best.
        choices = [
            node
            for node, _ in [(top, -1), *self._ways(top, needed)]
            if self._own[node] & wanted or len(self._informative(node, -1, needed)) > 2
        ]
        return min(choices, key=lambda node: self._carried(node, wanted, needed))

    def _carried(self, top: int, wanted: int, needed: int) -> int:
        """The cells of all messages of a question that is read from `top`."""
        cells = self._cells(self._own[top] & (wanted | self._gates(self._informative(top, -1, needed), top)))
        for node, towards in self._ways(top, needed):
            cells += self._cells(self._gate[node, towards] | self._key(node, towards, wanted)[2])
        return cells

    def _informative(self, node: int, towards: int, needed: int) -> list[int]:
        """The neighbours, but that towards the top, that know more of what is needed than their separator tells."""
        return [
            other
            for other in self._near[node]
            if other != towards and needed & self._beyond[other, node] & ~self._gate[other, node]
        ]

    def _ways(self, top: int, needed: int) -> list[tuple[int, int]]:
        """Every clique that sends a message and the one it goes to, in an order in which they can be sent."""
        found = [(top, -1)]
        for node, towards in found:
            found.extend((other, node) for other in self._informative(node, towards, needed))
        return found[:0:-1]

    def _key(self, node: int, towards: int, wanted: int) -> tuple[int, int, int]:
        return node, towards, wanted & self._beyond[node, towards] & ~self._gate[node, towards]

    def _message(self, node: int, towards: int, wanted: int) -> None:
        """Remember what `node` tells the next clique: P(wanted beyond, evidence beyond | separator)."""
        key = self._key(node, towards, wanted)
        if key in self._messages:
            return
        gate, near = self._gate[node, towards], self._informative(node, towards, wanted | self._known)
        before = [self._messages[self._key(other, node, wanted)] for other in near]
        if len(near) == 1 and not self._known and not key[2] & self._own[node]:
            behind = self._gate[near[0], node]
            if behind == gate:  # the same columns again: nothing is added
                self._messages[key] = before[0]
                return
            if not behind & gate:
                message = self._passed_on(node, gate, behind, key[2], before[0][0])
                self._messages[key] = (message, 0.0)
                self._held += message.values.nbytes
                return
        kept = self._names(gate | key[2])
        table = self._part(node, gate | wanted | self._gates(near, node)) / self._separator(node, gate)
        message = contract([table, *(m for m, _ in before)], kept, self._limit)
        scale = sum(s for _, s in before)
        if self._known & self._beyond[node, towards]:  # evidence makes messages small: keep them near one
            peak = float(message.values.max(initial=0.0))
            if peak > 0:
                message, scale = message * (1 / peak), scale + math.log(peak)
        self._messages[key] = (message, scale)
        self._held += message.values.nbytes

    def _passed_on(self, node: int, gate: int, behind: int, carried: int, before: Factor) -> Factor:
        """The message of a clique that only passes on what it was told, from one separator to another: a product."""
        ours, theirs, names = self._names(gate), self._names(behind), self._names(carried)
        shape = [self._size[self._bit[name]] for name in ours + names]
        cells = math.prod(shape)
        if cells > self._limit:
            raise too_large(ours + names, cells, self._limit)
        rows, depth = self._cells(gate), self._cells(behind)
        step = self._steps.get((node, gate, behind))
        if step is None:
            table = self._part(node, gate | behind) / self._separator(node, gate)
            step = table.project(ours + theirs).values.reshape(rows, depth)
            self._steps[node, gate, behind] = step
            self._held += step.nbytes
        told = before if before.clique == theirs + names else before.project(theirs + names)
        return Factor(ours + names, (step @ told.values.reshape(depth, -1)).reshape(shape))

    def forget(self) -> None:
        """Let go of the messages when they have grown large."""
        if self._held > CACHE_BYTES:
            self._messages.clear()
            self._parts.clear()
            self._steps.clear()
            self._held = 0

    def _gates(self, nodes: Sequence[int], towards: int) -> int:
        """The columns of the separators between these cliques and their neighbour."""
        columns = 0
        for node in nodes:
            columns |= self._gate[node, towards]
        return columns

    def _cells(self, columns: int) -> int:
        cells = 1
        while columns:
            low = columns & -columns
            cells *= self._size[low]
            columns ^= low
        return cells

    def _part(self, node: int, columns: int) -> Factor:
        """The table of a clique over some of its columns, the rest summed out."""
        wanted = columns & self._own[node]
        known = self._parts.setdefault(node, {})
        if not known:
            known[self._own[node]] = self._cut(Factor(self._tree.cliques[node], self._tables[node]))
        if wanted not in known:
            larger = [mask for mask in known if wanted & ~mask == 0]
            smallest = min(larger, key=lambda mask: known[mask].values.size)
            known[wanted] = known[smallest].project(self._names(wanted))
            self._held += known[wanted].values.nbytes
        return known[wanted]

    def _separator(self, node: int, gate: int) -> Factor:
        """The marginal of a separator before evidence beyond it, at the codes that evidence leaves."""
        if not self._known & self._own[node]:
            return self._part(node, gate)
        names = self._names(gate)
        return self._cut(Factor(self._tree.cliques[node], self._tables[node]).project(names))

    def _cut(self, factor: Factor) -> Factor:
        known = {name: self._evidence[name] for name in factor.clique if name in self._evidence}
        return factor.condition(known) if known else factor

    def _names(self, mask: int) -> Clique:
        found = []
        while mask:
            low = mask & -mask
            found.append(self._columns[low.bit_length() - 1])
            mask ^= low
        return tuple(found)

    def _guard(self, clique: Clique, cells: int) -> None:
        if cells > self._limit:
            raise too_large(clique, cells, self._limit)


def _roots(tree: JunctionTree) -> dict[str, int]:
    """For every column, the root of the component that it is in."""
    tops: dict[int, int] = {}
    for i in reversed(range(len(tree.cliques))):  # parents stand behind their children
        tops[i] = i if tree.parent[i] < 0 else tops[tree.parent[i]]
    return {name: tops[cliques[0]] for name, cliques in tree.holding.items()}


def _surroundings(
    tree: JunctionTree, own: Sequence[int]
) -> tuple[list[list[int]], dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """The neighbours of every clique; by clique and neighbour, their separator and the columns on the clique's side.

    A root has the whole of its component on its side of a neighbour -1.
    """
    near: list[list[int]] = [list(below) for below in tree.children]
    gate: dict[tuple[int, int], int] = {}
    beyond: dict[tuple[int, int], int] = {}
    for i, above in enumerate(tree.parent):  # children stand before their parents
        beyond[i, above] = own[i]
        for child in tree.children[i]:
            beyond[i, above] |= beyond[child, i]
        if above >= 0:
            near[i].append(above)
            gate[i, above] = gate[above, i] = own[i] & own[above]
    for i in reversed(range(len(own))):
        above = tree.parent[i]
        sides = [beyond[child, i] for child in tree.children[i]]
        outside = own[i] | (beyond[above, i] if above >= 0 else 0)
        after = [0]
        for side in reversed(sides):
            after.append(after[-1] | side)
        before = outside
        for child, side, rest in zip(tree.children[i], sides, after[-2::-1], strict=True):
            beyond[i, child] = before | rest
            before |= side
    return near, gate, beyond


def too_large(clique: Clique, cells: int, limit: int) -> SizeError:
    """The refusal of a table that would not fit."""
    shown = repr(clique) if len(clique) <= 8 else f"{len(clique)} columns"
    return SizeError(
        f"the marginal of {shown} needs a table of {cells:,} cells, more than {limit:,}.",
        hint="ask for fewer columns, for the probability of an event, or count a sample of the field.",
    )


def contract(factors: Sequence[Factor], keep: Clique, limit: int = LIMIT_CELLS) -> Factor:
    """The product of `factors` with everything but `keep` summed out, axes as in `keep`.

    Columns go as soon as no other factor needs them; a product and its sum are one matrix product, so no
    table larger than a result is ever made. More than `limit` cells are refused.
    """
    wanted = set(keep)
    rest = _absorbed(list(factors))
    while len(rest) > 1:
        choices = [(_merged(rest, i, j, wanted), i, j) for j in range(len(rest)) for i in range(j)]
        cells, i, j = min((math.prod(sizes.values()), i, j) for sizes, i, j in choices)
        if cells > limit:
            raise too_large(keep, cells, limit)
        others = [factor for k, factor in enumerate(rest) if k not in (i, j)]
        needed = wanted.union(*(factor.clique for factor in others))
        rest = [
            *others,
            _product(_trimmed(rest[i], rest[j], needed), _trimmed(rest[j], rest[i], needed), needed),
        ]
    return rest[0].project(keep)


def _absorbed(factors: list[Factor]) -> list[Factor]:
    """The factors, with those whose columns lie within the first one's multiplied into it."""
    first, *others = factors
    inside = [other for other in others if set(other.clique) <= set(first.clique)]
    if not inside:
        return factors
    values = first.values.copy()
    for other in inside:
        values *= align(other.clique, other.values, first.clique)
    return [Factor(first.clique, values), *(o for o in others if not set(o.clique) <= set(first.clique))]


def _merged(factors: Sequence[Factor], i: int, j: int, wanted: set[str]) -> dict[str, int]:
    """The columns and sizes left once factors i and j are one."""
    needed = wanted.union(*(f.clique for k, f in enumerate(factors) if k not in (i, j)))
    return {
        name: size
        for factor in (factors[i], factors[j])
        for name, size in zip(factor.clique, factor.values.shape, strict=True)
        if name in needed
    }


def _trimmed(factor: Factor, other: Factor, needed: set[str]) -> Factor:
    """The factor without columns that nobody else has or wants."""
    lone = [name for name in factor.clique if name not in needed and name not in other.clique]
    return factor.sum_out(lone) if lone else factor


def _product(one: Factor, two: Factor, needed: set[str]) -> Factor:
    """The product of two with what only they share summed out: a batch of matrix products."""
    shared = [name for name in one.clique if name in two.clique]
    inner = tuple(name for name in shared if name not in needed)
    if not inner:
        return one * two
    batch = tuple(name for name in shared if name in needed)
    left = tuple(name for name in one.clique if name not in shared)
    right = tuple(name for name in two.clique if name not in shared)
    size = dict(zip(one.clique + two.clique, one.values.shape + two.values.shape, strict=True))
    rows, columns = math.prod(size[n] for n in left), math.prod(size[n] for n in right)
    depth, blocks = math.prod(size[n] for n in inner), math.prod(size[n] for n in batch)
    a = one.project(batch + left + inner).values.reshape(blocks, rows, depth)
    b = two.project(batch + inner + right).values.reshape(blocks, depth, columns)
    names = batch + left + right
    return Factor(names, np.matmul(a, b).reshape([size[n] for n in names]))
