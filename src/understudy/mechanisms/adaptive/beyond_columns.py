"""What a round asks of a clique: only what its columns alone do not say, where that takes less noise.

Every column was measured on its own. To leave that out of a table lowers what one record moves, and so the noise
that the rest needs: of two columns of two codes to a half, of columns of many codes hardly. A column of which the
table would tell more than is known is not left out: one whose rare codes were merged, say, as the noise of all of
them is in what is known of them together. (To leave out pairs
that were measured before as well was tried for triples: what stands for them in the table then is an earlier guess,
which later rounds contradict.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.privacy.accounting.budget import Neighbours
from understudy.privacy.curator.noisy_marginals import reach


def beyond_columns(
    domain: Domain, clique: Clique, neighbours: Neighbours, known: Mapping[str, float], scale: float
) -> Interactions | None:
    """What to ask of a clique; None for the whole table.

    `known` is the noise of what is known least of each column's codes, `scale` that of the whole table's cells.
    """
    if len(clique) < 2:
        return None
    cells = domain.size(clique)
    left_out = [
        (axis,)
        for axis, name in enumerate(clique)
        if known.get(name, 0.0) <= scale * math.sqrt(cells / domain[name])
    ]
    query = Interactions(domain.shape(clique), left_out)
    return query if 0.0 < noise_left(query, neighbours) < 1.0 else None


def noise_left(query: Interactions | None, neighbours: Neighbours) -> float:
    """The noise of a cell, as a part of what it would be if the whole table were asked."""
    return 1.0 if query is None else reach(query, neighbours) / (neighbours.l2 * query.cells)


def columns_told(measured: Measurement, records: float) -> list[Measurement]:
    """What interactions tell of single columns that were not left out of them, as if each had been measured alone."""
    query = measured.query
    if not isinstance(query, Interactions):
        return []
    table = query.apply(measured.values).reshape(query.shape) / query.cells**2
    found = []
    for axis, name in enumerate(measured.clique):
        if (axis,) in query.left_out:
            continue
        others = tuple(other for other in range(table.ndim) if other != axis)
        codes = query.shape[axis]
        noise = float(measured.stddev) / math.sqrt(query.cells * codes)
        found.append(Measurement(name, table.sum(axis=others) + records / codes, np.array(noise)))
    return found
