"""Many cliques in runs that are counted together, so that memory holds what they count to."""

from __future__ import annotations

from collections.abc import Iterable

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
