"""What the codes of columns likely hold, where nothing but their noisy counts is known of them.

Three readings are made of each column, and a mean of them taken:

- by least risk (`least_risk`): pulled towards all codes alike, neighbours together; best where codes hold much
  of what their noise is, or are ordered;
- by blocks (`shrinkage`): runs of codes hold nothing, what was expected, or something else; best where a few codes
  hold nearly all;
- by what all columns have in common: how much codes hold beside their noise is learned from the codes of all columns
  together (the prior under which all noisy counts are likeliest, any shape allowed), and each is the mean of its
  posterior; best where noise is large, as one column alone is too little to learn from.

Each errs where the others do not, so that their mean errs less than any. The less of a code its noise hides, the less
the second weighs, and where codes are few the third, too. Post-processing of released numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.marginals import Measurement
from understudy.mechanisms.shrinkage import coarse_to_fine, spread
from understudy.mechanisms.tables.least_risk import FEW_ALONE, shrunk_column
from understudy.model.fitting.least_squares import on_simplex
from understudy.processors import on_all_cores

Cells = npt.NDArray[np.float64]

# In standard deviations of noise: what codes may hold, what is seen of them, and from where on they are well known.
HELD = np.arange(0.0, 9.01, 0.25)
SEEN = np.arange(-6.0, 8.01, 1 / 16)
WELL_KNOWN = 8.0
LIKELIHOOD = np.exp(-0.5 * (SEEN[:, None] - HELD[None, :]) ** 2)
ROUNDS = 60  # of expectation and maximisation
OF_ALL = 10.0  # codes that what all columns have in common counts as, beside a column's own


def read_columns(columns: Sequence[Measurement], records: float) -> dict[str, Cells]:
    """What the codes of each column likely hold; all of a column together hold so many records."""
    noisy = [np.asarray(m.values, np.float64).reshape(-1) for m in columns]
    noise = [spread(m.stddev) for m in columns]
    alike = [
        sigma * cells
        for sigma, cells in zip(
            noise, _by_all([c / s for c, s in zip(noisy, noise, strict=True)]), strict=True
        )
    ]

    def read(i: int) -> Cells:
        cells, sigma = noisy[i], noise[i]
        even = np.full(cells.size, max(records, 1.0) / cells.size)
        few = cells.size < FEW_ALONE  # which tell too little of their own risk to be pulled anywhere
        readings = cells if few else shrunk_column(cells, sigma), coarse_to_fine(cells, even, sigma), alike[i]
        hidden = sigma / (sigma + even[0])
        blocks = hidden / 2
        others = hidden / 2 if few else (1 - blocks) / 2
        return np.asarray(
            sum(
                weight * on_simplex(reading, records, 0.0)
                for weight, reading in zip((1 - blocks - others, blocks, others), readings, strict=True)
            )
        )

    found = on_all_cores(read, range(len(columns)))
    return {m.clique[0]: cells for m, cells in zip(columns, found, strict=True)}


def _by_all(columns: Sequence[Cells]) -> list[Cells]:
    """The mean of each code's posterior, in standard deviations, under a prior learned of all columns."""
    counts = np.stack([_seen(cells) for cells in columns])
    common = _prior(counts.sum(axis=0, keepdims=True), np.full((1, HELD.size), 1 / HELD.size), 0.0)
    priors = _prior(counts, common, OF_ALL)
    found = []
    for cells, prior in zip(columns, priors, strict=True):
        posterior = LIKELIHOOD * prior
        means = (posterior @ HELD) / posterior.sum(axis=1)
        found.append(np.where(cells < WELL_KNOWN, np.interp(cells, SEEN, means), cells))
    return found


def _seen(cells: Cells) -> Cells:
    """How many codes were seen to hold about so much, of those that are not well known."""
    places = np.rint((np.clip(cells[cells < WELL_KNOWN], SEEN[0], SEEN[-1]) - SEEN[0]) * 16).astype(np.int64)
    return np.bincount(places, minlength=SEEN.size).astype(np.float64)


def _prior(counts: Cells, begin: Cells, as_many: float) -> Cells:
    """For each row of counts the prior under which they are likeliest, the one it began with counting as so many."""
    prior = np.broadcast_to(begin, (len(counts), HELD.size))
    whole = counts.sum(axis=1, keepdims=True) + as_many
    for _ in range(ROUNDS):
        likely = prior @ LIKELIHOOD.T
        found = prior * ((counts / likely) @ LIKELIHOOD) + as_many * begin
        prior = np.where(whole > 0, found / np.maximum(whole, 1e-300), prior)
    return prior
