"""The user's own cliques and weights, measured in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.mechanisms.empty_slots import fit_without_empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.tree_capacity import check_fits, cut_to_fit
from understudy.privacy import Budget, Curator, Group


@dataclass(frozen=True)
class Fixed:
    """Measures the given cliques with the whole budget, and each column that none of them covers on its own.

    Parameters:
        cliques: what to measure together: sets of columns, or single names.
        weights: how much each clique matters against the others, above 0, one a clique; 1 each by default.

    Raises:
        ParameterError: there are more or fewer weights than cliques.

    Example:
        >>> import understudy as us
        >>> us.Fixed([("sex", "age"), "income"], weights=[2, 1]).weights
        (2.0, 1.0)
    """

    given: tuple[Clique, ...]
    weights: tuple[float, ...] = field(default=())

    def __init__(
        self, cliques: Sequence[Sequence[str] | str], weights: Sequence[float] | None = None
    ) -> None:
        given = tuple((clique,) if isinstance(clique, str) else tuple(clique) for clique in cliques)
        scale = (1.0,) * len(given) if weights is None else tuple(float(weight) for weight in weights)
        if len(scale) != len(given):
            raise ParameterError(
                f"{len(scale)} weights for {len(given)} cliques.", hint="give one weight a clique."
            )
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "weights", scale)

    @property
    def name(self) -> str:
        return "fixed"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        check_fits(domain, self.cliques(domain))
        return (Group("marginals", "measure", Fraction(1), weights=self._weights(domain)),)

    def cliques(self, domain: Domain) -> list[Clique]:
        """The given cliques, and one of a single column for every column left over."""
        given = [domain.clique(clique) for clique in self.given]
        covered = {name for clique in given for name in clique}
        return given + [(name,) for name in domain if name not in covered]

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget)
        cliques = cut_to_fit(domain, self.cliques(domain))
        log = curator.measure(cliques, list(self._weights(domain)), budget=losses["marginals"])
        return fit_without_empty_slots(domain, log)

    def _weights(self, domain: Domain) -> tuple[float, ...]:
        return self.weights + (1.0,) * (len(self.cliques(domain)) - len(self.given))
