"""Many cliques in runs that are counted together, so that memory holds what they count to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from understudy.domain import Clique, Domain


def runs_within(domain: Domain, cliques: Iterable[Clique], most_cells: int) -> list[list[Clique]]:
    """The cliques in runs that together have no more than so many cells (or one clique alone)."""
    runs: list[list[Clique]] = []
    room = 0
    for clique in cliques:
        size = domain.size(clique)
        if not runs or size > room:
            runs.append([])
            room = most_cells
        runs[-1].append(clique)
        room -= size
    return runs


def runs_of_pairs(domain: Domain, most_cells: int) -> int:
    """How many runs `runs_within` makes of all pairs of columns."""
    sizes = list(domain.values())
    before = [0, *accumulate(sizes)]  # the codes of all columns before this one
    # The cells of all pairs that come before those which have this column first.
    begin = [0, *accumulate(size * (before[-1] - before[k + 1]) for k, size in enumerate(sizes))]
    runs, first, second = 0, 0, 1  # the pair that the next run begins with
    while first < len(sizes) - 1:
        most = begin[first] + sizes[first] * (before[second] - before[first + 1]) + most_cells
        last = bisect_right(begin, most, first) - 1  # pairs with an earlier column first all fit
        if last >= len(sizes) - 1:
            return runs + 1
        fitting = before[last + 1] + (most - begin[last]) // sizes[last]
        place = (last, bisect_right(before, fitting) - 1)
        first, second = max(place, (first, second + 1))  # a run has one pair at least
        if second >= len(sizes):
            first, second = first + 1, first + 2
        runs += 1
    return runs
