"""How many cliques each round may choose, and what part of the budget the choices of early and late rounds get.

A plan has to name its choices beforehand, whether or not they are made in the end. Late rounds are for tables of many
records for their noise, where a choice is easy: so their choices get little. The first tree of pairs decides most,
and its choices get most. Where columns are many, choices are too, and each would be left with less: then there are
no late rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.privacy import Group, Role

AGAIN = 2  # rounds that come right after the tree
MOST_LATE = 80  # choices of all late rounds together
LATE = Fraction(15, 1000)  # of the budget
WIDE = 60  # columns from which on there are no late rounds, and no triples
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
        return Group(self.name, "choose", self.share, count=sum(self.counts), role=Role.NETWORK)


def choice_stages(columns: int, rounds: int) -> tuple[ChoiceStage, ...]:
    """A tree of pairs first, then rounds of three choices for every four columns, `rounds` in all at most."""
    each = max(4, math.ceil(0.75 * columns))
    tree = Fraction(50 + min(columns, MANY), 2500)
    late = min(rounds - 1 - AGAIN, MOST_LATE // each) if columns < WIDE else 0
    stages = [
        ChoiceStage("tree", tree, (columns - 1,)),
        ChoiceStage("rounds", tree * Fraction(2, 3), (each,) * min(AGAIN, rounds - 1)),
        ChoiceStage("late rounds", LATE, (each,) * max(late, 0)),
    ]
    return tuple(stage for stage in stages if stage.counts and rounds)
