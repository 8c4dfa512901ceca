"""Batches in which no marginal takes more of the budget than was promised beforehand.

Noise is whole numbers, which reveals a little more than continuous noise of the same scale does, and the more the
smaller a scale is. Where weights are decided as answers come in, a plan must pay for the worst of them; a promise
that no marginal gets more than a small part of all makes that cheap (docs/privacy.md, after Lemma 6). Weights that
would exceed it are cut, and where marginals are so few that even equal ones would, they are measured several times.
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

LARGEST = Fraction(
    1, 16
)  # of what measures: one marginal's part at most, or a column's where columns are fewer
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
    promised = portion.whole.largest
    times = max(1, math.ceil(float(portion.share) / (len(cliques) * promised * _BELOW)))
    part = GaussianPortion(portion.whole, portion.share / times)
    limited = cut(weights, part.largest)
    return [curator.measure(cliques, limited, part, queries) for _ in range(times)]


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
