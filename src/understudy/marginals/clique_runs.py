"""Many cliques in runs that are counted together, so that memory holds what they count to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

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
    sizes = np.fromiter(domain.values(), np.int64, len(domain))
    one, two = np.triu_indices(len(domain), 1)
    cells = np.cumsum(sizes[one] * sizes[two])
    runs = place = taken = 0
    while place < len(cells):
        place = max(int(np.searchsorted(cells, taken + most_cells, side="right")), place + 1)
        taken, runs = int(cells[place - 1]), runs + 1
    return runs
