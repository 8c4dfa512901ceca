"""What epsilon and delta promise, in words for someone who never heard of either."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Where the slider stops: from next to nothing learned to next to nothing promised.
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)

# Up to which epsilon a promise is called so.
_STRENGTHS = (
    (0.5, "very strong", "Statisticians rarely ask for more. Expect coarse results on small tables."),
    (1.0, "strong", "The usual choice for sensitive records."),
    (3.0, "moderate", "Common in practice for large public releases."),
    (8.0, "weak", "Used where the records are not very sensitive."),
    (
        math.inf,
        "very weak",
        "It promises little. Choose less unless you have a reason that you can write down.",
    ),
)


@dataclass(frozen=True)
class BudgetPromise:
    """What a budget promises to any one person."""

    epsilon: float
    delta: float

    @property
    def strength(self) -> str:
        """The promise in one word or two."""
        return next(word for top, word, _ in _STRENGTHS if self.epsilon <= top)

    @property
    def remark(self) -> str:
        """When it is chosen."""
        return next(remark for top, _, remark in _STRENGTHS if self.epsilon <= top)

    @property
    def times(self) -> str:
        """How many times likelier any conclusion about a person can become."""
        return f"{math.exp(self.epsilon):.3g}" if self.epsilon < 20 else "half a billion or more"

    @property
    def guess(self) -> str:
        """What a guess of one in two, whether someone's record is in the table, can become at most."""
        return f"{1 / (1 + math.exp(-self.epsilon)):.0%}" if self.epsilon < 4 else "nearly always"

    @property
    def exception(self) -> str:
        """Delta in words."""
        return f"1 in {1 / self.delta:,.0f}" if 0 < self.delta < 1 else "not a chance"


def slider_place(epsilon: float) -> int:
    """The stop of the slider that is nearest to an epsilon."""
    return min(range(len(EPSILONS)), key=lambda place: abs(math.log(EPSILONS[place] / max(epsilon, 1e-9))))
