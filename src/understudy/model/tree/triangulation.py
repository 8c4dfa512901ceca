"""Elimination orders and the clique trees they give, on columns as bits of integers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from heapq import heappop, heappush

_FEW = 8  # neighbours, of which a score is found as soon as whether it is needed
_UNKNOWN = (True, math.nan)


def eliminate(neighbours: list[int], sizes: list[int], attempt: int) -> tuple[list[int], list[int], bool]:
    """An elimination order, each column's later neighbours, and whether any edge had to be filled in.

    Attempt 0 takes the smallest clique, 1 the least fill, later ones the smallest clique up to chance.
    A column whose neighbours already form a clique always goes first: that is never a mistake.
    """
    # The seed is fixed and the draw chooses only among equally valid trees: results are reproducible.
    chance = random.Random(attempt)
    scores: dict[int, tuple[bool, float]] = {}
    free: list[
        tuple[float, int]
    ] = []  # columns whose neighbours form a clique, and some that have changed since

    def score(v: int) -> tuple[bool, float]:
        around = neighbours[v]
        missing = sum((around & ~neighbours[u]).bit_count() - 1 for u in bits(around)) // 2
        if attempt == 1:
            return missing > 0, float(missing)
        cells = float(sizes[v])
        for u in bits(around):
            cells *= sizes[u]
        return missing > 0, cells if attempt == 0 else cells * chance.uniform(1.0, 3.0)

    def gap(v: int) -> bool:
        """Whether two of a column's neighbours are apart."""
        around = neighbours[v]
        return any(around & ~neighbours[u] & ~(1 << u) for u in bits(around))

    def look(v: int) -> None:
        """Score a column; one that would need an edge only when none is left that needs none."""
        # By chance, each draw must fall to the same column as ever.
        if attempt < 2 and neighbours[v].bit_count() > _FEW and gap(v):
            scores[v] = _UNKNOWN
            return
        fill, cells = scores[v] = score(v)
        if not fill:
            heappush(free, (cells, v))

    def next_column() -> int:
        while free:
            cells, v = heappop(free)
            if scores.get(v) == (False, cells):
                return v
        for v, known in scores.items():
            if known is _UNKNOWN:
                scores[v] = score(v)
        return min(scores, key=lambda u: (*scores[u], u))

    for v in range(len(sizes)):
        look(v)
    order: list[int] = []
    later = [0] * len(sizes)
    filled = False
    while scores:
        v = next_column()
        fill = scores.pop(v)[0]
        around = later[v] = neighbours[v]
        order.append(v)
        changed = around
        for u in bits(around):
            neighbours[u] = (neighbours[u] | around) & ~(1 << u) & ~(1 << v)
            changed |= neighbours[u] if fill else 0
        filled = filled or fill
        for u in bits(changed):
            look(u)
    return order, later, filled


def clique_tree(order: list[int], later: list[int]) -> tuple[list[int], list[int]]:
    """The maximal cliques of an elimination order and their parents (-1 for a root), in collect order.

    Each clique is cut from the tree at the column eliminated first: running intersection by construction.
    """
    rank = {v: position for position, v in enumerate(order)}
    masks: list[int] = []
    parents: list[int] = []
    node_of: dict[int, int] = {}
    for v in reversed(order):
        around = later[v]
        above = node_of[min(bits(around), key=rank.__getitem__)] if around else -1
        if above >= 0 and masks[above] == around:
            masks[above] |= 1 << v
            node_of[v] = above
        else:
            node_of[v] = len(masks)
            masks.append(around | 1 << v)
            parents.append(above)
    if not masks:  # a domain without columns still has a total
        masks, parents = [0], [-1]
    last = len(masks) - 1
    return masks[::-1], [last - above if above >= 0 else -1 for above in reversed(parents)]


def bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
