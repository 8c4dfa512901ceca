"""Tables on the way from a large clique to many small marginals of it, so that their sums are shared.

To read m marginals off a clique of N cells takes m N additions. Most of them are done over and over: all pairs of ten
columns come from one table of these ten. So marginals are read in two steps where that is less work, and written back
in the same two.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    bits = {name: 1 << place for place, name in enumerate(clique)}
    asked = [sum(bits[name] for name in marginal) for marginal in marginals]
    left = [place for place in range(count) if domain.size(marginals[place]) <= most]
    found = []
    while left:
        held, size = asked[left[0]], domain.size(marginals[left[0]])
        while True:
            grown = [
                (_brought(held | bit, [asked[place] for place in left]), -domain[name], name)
                for name, bit in bits.items()
                if not held & bit and size * domain[name] <= most
            ]
            if not grown:
                break
            name = max(grown)[-1]
            held, size = held | bits[name], size * domain[name]
        within = [place for place in left if asked[place] & held == asked[place]]
        if len(within) * cells >= SAVED * (cells + len(within) * size):
            found.append((tuple(name for name in clique if held & bits[name]), within))
        left = [place for place in left if asked[place] & held != asked[place]]
    return found


def _brought(held: int, asked: Sequence[int]) -> tuple[int, int]:
    """How many of the marginals lie within these columns, and how many touch them."""
    return sum(one & held == one for one in asked), sum((one & held).bit_count() for one in asked)
