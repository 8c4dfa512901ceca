"""Records that follow the model in every pair of columns: of twice as many as are wanted, those that do so best.

It is done in the codes of the schema, after merged ones are spread out: what was merged scatters too. Only what a
release says is looked at, so it costs no privacy. Where records are so many that it would take long, they scatter
little, and all is left as it was drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.domain.codes import CodedColumns
from understudy.mechanisms import Generator
from understudy.model import Field
from understudy.model.sampling.record_exchange import PASSES, PairTables, Places, kept_records
from understudy.transforms.compress import Compression

MOST_ROWS = 1_000_000
MOST_LOOKED_UP = 3e8  # cells: some two seconds
CELLS_A_RECORD = 8  # of a pair's table at most: one with more cells for its records scatters whatever is kept


def follows(field: Generator, rows: int) -> bool:
    """Whether so many records are worth exchanging, and can be in time."""
    columns = len(field.domain)
    looked_up = PASSES * rows * columns * (columns - 1) / 2
    return isinstance(field, Field) and 1 < rows <= MOST_ROWS and 0 < looked_up <= MOST_LOOKED_UP


def followed(
    whole: CodedColumns, rows: int, field: Field, compression: Compression, rng: np.random.Generator
) -> Places:
    """Which `rows` of the records to keep, of which there are more; their codes are those of the schema."""
    names = tuple(field.domain)
    sizes = {
        name: len(compression.maps[name]) if name in compression.maps else field.domain[name]
        for name in names
    }
    tables = _pair_tables(field, compression, sizes, rows)
    codes = np.stack([np.asarray(whole[name], np.int32) for name in names], axis=1)
    return kept_records(codes, rows, tables, int(rng.integers(2**63)))


def _pair_tables(field: Field, compression: Compression, sizes: Mapping[str, int], rows: int) -> PairTables:
    """What the field expects of every pair whose table is not too large for so many records."""
    domain, names = Domain(dict(sizes)), tuple(sizes)
    pairs = [
        pair
        for pair in itertools.combinations(range(len(names)), 2)
        if domain.size((names[pair[0]], names[pair[1]])) <= CELLS_A_RECORD * rows
    ]
    cliques = [(names[a], names[b]) for a, b in pairs]
    lengths = [domain.size(clique) for clique in cliques]
    expected: npt.NDArray[np.float64] = np.empty(sum(lengths))
    starts = np.cumsum([0, *lengths])[:-1].astype(np.int64)
    scale = rows / field.total if field.total > 0 else 0.0
    for start, length, marginal in zip(starts, lengths, field.marginals(cliques), strict=True):
        counts = np.asarray(compression.spread(marginal, domain).counts).reshape(-1)
        np.multiply(counts, scale, out=expected[start : start + length])
    return PairTables(
        np.array(pairs, np.int64).reshape(-1, 2),
        starts,
        np.array([sizes[second] for _, second in cliques], np.int64),
        expected,
    )
