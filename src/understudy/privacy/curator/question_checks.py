"""What may be asked of a curator: faults of what a caller hands in are found here, before anything is charged.

Nothing in this file reads records. What comes out is a copy, of exact types of ours.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence, Sized
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError, DomainError, ParameterError, SizeError
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.privacy.accounting.discretisation import OF_WEIGHTS
from understudy.privacy.accounting.losses import Gaussian, normalised
from understudy.privacy.plain_values import plain_clique, plain_cliques, plain_text

MOST_IMPORTANT = 1000  # times as much as another candidate one may weigh in a choice
Asked = Binned | Interactions | None
Queries = Sequence[Asked]
Whole = Sequence[int] | npt.NDArray[np.int64]  # whole numbers, one a candidate
MOST_CELLS = 2**26  # of one batch: half a gigabyte of exact counts
MOST_SUMMED = 2**10  # cliques whose distances are summed to one answer


def cliques(domain: Domain, asked: Sequence[Clique | str]) -> list[Clique]:
    """The cliques to measure: at least one, none empty, none twice, all known."""
    if isinstance(asked, str):
        raise DomainError(f"cliques {asked!r} are a text, not a list.", hint=f"[({asked!r},)]")
    batch = [domain.clique(clique) for clique in map(plain_clique, asked)]
    if not batch:
        raise ParameterError("there is nothing to measure.", hint="give at least one clique.")
    if () in batch:
        raise DomainError("a clique to measure names no column.")
    _cells(domain, batch)
    return batch


def candidates(domain: Domain, asked: Sequence[Clique], known: Container[Clique] = ()) -> list[Clique]:
    """The cliques to choose from: at least one, none twice, none unknown or too large; one may be empty.

    Those in `known` were checked before: a selection offers the same thousands again and again.
    """
    offered = plain_cliques(asked)
    if not offered:
        raise ParameterError("there is nothing to choose from.", hint="give at least one candidate.")
    fresh = [clique for clique in offered if clique and clique not in known]
    for clique in fresh:
        _cells(domain, [domain.clique(clique)])
    if fresh or len(set(offered)) != len(offered):
        distinct(offered)
    return offered


def clique_sets(domain: Domain, asked: Sequence[Sequence[Clique]]) -> tuple[tuple[Clique, ...], ...]:
    """Sets of cliques to sum distances over: at least one set, none empty, no clique twice in one, none too large."""
    found = tuple(tuple(domain.clique(clique) for clique in map(plain_clique, given)) for given in asked)
    if not found or not all(found):
        raise ParameterError("there is nothing to be distant from.", hint="give at least one clique a set.")
    for cliques in found:
        if () in cliques or len(cliques) > MOST_SUMMED:
            raise DomainError(
                f"a set of cliques is one of 1 to {MOST_SUMMED:,}, each with a column at least."
            )
        distinct(cliques)
        for clique in cliques:
            _cells(domain, [clique])
    return found


def names(domain: Domain, asked: Sequence[Clique | str]) -> list[Clique]:
    """Cliques that name known columns, none empty; however many cells they have."""
    found = [domain.clique(clique) for clique in map(plain_clique, asked)]
    if () in found:
        raise DomainError("a clique to count names no column.")
    return found


def column(asked: str) -> str:
    """The name of an open column, which the domain does not hold."""
    name = plain_text(asked)
    if not name:
        raise DomainError("the name of a column to discover is empty.")
    return name


def families(domain: Domain, asked: Sequence[Clique], known: Container[Clique] = ()) -> list[Clique]:
    """The families to choose from: a column and those it may depend on, each family once, none too large."""
    offered = [clique if clique in known else domain.clique(clique) for clique in map(plain_clique, asked)]
    if not offered:
        raise ParameterError("there is nothing to choose from.", hint="give at least one candidate.")
    seen = {(clique[:1], frozenset(clique[1:])) for clique in offered}
    if len(seen) != len(offered):
        raise DomainError("a candidate is offered twice.", hint="give it once.")
    for clique in offered:
        if clique not in known:
            _cells(domain, [clique])
    return offered


def queries(domain: Domain, batch: Sequence[Clique], asked: Queries | None) -> list[Asked]:
    """One query a clique: None, sums over bins, which leave every record in one cell, or interactions."""
    if asked is None:
        distinct(batch)
        return [None] * len(batch)
    given = list(asked)
    if len(given) != len(batch):
        raise ParameterError(f"{len(given)} queries for {len(batch)} cliques.", hint="give one a clique.")
    found = [
        None if query is None else _query(domain, clique, query)
        for clique, query in zip(batch, given, strict=True)
    ]
    distinct([clique for clique, query in zip(batch, found, strict=True) if query is None])
    return found


def weights(batch: Sequence[Clique], given: Sequence[float] | None, budget: Any) -> tuple[float, ...]:
    """Normalised weights: those given, those of the loss, or all equal."""
    planned = budget.weights if isinstance(budget, Gaussian) else None
    if given is None:
        fits = planned is not None and len(planned) == len(batch)
        return planned if fits and planned is not None else normalised([1.0] * len(batch))
    found = () if isinstance(given, str | bytes | Mapping) else tuple(given)
    if len(found) != len(batch):
        raise BudgetError(f"weights do not match the {len(batch)} cliques.", hint="give one number a clique.")
    return normalised(found)


def within_largest(weights: Sequence[float], largest: float) -> None:
    """Raise unless the square of no weight exceeds the largest that was promised."""
    if not max(weights) ** 2 <= largest * (1 + OF_WEIGHTS):
        raise BudgetError(
            f"one marginal has {max(weights) ** 2:.6g} of a batch, where the plan promised {largest:.6g} at most.",
            hint="ask in several smaller portions, or plan the group with a larger `largest`.",
        )


def sizes(domain: Domain, batch: Sequence[Clique], asked: Queries) -> list[int]:
    """How many numbers each measurement will hold."""
    return [
        domain.size(clique) if query is None else math.prod(query.shape)
        for clique, query in zip(batch, asked, strict=True)
    ]


def costs(offered: Sized, given: Whole | None) -> npt.NDArray[np.int64]:
    """What each candidate's score is lowered by: public integers, none where none are given."""
    if given is None:
        return np.zeros(len(offered), dtype=np.int64)
    if type(given) is np.ndarray and given.dtype == np.int64 and given.shape == (len(offered),):
        copied: npt.NDArray[np.int64] = given.copy()
        if max(-int(copied.min(initial=0)), int(copied.max(initial=0))) <= 2**61:
            return copied
    found = list(given)
    if not (set(map(type, found)) <= {int} and max(map(abs, found), default=0) <= 2**61):
        found = [_whole(cost) for cost in found]
    if len(found) != len(offered):
        raise ParameterError(f"{len(found)} costs for {len(offered)} candidates.")
    return np.array(found, dtype=np.int64)


def _whole(cost: Any) -> int:
    """A cost as one of Python's own integers, small enough that a score less it is exact."""
    whole = 2**62 if isinstance(cost, bool) or not isinstance(cost, int | np.integer) else int(cost)
    if abs(whole) > 2**61:
        raise ParameterError(f"cost {cost!r} is not a whole number below 2^61.", hint="round it first.")
    return whole


def importances(offered: Sized, given: Whole) -> npt.NDArray[np.int64]:
    """What each candidate's misfit is multiplied by: public whole numbers from 1 to `MOST_IMPORTANT`."""
    found = costs(offered, given)
    if not ((found >= 1) & (found <= MOST_IMPORTANT)).all():
        raise ParameterError(
            f"a candidate's weight is not from 1 to {MOST_IMPORTANT}.",
            hint="scale the weights, and round them.",
        )
    return found


def blurs(offered: Sized, given: Whole | None) -> npt.NDArray[np.int64]:
    """What each candidate's misfit would be by noise in its estimate alone: public, none where none are given."""
    found = costs(offered, given)
    if (found < 0).any():
        raise ParameterError("a blur is below 0.", hint="give the distance that noise alone would make.")
    return found


def recodings(domain: Domain, maps: Mapping[str, Any]) -> dict[str, npt.NDArray[np.int64]]:
    """Maps from old codes to new ones, one entry for every old code."""
    checked = {}
    for given, codes in maps.items():
        name, array = plain_text(given), np.array(codes)
        if array.ndim != 1 or array.size != domain[name] or not np.issubdtype(array.dtype, np.integer):
            raise ParameterError(f"recoding of column {name!r} is not one integer for each of its codes.")
        if int(array.min()) < 0 or int(array.max()) >= 2**31:
            raise ParameterError(f"recoding of column {name!r} has a new code that is not 0 or more.")
        checked[name] = array.astype(np.int64)
    return checked


# -- faults --------------------------------------------------------------------------------------------


def distinct(batch: Sequence[Clique]) -> None:
    """Refuse a clique that stands twice, in whatever order."""
    seen: set[frozenset[str]] = set()
    for clique in batch:
        if frozenset(clique) in seen:
            raise DomainError(
                f"clique {clique!r} is asked twice.", hint="give it once, with a larger weight."
            )
        seen.add(frozenset(clique))


def _cells(domain: Domain, batch: Sequence[Clique]) -> None:
    total = sum(domain.size(clique) for clique in batch)
    if total > MOST_CELLS:
        largest = max(batch, key=domain.size)
        raise SizeError(
            f"{total:,} cells at once are more than {MOST_CELLS:,}; the largest clique is {largest!r} with "
            f"{domain.size(largest):,}.",
            hint="ask for smaller cliques, or for fewer at a time.",
        )


def _query(domain: Domain, clique: Clique, query: Any) -> Binned | Interactions:
    """The query made anew. Any other could give one record another weight than is charged, or look at the counts."""
    if type(query) is Interactions:
        return _interactions(domain, clique, query)
    if type(query) is not Binned:
        raise ParameterError(
            f"the query on {clique!r} is a {type(query).__name__}; use cells, sums over bins, or interactions.",
            hint="use None, marginals.query.Binned or marginals.interactions.Interactions itself.",
        )
    copied = Binned(query.bins)
    if copied.fine_shape != domain.shape(clique):
        raise ParameterError(
            f"the bins of {clique!r} have shape {copied.fine_shape}, not {domain.shape(clique)}."
        )
    if any(int(bins.max()) >= bins.size for bins in copied.bins):
        raise ParameterError(f"a bin number of {clique!r} is not below its number of codes.")
    return copied


def _interactions(domain: Domain, clique: Clique, query: Interactions) -> Interactions:
    copied = Interactions(query.shape, query.left_out)
    if copied.shape != domain.shape(clique):
        raise ParameterError(
            f"the interactions of {clique!r} have another shape than {domain.shape(clique)}."
        )
    if copied.squared_move == 0:
        raise ParameterError(
            f"nothing is left to ask of {clique!r}: a column has one code alone.", hint="leave it out."
        )
    return copied
