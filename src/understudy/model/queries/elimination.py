"""Answer any marginal of a calibrated junction tree, measured or not, with or without evidence.

A calibrated tree is a directed one: P = product over cliques of P(clique | separator to its parent). For a
question about a few columns only the subtree that joins them matters; each of its cliques sends its
parent one message, a table over their separator and the wanted columns below. A message depends only on
its clique and the columns it carries, so questions asked together share most of them.
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

LIMIT_CELLS = 1 << 27  # one GiB of float64: more than a marginal that anyone will look at
CACHE_BYTES = 1 << 28

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
        self._bit = {name: 1 << i for i, name in enumerate(tree.domain)}
        count = len(tree.cliques)
        self._own = [self._mask(clique) for clique in tree.cliques]
        self._gate = [self._mask(tree.separator(i)) for i in range(count)]
        self._below = list(self._own)
        self._root = list(range(count))
        for i, above in enumerate(tree.parent):  # children stand before their parents
            if above >= 0:
                self._below[above] |= self._below[i]
        for i in reversed(range(count)):
            if tree.parent[i] >= 0:
                self._root[i] = self._root[tree.parent[i]]
        self._known = self._mask(self._evidence)
        self._messages: dict[tuple[int, int], Scaled] = {}
        self._conditionals: dict[int, Factor] = {}
        self._held = 0

    def _mask(self, names: Sequence[str] | Evidence) -> int:
        return sum(self._bit[name] for name in names)

    def joint(self, clique: Clique) -> Scaled:
        """P(clique, evidence) with axes in the clique's order and evidence columns cut to their codes."""
        sizes = [len(self._evidence.get(name, range(self._tree.domain[name]))) for name in clique]
        self._guard(clique, math.prod(sizes))
        wanted = self._mask(clique)
        parts: list[Factor] = []
        log = 0.0
        for root in self._tree.roots:
            needed = (wanted | self._known) & self._below[root]
            if needed:
                part, scale = self._within(root, wanted & self._below[root], needed)
                parts.append(part)
                log += scale
        if not parts:
            return Factor((), np.ones(())), log
        return contract(parts, clique, self._limit), log

    def _within(self, root: int, wanted: int, needed: int) -> Scaled:
        """The answer inside one component."""
        top = self._top(root, needed)
        names = self._names(wanted)
        if needed & ~self._own[top] == 0:
            return contract([self._table(top)], names, self._limit), 0.0
        for node in self._postorder(top, needed):
            self._message(node, wanted)
        messages = [self._messages[self._key(child, wanted)] for child in self._informative(top, needed)]
        answer = contract([self._table(top), *(m for m, _ in messages)], names, self._limit)
        return answer, sum(scale for _, scale in messages)

    def _top(self, root: int, needed: int) -> int:
        """The smallest clique that holds all needed columns, else the lowest that has them at or below it."""
        holding = [i for i, own in enumerate(self._own) if needed & ~own == 0]
        if holding:
            return min(holding, key=lambda i: self._tables[i].size)
        top = root
        while True:
            lower = [c for c in self._tree.children[top] if needed & ~self._below[c] == 0]
            if not lower:
                return top
            top = lower[0]

    def _informative(self, node: int, needed: int) -> list[int]:
        """The children that know more about the needed columns than the separator tells."""
        return [c for c in self._tree.children[node] if needed & self._below[c] & ~self._gate[c]]

    def _postorder(self, top: int, needed: int) -> list[int]:
        found = [top]
        for node in found:
            found.extend(self._informative(node, needed))
        return found[:0:-1]

    def _key(self, node: int, wanted: int) -> tuple[int, int]:
        return node, wanted & self._below[node] & ~self._gate[node]

    def _message(self, node: int, wanted: int) -> None:
        """Remember what `node` tells its parent: P(wanted below, evidence below | separator)."""
        key = self._key(node, wanted)
        if key in self._messages:
            return
        needed = wanted | self._known
        below = [self._messages[self._key(c, wanted)] for c in self._informative(node, needed)]
        kept = self._names(self._gate[node] | key[1])
        message = contract([self._conditional(node), *(m for m, _ in below)], kept, self._limit)
        scale = sum(s for _, s in below)
        if self._known & self._below[node]:  # evidence makes messages small: keep them near one
            peak = float(message.values.max(initial=0.0))
            if peak > 0:
                message, scale = message * (1 / peak), scale + math.log(peak)
        self._messages[key] = (message, scale)
        self._held += message.values.nbytes

    def forget(self) -> None:
        """Let go of the messages when they have grown large."""
        if self._held > CACHE_BYTES:
            self._messages.clear()
            self._conditionals.clear()
            self._held = 0

    def _table(self, node: int) -> Factor:
        clique = self._tree.cliques[node]
        return self._cut(Factor(clique, self._tables[node]))

    def _conditional(self, node: int) -> Factor:
        if node not in self._conditionals:
            table = self._table(node)
            gate = Factor(self._tree.cliques[node], self._tables[node]).project(self._tree.separator(node))
            self._conditionals[node] = table / self._cut(gate)
            self._held += table.values.nbytes
        return self._conditionals[node]

    def _cut(self, factor: Factor) -> Factor:
        known = {name: self._evidence[name] for name in factor.clique if name in self._evidence}
        return factor.condition(known) if known else factor

    def _names(self, mask: int) -> Clique:
        return tuple(name for name, bit in self._bit.items() if mask & bit)

    def _guard(self, clique: Clique, cells: int) -> None:
        if cells > self._limit:
            raise too_large(clique, cells, self._limit)


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
