"""Columns alone: what all measurements say of each together, and what is left of a budget, spent on them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.mechanisms.adaptive.limited_weights import evened, measured_within
from understudy.mechanisms.repeated_measurement import averaged
from understudy.privacy import Curator, Gaussian


def spend_on_columns(
    curator: Curator,
    log: list[list[Measurement]],
    pool: Gaussian,
    left: Fraction,
    wanted: Sequence[float],
) -> None:
    """Spend what is left of a loss, and what choices that will not be made are worth, on every column.

    `wanted` says how well each should be known in the end: those first that are known less.
    """
    refund = curator.refund()
    rests = [pool.portion(left)] if left else []
    rests += [] if refund is None else [refund.portion(Fraction(1))]
    alone = [(name,) for name in curator.domain]
    for rest in rests:
        known = {m.clique: float(m.stddev) ** -2 for m in together_of(log)}
        more = float(rest.share) / (rest.whole.sigma * curator.neighbours.l2) ** 2
        weights = evened([known[clique] for clique in alone], wanted, more)
        log.extend(measured_within(curator, alone, weights, rest))


def together_of(log: Sequence[Sequence[Measurement]]) -> list[Measurement]:
    """What batches say of each clique of the first of them, together."""
    found: dict[Clique, list[Measurement]] = {}
    for measured in itertools.chain.from_iterable(log):
        found.setdefault(measured.clique, []).append(measured)
    return [averaged(several) for several in found.values()]
