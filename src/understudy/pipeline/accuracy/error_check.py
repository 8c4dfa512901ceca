"""The last question of a run: how far off the model is, on pairs of columns and on triples, in the schema's codes.

It takes a small share of the budget, so that a release can state its errors with intervals. Which pairs and triples
it is about follows from the columns and their sizes alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import SizeError
from understudy.mechanisms import Fit
from understudy.model import Sample
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.privacy import Curator, Group, Loss, Role

GROUP = "check"
SHARE = Fraction(3, 100)
MOST = {2: 500, 3: 200}  # pairs, triples
TRIPLES_SHARE = 0.2  # of the question: what the mean over triples takes
CELLS = {2: 6_000_000, 3: 3_000_000}  # of all pairs, of all triples: counted in one reading
MOST_CELLS = {2: CELLS[2], 3: 1 << 18}  # of one pair, of one triple
SAMPLED = 1_000_000  # records in which a marginal that does not fit in memory is counted
SEED = 14  # of the public draw of pairs and triples
SHUFFLED = 5_000  # cliques of an order that are looked at, where there are many


def groups(domain: Domain) -> tuple[Group, ...]:
    """The question, planned last; none where there is no pair of columns to ask about."""
    smallest = sorted(domain.values())[:2]
    if len(smallest) < 2 or math.prod(smallest) > MOST_CELLS[2]:
        return ()
    return (Group(GROUP, "measure", SHARE, role=Role.CHECK),)


def ask(curator: Curator, found: Fit, losses: Mapping[str, Loss]) -> StatedErrors | None:
    """How far off a fit is, from the curator of records in the schema's codes; None where it is not to be asked.

    Privacy: one batch of noisy distances, at the loss that the plan has for it.
    """
    pairs, triples = checked(curator.domain)
    if GROUP not in losses or not pairs:
        return None
    sets = [*([pair] for pair in pairs), *([list(triples)] if triples else [])]
    weights = [math.sqrt((1 - TRIPLES_SHARE) / len(pairs))] * len(pairs) + [math.sqrt(TRIPLES_SHARE)]
    answers = curator.distances(
        sets, FitEstimates(found, curator.domain), losses[GROUP], weights[: len(sets)]
    )
    return StatedErrors(pairs, triples, answers.values, answers.stddev)


def checked(domain: Domain) -> tuple[tuple[Clique, ...], tuple[Clique, ...]]:
    """The pairs and triples that are asked about: all, or some that a public draw picks; none that is too large."""
    return _some(domain, 2), _some(domain, 3)


def _some(domain: Domain, order: int) -> tuple[Clique, ...]:
    """The cliques of an order that are asked about, in the domain's order: small enough, alone and together."""
    place = {name: i for i, name in enumerate(domain)}
    left = CELLS[order]
    found: list[Clique] = []
    for clique in _shuffled(domain.names, order):
        size = domain.size(clique)
        if size <= min(MOST_CELLS[order], left):
            found.append(clique)
            left -= size
        if len(found) == MOST[order]:
            break
    return tuple(sorted(found, key=lambda clique: [place[name] for name in clique]))


@cache
def _shuffled(names: Clique, order: int) -> tuple[Clique, ...]:
    """Cliques of an order, shuffled by a public seed: all of them, or some thousands where there are many."""
    draw = np.random.default_rng([SEED, order, len(names)])
    if math.comb(len(names), order) <= SHUFFLED:
        every = list(combinations(names, order))
        return tuple(every[i] for i in draw.permutation(len(every)))
    drawn = np.sort(draw.integers(0, len(names), (SHUFFLED, order)), axis=1)
    apart = drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)]
    return tuple(dict.fromkeys(tuple(names[i] for i in places) for places in apart.tolist()))


class FitEstimates:
    """What a fit expects in the cells of any clique, in the schema's codes."""

    def __init__(self, found: Fit, domain: Domain) -> None:
        self._found, self._domain = found, domain

    def __call__(self, clique: Clique) -> npt.NDArray[np.float64]:
        field = self._found.field
        try:
            marginal = field.marginal(clique)
        except (
            SizeError
        ):  # of what the model would have to hold on the way: counted in records drawn from it instead
            counted = self._drawn.counts(clique)
            marginal = type(counted)(clique, counted.counts * (field.total / max(1, len(self._drawn))))
        return np.asarray(self._found.compression.spread(marginal, self._domain).counts, np.float64)

    @cached_property
    def _drawn(self) -> Sample:
        return self._found.field.sample(SAMPLED, seed=SEED)
