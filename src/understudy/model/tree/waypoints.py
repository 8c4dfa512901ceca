"""Tables on the way from a large clique to many small marginals of it, so that their sums are shared.

To read m marginals off a clique of N cells takes m N additions. Most of them are done over and over: all pairs of ten
columns come from one table of these ten. So marginals are read in two steps where that is less work, and written back
in the same two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.domain import Clique, Domain

FEW = 6  # marginals of a clique, up to which each is read by itself
LITTLE = 500_000  # cells read in all, up to which it is not worth planning
ROOM = 8  # how many times the clique's cells may be read, together, off the tables on the way
SMALLER = 8  # times that such a table is smaller than the clique, at least
SAVED = 2  # times as much work that one saves, at least


def waypoints(domain: Domain, clique: Clique, marginals: Sequence[Clique]) -> list[tuple[Clique, list[int]]]:
    """Tables to read first, each with the places of the marginals to read off it; the others are read as they are.

    Each begins with the first marginal that no other has, and grows by the column that brings most marginals with it.
    """
    cells, count = domain.size(clique), len(marginals)
    if count <= FEW or cells * count < LITTLE:
        return []
    most = cells // max(SMALLER, count // ROOM)
    sizes = np.array(domain.shape(clique), np.int64)
    asked = np.array([[name in marginal for name in clique] for marginal in map(set, marginals)], np.bool_)
    left = np.array([place for place in range(count) if domain.size(marginals[place]) <= most], np.int64)
    found = []
    while left.size:
        held, cells_held = asked[left[0]].copy(), domain.size(marginals[left[0]])
        while True:
            open_to = ~held & (cells_held * sizes <= most)
            if not open_to.any():
                break
            rest = asked[left]
            lacking = (rest & ~held).sum(axis=1)
            # Most of all what it brings within, then what it touches, then the smaller column.
            worth = np.lexsort((-sizes, rest.sum(axis=0), rest[lacking == 1].sum(axis=0)))
            column = next(c for c in worth[::-1].tolist() if open_to[c])
            held[column], cells_held = True, cells_held * int(sizes[column])
        inside = ~(asked[left] & ~held).any(axis=1)
        within = left[inside].tolist()
        if len(within) * cells >= SAVED * (cells + len(within) * cells_held):
            found.append((tuple(name for name, one in zip(clique, held, strict=True) if one), within))
        left = left[~inside]
    return found
