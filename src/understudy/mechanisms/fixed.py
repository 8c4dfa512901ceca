"""The user's own cliques and weights, measured in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter, Measurement
from understudy.mechanisms.empty_slots import fit_without_empty_slots
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.mechanisms.public.public_prior import (
    NEAR,
    OFF,
    Supposed,
    distance_if_nearer,
    questions,
    suggested,
    told,
    usable,
)
from understudy.mechanisms.public.public_start import PublicStart, columns_of, pulled_columns
from understudy.mechanisms.tree_capacity import check_fits, cut_to_fit
from understudy.model import MarkovField, estimate
from understudy.privacy import Budget, Curator, Group


@dataclass(frozen=True)
class Fixed:
    """Measures the given cliques with the whole budget, and each column that none of them covers on its own.

    Parameters:
        cliques: what to measure together: sets of columns, or single names.
        weights: how much each clique matters against the others, above 0, one a clique; 1 each by default.
        public: a public table with the same columns and codes, as `us.table` makes it: what is measured is pulled
            towards it, and what no clique tells is as it says, where that is found to be nearer to the records than
            the cliques alone are. None by default.

    Raises:
        ParameterError: there are more or fewer weights than cliques.

    Example:
        >>> import understudy as us
        >>> us.Fixed([("sex", "age"), "income"], weights=[2, 1]).weights
        (2.0, 1.0)
    """

    given: tuple[Clique, ...]
    weights: tuple[float, ...] = field(default=())
    public: Counter | None = None

    def __init__(
        self,
        cliques: Sequence[Sequence[str] | str],
        weights: Sequence[float] | None = None,
        *,
        public: Counter | None = None,
    ) -> None:
        given = tuple((clique,) if isinstance(clique, str) else tuple(clique) for clique in cliques)
        scale = (1.0,) * len(given) if weights is None else tuple(float(weight) for weight in weights)
        if len(scale) != len(given):
            raise ParameterError(
                f"{len(scale)} weights for {len(given)} cliques.", hint="give one weight a clique."
            )
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "weights", scale)
        object.__setattr__(self, "public", public)

    @property
    def name(self) -> str:
        return "fixed"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        check_fits(domain, self.cliques(domain))
        asked = questions(self.public, domain)
        share = Fraction(1) - sum(group.share for group in asked)
        return (Group("marginals", "measure", share, weights=self._weights(domain)), *asked)

    def cliques(self, domain: Domain) -> list[Clique]:
        """The given cliques, and one of a single column for every column left over."""
        given = [domain.clique(clique) for clique in self.given]
        covered = {name for clique in given for name in clique}
        return given + [(name,) for name in domain if name not in covered]

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget) if isinstance(budget, Budget) else budget
        cliques = cut_to_fit(domain, self.cliques(domain))
        log = curator.measure(cliques, list(self._weights(domain)), budget=losses["marginals"])
        found = fit_without_empty_slots(domain, log)
        public = usable(self.public, domain)
        if public is None or NEAR not in losses:
            return found
        without, maps = found.field, found.compression.maps
        assert isinstance(without, MarkovField)
        near = _with_public(public.recode(maps), without, found.measurements)
        nearer = distance_if_nearer(curator.recode(maps), near, without, losses) is not None
        said = (told(nearer, than="the measured cliques alone are"),)
        return replace(found, field=near if nearer else without, decisions=said)

    def _weights(self, domain: Domain) -> tuple[float, ...]:
        return self.weights + (1.0,) * (len(self.cliques(domain)) - len(self.given))


def _with_public(public: Counter, without: MarkovField, log: Sequence[Measurement]) -> MarkovField:
    """The field of the measurements, pulled towards public tables and with what those say beyond them."""
    domain, total = without.domain, without.total
    alone = pulled_columns(public, columns_of(domain, log))
    found = suggested(public, estimate(domain, alone, total=total), alone)
    begun = PublicStart(alone, Supposed(found.field, found.held(OFF * total)))
    return begun.add(log)
