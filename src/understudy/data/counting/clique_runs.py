"""Many cliques in runs that are counted together, so that memory holds what they count to."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.domain import Clique, Domain


def runs_within(domain: Domain, cliques: Sequence[Clique], most_bytes: int) -> list[list[Clique]]:
    """The cliques in runs whose counts together take no more than so many bytes (or one clique alone)."""
    runs: list[list[Clique]] = []
    room = 0
    for clique in cliques:
        size = 8 * domain.size(clique)
        if not runs or size > room:
            runs.append([])
            room = most_bytes
        runs[-1].append(clique)
        room -= size
    return runs
