"""How many cliques each round may choose, and what part of the budget the choices of early and late rounds get.

A plan has to name its choices beforehand, whether or not they are made in the end. Late rounds are for tables of many
records for their noise, where a choice is easy: so their choices get little. The first tree of pairs decides most,
and its choices get most. Where columns are many, choices are too, and each would be left with less: then there are
no late rounds. Where columns have few codes, choices get more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.domain import Domain
from understudy.mechanisms.adaptive.every_pair import suits
from understudy.privacy import Group, Role

AGAIN = 2  # rounds that come right after the tree
MOST_LATE = 80  # choices of all late rounds together
LATE = Fraction(75, 10_000)  # of the budget
WIDE = 60  # columns from which on there are no late rounds, and no triples
MOST_FOR_TREE = Fraction(6, 100)  # of the budget, for the choices of the first tree
UNLIKELY = 1.5  # times as much for choices at most, where all pairs will likely be measured
MANY = 100  # columns from which on choices get no larger part of the budget


@dataclass(frozen=True)
class ChoiceStage:
    """Rounds whose choices have the same noise: a group of the plan, its share, and how many each may choose."""

    name: str
    share: Fraction
    counts: tuple[int, ...]

    @property
    def group(self) -> Group:
        """The choices as a group of a plan."""
        return Group(self.name, "choose", self.share, count=sum(self.counts), role=Role.NETWORK, refund=True)


def choice_stages(domain: Domain, rounds: int, cell_limit: int) -> tuple[ChoiceStage, ...]:
    """A tree of pairs first, then rounds of three choices for every four columns, `rounds` in all at most."""
    columns, more = len(domain), _worth_choosing(domain, cell_limit)
    each = max(4, math.ceil(0.75 * columns))
    tree = min(more * Fraction(50 + min(columns, MANY), 5000), MOST_FOR_TREE)
    late = min(rounds - 1 - AGAIN, MOST_LATE // each) if columns < WIDE else 0
    stages = [
        ChoiceStage("tree", tree, (columns - 1,)),
        ChoiceStage("rounds", tree * Fraction(2, 3), (each,) * min(AGAIN, rounds - 1)),
        ChoiceStage("late rounds", more * LATE, (each,) * max(late, 0)),
    ]
    return tuple(stage for stage in stages if stage.counts and rounds)


def _worth_choosing(domain: Domain, cell_limit: int) -> Fraction:
    """How many times as much choices get where columns have few codes: up to four times, where all have two.

    Small tables need little to be measured well, and to choose the right ones is worth more; not so much where all
    of them will likely be measured.
    """
    bits = {size: math.log2(max(2, size)) for size in set(domain.values())}
    mean = sum(bits[size] for size in domain.values()) / max(1, len(domain))
    most = UNLIKELY if suits(domain, cell_limit) else 4.0
    return Fraction(round(100 * min(most, max(1.0, 2.0 ** (3.0 - mean)))), 100)
