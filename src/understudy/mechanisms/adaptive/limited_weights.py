"""Batches in which no marginal takes more of the budget than was promised beforehand.

Noise is whole numbers, which reveals a little more than continuous noise of the same scale does, and the more the
smaller a scale is. Where weights are decided as answers come in, a plan must pay for the worst of them; a promise
that no marginal gets more than a small part of all makes that cheap (docs/privacy.md, after Lemma 6). Where one
deserves more, the batch is measured several times at parts of the budget, which together tell as much as all at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.privacy import Curator
from understudy.privacy.accounting.losses import GaussianPortion

LARGEST = Fraction(1, 16)  # of what measures, for one marginal: or a column's part, where columns are fewer
MOST_TIMES = 8  # that a batch is measured, but where its marginals are few: beyond, large weights are cut
_BELOW = 1 - 1e-9  # times that, so that rounding never exceeds it


def largest_part(columns: int) -> Fraction:
    """The largest part of what measures that one marginal may have, of a table of so many columns."""
    return max(LARGEST, Fraction(1, max(columns, 1)))


def measured_within(
    curator: Curator,
    cliques: Sequence[Clique],
    weights: Sequence[float],
    portion: GaussianPortion,
    queries: Sequence[Interactions | None] | None = None,
) -> list[list[Measurement]]:
    """The measurements of a batch at a portion, as often as it takes for none to have more than was promised."""
    squares = np.square(np.asarray(weights, np.float64) / max(weights))
    of_promise = float(portion.share) / (portion.whole.largest * _BELOW)
    needed, least = (max(1, math.ceil(of_promise * part)) for part in (1 / squares.sum(), 1 / len(cliques)))
    times = min(needed, max(least, MOST_TIMES))
    part = GaussianPortion(portion.whole, portion.share / times)
    limited = cut(weights, part.largest)
    return [curator.measure(cliques, limited, part, queries) for _ in range(times)]


def evened(certain: Sequence[float], wanted: Sequence[float], more: float) -> list[float]:
    """Weights of a batch after which what is known of each is as wanted, in proportion, as far as that goes.

    Parameters:
        certain: how well each is known already: one over the square of its noise.
        wanted: how well each should be known in the end, in any unit.
        more: how much the batch adds to all of them together.
    """
    known, due = np.asarray(certain, np.float64), np.asarray(wanted, np.float64)
    ratios = np.sort(known / due)
    order = np.argsort(known / due, kind="stable")
    # Were the k least known filled up to one level, it would be this; the right k is the last that lies below it.
    levels = (more + np.cumsum(known[order])) / np.cumsum(due[order])
    level = levels[np.flatnonzero(ratios < levels)[-1]]
    added = np.maximum(level * due - known, 1e-9 * more)
    return [math.sqrt(square) for square in added.tolist()]


def cut(weights: Sequence[float], largest: float) -> list[float]:
    """Weights of which no square is more than such a part of all squares, the others in proportion."""
    squares = np.square(np.asarray(weights, np.float64) / max(weights))
    most = max(largest * _BELOW, 1 / squares.size)
    held = np.zeros(squares.size, np.bool_)
    while True:
        left = max(1 - most * np.count_nonzero(held), 0.0)
        free = float(squares[~held].sum())
        shares = np.where(held, most, squares * (left / free if free > 0 else 0.0))
        more = (shares > most) & ~held
        if not more.any():
            return [math.sqrt(max(share, 1e-30)) for share in shares.tolist()]
        held |= more
