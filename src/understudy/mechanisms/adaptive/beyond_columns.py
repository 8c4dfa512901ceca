"""What a round asks of a clique: only what its columns alone do not say, where that takes less noise.

Every column was measured on its own. To leave that out of a table lowers what one record moves, and so the noise
that the rest needs: of two columns of two codes to a half, of columns of many codes hardly. (To leave out pairs
that were measured before as well was tried for triples: what stands for them in the table then is an earlier guess,
which later rounds contradict.)
"""

from __future__ import annotations

from understudy.domain import Clique, Domain
from understudy.marginals.interactions import Interactions
from understudy.privacy.accounting.budget import Neighbours
from understudy.privacy.curator.noisy_marginals import reach


def beyond_columns(domain: Domain, clique: Clique, neighbours: Neighbours) -> Interactions | None:
    """What to ask of a clique; None for the whole table."""
    if len(clique) < 2:
        return None
    query = Interactions(domain.shape(clique), [(axis,) for axis in range(len(clique))])
    return query if 0.0 < noise_left(query, neighbours) < 1.0 else None


def noise_left(query: Interactions | None, neighbours: Neighbours) -> float:
    """The noise of a cell, as a part of what it would be if the whole table were asked."""
    return 1.0 if query is None else reach(query, neighbours) / (neighbours.l2 * query.cells)
