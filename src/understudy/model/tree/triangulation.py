"""Elimination orders and the clique trees they give, on columns as bits of integers."""

from __future__ import annotations

import random
from collections.abc import Iterator


def eliminate(neighbours: list[int], sizes: list[int], attempt: int) -> tuple[list[int], list[int], bool]:
    """An elimination order, each column's later neighbours, and whether any edge had to be filled in.

    Attempt 0 takes the smallest clique, 1 the least fill, later ones the smallest clique up to chance.
    A column whose neighbours already form a clique always goes first: that is never a mistake.
    """
    # The seed is fixed and the draw chooses only among equally valid trees: results are reproducible.
    chance = random.Random(attempt)
    scores: dict[int, tuple[bool, float]] = {}

    def score(v: int) -> tuple[bool, float]:
        around = neighbours[v]
        missing = sum((around & ~neighbours[u]).bit_count() - 1 for u in bits(around)) // 2
        if attempt == 1:
            return missing > 0, float(missing)
        cells = float(sizes[v])
        for u in bits(around):
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
        for u in bits(around):
            neighbours[u] = (neighbours[u] | around) & ~(1 << u) & ~(1 << v)
            changed |= neighbours[u] if fill else 0
        filled = filled or fill
        for u in bits(changed):
            scores[u] = score(u)
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
