"""All pairs at once, where columns have so few codes that this costs less than choosing among them.

How two columns of two codes go together is one number: to ask all of them is little, and nothing is spent on choices
or lost with what was not chosen. The model of all pairs has every combination of codes as a cell, so columns must not
be many. A column of two codes is best asked with another one: what a table of two such columns says beyond how many
records there are is three numbers of equal worth, where two tables of one column would spend half on that total.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.mechanisms.adaptive.one_way_share import OneWayShare, rounds_worth
from understudy.mechanisms.empty_slots import empty_slots

FEW_BITS = 1.6  # of a column in the mean: two or three codes
HIDDEN = 0.3  # of what pairs tell: where noise would hide more of all of them, some are chosen
UNTIL_TRIPLES = 3  # rounds that would pay, before any for triples do


@dataclass(frozen=True)
class EveryPair:
    """The pairs to measure: those of two columns that are not asked alone (`told`, two by two), and all others."""

    told: tuple[Clique, ...]
    others: tuple[Clique, ...]

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return len(self.told) + len(self.others)

    @property
    def columns(self) -> set[str]:
        """The columns that are asked in pairs alone."""
        return {name for pair in self.told for name in pair}

    @property
    def share(self) -> Fraction:
        """What part of the budget for pairs those have that tell of columns too.

        A pair errs by its columns' noise, of which there are three numbers for every two columns, and by its own:
        the sum of both variances is least so.
        """
        columns, pairs = math.sqrt(3 * len(self.columns)), math.sqrt(self.count)
        return Fraction(round(1000 * columns / (columns + pairs)), 1000)


def suits(sizes: Mapping[str, int], cell_limit: int) -> bool:
    """Whether columns of so many codes are few and small enough for all pairs at once."""
    bits = [math.log2(max(2, size)) for size in sizes.values()]
    return len(bits) > 2 and sum(bits) / len(bits) <= FEW_BITS and sum(bits) <= math.log2(cell_limit)


def of_all(sizes: Mapping[str, int], asked: OneWayShare, cell_limit: int) -> bool:
    """Whether all pairs of such columns are measured, by what is forecast of them."""
    return not asked.independent and asked.hidden_of_all <= HIDDEN and suits(sizes, cell_limit)


def every_pair(
    domain: Domain, look: Sequence[Measurement], asked: OneWayShare, cell_limit: int
) -> EveryPair | None:
    """The pairs of a table of which the columns were looked at, where all should be measured; else None."""
    empty = empty_slots(domain, look)
    sizes = {name: size - len(empty.get(name, ())) for name, size in domain.items()}
    if not of_all(sizes, asked, cell_limit):
        return None
    two = [name for name, size in sizes.items() if size == 2]
    told = tuple(zip(two[::2], two[1::2], strict=False))
    return EveryPair(told, tuple(pair for pair in itertools.combinations(domain, 2) if pair not in told))


def later_rounds(asked: OneWayShare) -> int:
    """How many rounds follow once all pairs are measured, for triples."""
    return max(0, rounds_worth(asked.hidden_of_all) - UNTIL_TRIPLES)
