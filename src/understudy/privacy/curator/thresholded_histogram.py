"""The well-filled cells of a histogram with more cells than could be held: noise on all, a threshold, the rest.

Every cell gets discrete Laplace noise, also the many that no record falls in. Of those only the ones that noise
alone lifts past the threshold are ever drawn: how far apart they lie is geometric, and so is what lies past the
threshold. Proof: docs/privacy.md, "The curator", Theorem C8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError, ParameterError, SizeError
from understudy.marginals import Counter
from understudy.privacy.accounting.losses import LOSSES, Laplace, Loss, Slack
from understudy.privacy.accounting.spending import Allowance, table_slack
from understudy.privacy.curator import question_checks
from understudy.privacy.curator.discovery import laplace_scale
from understudy.privacy.curator.exact_counts import ExactCounts, cell_counter
from understudy.privacy.curator.question import Question
from understudy.privacy.ledger.stored_answers import pack_text, unpack_text
from understudy.privacy.noise.discrete_noise import discrete_laplace, laplace_error
from understudy.privacy.noise.exp_bounds import exp_bounds
from understudy.privacy.noise.randomness import Randomness
from understudy.privacy.plain_values import plain_value

Integers = npt.NDArray[np.int64]
MOST_CELLS = 2**50  # of one histogram, empty ones included
MOST_EMPTY = 2**20  # empty cells that noise may be expected to lift past a threshold
_DRAWS = 2**48  # more draws than any run can make
_BITS = 512  # of the arithmetic behind a gap's scale
_BATCH = 4096


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a clique whose noisy count reached a threshold: their places (C order), rising, and counts."""

    clique: Clique
    places: Integers
    counts: Integers
    scale: float
    threshold: int


@dataclass(frozen=True)
class HistogramPrice:
    """What a thresholded histogram costs, and the noise that it buys."""

    allowance: Allowance
    losses: tuple[Loss, ...]
    scale: float
    cells: int
    threshold: int
    floor: int  # empty cells are drawn from this noisy count up, which is no more than the threshold
    gap: Fraction  # the scale of the geometric law of how many empty cells are passed over


def price_histogram(
    allowance: Allowance, budget: Any, clique: Clique, cells: int, threshold: Any
) -> HistogramPrice:
    """The price of one histogram at a Laplace loss, and the allowance after it."""
    if not isinstance(budget, Laplace):
        raise BudgetError(f"histogram needs a Laplace loss, not {budget!r}.")
    least = (
        0 if isinstance(threshold, bool) or not isinstance(threshold, int | np.integer) else int(threshold)
    )
    if least < 1:
        raise ParameterError(f"threshold {threshold!r} is not a whole number of at least 1.")
    if cells > MOST_CELLS:
        raise SizeError(
            f"the histogram of {clique!r} has {cells:,} cells; {MOST_CELLS:,} are the most.",
            hint="put fewer columns in a group.",
        )
    one = Laplace(budget.epsilon)
    scale = laplace_scale(one.epsilon, allowance.neighbours)
    floor = min(least, max(1, math.floor(scale * 27)))  # e^-27 is about 2^-39: a gap still has a scale
    chance = passing(scale, floor)
    if cells * chance > MOST_EMPTY:
        raise SizeError(
            f"noise alone would fill {float(cells * chance):,.0f} cells of {clique!r}.",
            hint="raise the threshold, or put fewer columns in a group.",
        )
    gap = gap_scale(chance)
    distance = _DRAWS * 8 * (laplace_error(scale) + laplace_error(gap)) + Fraction(1, 2**400)
    slack = table_slack(distance, allowance.budget.epsilon)
    after = allowance.charge(one, one, slack)
    return HistogramPrice(after, (one, Slack(slack)), scale, cells, least, floor, gap)


def passing(scale: float, floor: int) -> Fraction:
    """The chance that the noise of an empty cell is at least `floor` (1 or more), to within 2^-500.

    q^floor / (1 + q) at q = e^(-1/scale): the sum of a geometric series.
    """
    rate = 1 / Fraction(scale)
    one = 1 << _BITS
    ratio, _ = exp_bounds(rate, _BITS)
    power, _ = exp_bounds(rate * floor, _BITS)
    return Fraction((power << _BITS) // (one + ratio), one)


def gap_scale(chance: Fraction) -> Fraction:
    """The scale S with 1 - e^(-1/S) = chance, to within 2^-500 of the chance: 1/S = -ln(1 - chance), as a series."""
    p = (chance.numerator << _BITS) // chance.denominator
    term, rate, k = p, 0, 1
    while term:
        rate += term // k
        term, k = term * p >> _BITS, k + 1
    return Fraction(1 << _BITS, rate)


def past_threshold(
    places: Integers, counts: Integers, cost: HistogramPrice, source: Randomness
) -> list[list[int]]:
    """The places and noisy counts of all cells that reach the threshold, given the filled ones in rising order."""
    noisy = counts + discrete_laplace(cost.scale, counts.size, source)
    empty = _empty_places(places, cost, source)
    lifted = cost.floor + _geometric(cost.scale, empty.size, source)
    everywhere, values = np.concatenate([places, empty]), np.concatenate([noisy, lifted])
    kept = np.flatnonzero(values >= cost.threshold)
    kept = kept[np.argsort(everywhere[kept], kind="stable")]
    return [everywhere[kept].tolist(), values[kept].tolist()]


def _empty_places(places: Integers, cost: HistogramPrice, source: Randomness) -> Integers:
    """Places of empty cells, each taken with the chance that its noise reaches the floor, independently."""
    empty = cost.cells - places.size
    found = []
    last = -1
    while last < empty:
        steps = np.minimum(_geometric(cost.gap, _BATCH, source), MOST_CELLS) + 1
        numbers = last + np.cumsum(steps)
        found.append(numbers[numbers < empty])
        last = int(numbers[-1])
    taken = np.concatenate(found) if found else np.zeros(0, np.int64)
    before = places - np.arange(places.size)  # how many empty cells come before each filled one
    return taken + np.searchsorted(before, taken, side="right")


def _geometric(scale: Any, size: int, source: Randomness) -> Integers:
    """`size` draws of k >= 0 with probability proportional to e^(-k/scale): Laplace draws that are not negative."""
    kept = np.zeros(0, np.int64)
    while kept.size < size:
        drawn = discrete_laplace(scale, 2 * (size - kept.size) + 16, source)
        kept = np.concatenate([kept, drawn[drawn >= 0]])
    return kept[:size]


@dataclass(frozen=True)
class HistogramQuestion(Question[HistogramPrice, Cells]):
    """The cells of a clique whose noisy count reaches a threshold: see `Curator.histogram`."""

    clique: Clique
    cells: int
    budget: Any
    threshold: Any

    @classmethod
    def of(cls, domain: Domain, clique: Clique | str, budget: Loss, threshold: int) -> Self:
        """The question, once everything handed in was checked and copied."""
        (asked,) = question_checks.names(domain, [clique])
        return cls(asked, domain.size(asked), plain_value(budget, *LOSSES), threshold)

    def check(self, engine: Counter) -> None:
        cell_counter(engine, self.clique, self.cells)

    def price(self, allowance: Allowance) -> HistogramPrice:
        return price_histogram(allowance, self.budget, self.clique, self.cells, self.threshold)

    def words(self, price: HistogramPrice) -> dict[str, Any]:
        return {
            "question": "histogram",
            "cliques": [list(self.clique)],
            "scales": [price.scale],
            "threshold": price.threshold,
        }

    def draw(self, counts: ExactCounts, source: Randomness, price: HistogramPrice) -> bytes:
        return pack_text(past_threshold(*counts.filled_cells(self.clique), price, source))

    def unpack(self, answer: bytes, price: HistogramPrice) -> Cells:
        places, counts = (np.array(numbers, np.int64) for numbers in unpack_text(answer))
        return Cells(self.clique, places, counts, price.scale, price.threshold)
