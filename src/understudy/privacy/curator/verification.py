"""What a certificate's charges really cost, from the certificate alone: anyone may repeat it, on any input.

A certificate may come from a stranger. So nothing in it is believed: every number is checked to be one, every size
is bounded before anything is computed from it, and every comparison is written so that what is not a number fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from understudy.errors import BudgetError, ReleaseError, UnderstudyError
from understudy.marginals.interactions import Interactions
from understudy.privacy.accounting.budget import Neighbours, positive, probability, real, whole
from understudy.privacy.accounting.composition import compose
from understudy.privacy.accounting.discretisation import ROOM
from understudy.privacy.accounting.filters import FILTER_RULE, filtered_epsilon
from understudy.privacy.accounting.losses import (
    Approximate,
    Choice,
    Gaussian,
    Laplace,
    Loss,
    Slack,
    loss_from_dict,
)
from understudy.privacy.curator.certification import statement, unit
from understudy.privacy.curator.discovery import gaussian_threshold, laplace_scale, laplace_threshold
from understudy.privacy.curator.noisy_distances import QUESTION as DISTANCE
from understudy.privacy.curator.noisy_distances import distance_reach
from understudy.privacy.curator.noisy_marginals import reach
from understudy.privacy.curator.question_checks import MOST_CELLS, MOST_SUMMED
from understudy.privacy.curator.unit_sizes import MOST_SIZES, QUESTION
from understudy.privacy.plain_values import exact

_ROUNDING = 1e-9  # by which a recomputed epsilon may exceed its part's, and a scale what was charged
MOST_CHARGES = 20_000
MOST_MARGINALS = 10**6  # of all charges together
MOST_RECORDS = 10**9  # of one unit
MOST_AXES = 8  # of a clique whose interactions were asked
MOST_COMPOSED = 1_000  # choices and pure answers that are composed one by one; the rhos of more are added up
MOST_RHO = 1e5  # beyond which no epsilon is worth its name

Words = Mapping[str, Any]
RULES = ("one question", "exact composition of a plan fixed beforehand", FILTER_RULE)
# What JSON can hold instead of what was meant, and what arithmetic makes of it.
UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError, RecursionError)


def recompute(certificate: Mapping[str, Any]) -> float:
    """The epsilon of a certificate's charges, composed anew; a ReleaseError where its claims do not hold.

    Within a part the charges compose at the part's delta: by the accountant, or, in a filter, by zCDP; parts add up.
    """
    try:
        return _recompute(certificate)
    except ReleaseError:
        raise
    except UNREADABLE as fault:
        if isinstance(fault, UnderstudyError):
            raise ReleaseError(f"the certificate does not hold: {fault}") from None
        raise ReleaseError(f"the certificate cannot be read ({type(fault).__name__}).") from None


def _recompute(certificate: Mapping[str, Any]) -> float:
    neighbours = _neighbours(certificate["neighbours"])
    claimed = positive("epsilon", certificate["epsilon"]), probability("delta", certificate["delta"])
    _check_words(certificate, claimed, neighbours)
    parts = [
        (positive("epsilon", part["epsilon"]), probability("delta", part["delta"]), _rule(part["rule"]))
        for part in _listed(certificate["parts"], MOST_CHARGES)
    ]
    outright = 0.0
    asked: list[list[Loss]] = [[] for _ in parts]
    questions = [0] * len(parts)
    marginals = 0
    for charge in _listed(certificate["charges"], MOST_CHARGES):
        place = charge["part"]
        if type(place) is not int or not 0 <= place < len(parts):
            raise ReleaseError("the certificate has a charge that no part pays for.")
        losses = [loss_from_dict(loss) for loss in _listed(charge["losses"], 2)]
        marginals += len(charge.get("scales", ()))
        if not marginals <= MOST_MARGINALS:
            raise ReleaseError(f"the certificate has more than {MOST_MARGINALS:,} marginals.")
        _check_charge(charge, losses, neighbours)
        outright += sum(loss.delta for loss in losses if isinstance(loss, Slack))
        asked[place] += losses
        questions[place] += 1
    if not abs(real("slack", certificate.get("slack", outright)) - outright) <= _ROUNDING * outright:
        raise ReleaseError("the certificate's slack is not that of its charges.")
    if not sum(questions):
        raise ReleaseError("the certificate has no charge: nothing could have been learned.")
    epsilon = delta = Fraction(0)
    spent = 0.0
    for (most, chance, rule), losses, count in zip(parts, asked, questions, strict=True):
        if rule == RULES[0] and not count <= 1:
            raise ReleaseError("the certificate charges several questions to a part that was for one.")
        cost = _cost(losses, rule, chance)
        if not cost <= most * (1 + _ROUNDING):
            raise ReleaseError(f"the certificate claims epsilon {most!r} for what costs {cost!r}.")
        spent += min(cost, most)
        epsilon += exact(most)
        delta += exact(chance)
    if not (epsilon <= exact(claimed[0]) and delta <= exact(claimed[1])):
        raise ReleaseError("the certificate's parts add up to more than it claims.")
    return spent


def _cost(losses: Sequence[Loss], rule: str, delta: float) -> float:
    """The epsilon of a part's losses at its delta, by the part's rule; in bounded time and memory."""
    if rule == FILTER_RULE:
        return filtered_epsilon(losses, delta)
    plain = [loss for loss in losses if isinstance(loss, Approximate)]
    if len(plain) == len(losses) and sum((exact(loss.delta) for loss in plain), Fraction(0)) <= exact(delta):
        return float(sum((exact(loss.epsilon) for loss in plain), Fraction(0)))  # basic composition
    together = compose(losses)  # in the order in which they were asked
    if not together.rho <= MOST_RHO:
        raise ReleaseError("the certificate's charges cost more than any epsilon that could be claimed.")
    if sum(_draws(loss) for loss in losses) > MOST_COMPOSED:
        return together.zcdp_epsilon(delta)
    return together.epsilon(delta)


def _draws(loss: Loss) -> int:
    """How many steps of the accountant a loss takes."""
    if isinstance(loss, Choice | Laplace):
        return loss.count
    return 1 if isinstance(loss, Approximate) else 0


# -- what each question's charge must say --------------------------------------------------------------


def _check_charge(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    """Raise unless a charge has the losses of its question, and the noise that was drawn is what they are for."""
    question = charge["question"]
    if not isinstance(question, str) or question not in _QUESTIONS:
        raise ReleaseError("the certificate has a charge for a question that is not known.")
    if not all(isinstance(charge.get(name, ""), str) for name in _NAMES):
        raise ReleaseError("the certificate has a charge that names something by other than text.")
    _QUESTIONS[question](charge, losses, neighbours)


def _measure(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    scales = _scales(charge, len(_cliques(charge)))
    noise, _ = _noise_and_slack(losses)
    if charge.get("interactions") is not None:
        _interactions(charge, noise, scales, neighbours)
    elif isinstance(noise, Gaussian):
        _gaussian(noise, scales, neighbours)
    elif isinstance(noise, Laplace) and noise.count == len(scales):
        _same(scales, [laplace_scale(noise.epsilon, neighbours)] * len(scales))
    else:
        raise _other_loss()


def _choose(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    if len(losses) != 1 or not isinstance(losses[0], Choice) or losses[0].count != 1:
        raise _other_loss()
    if positive("epsilon", charge["epsilon"]) != losses[0].epsilon:
        raise ReleaseError("the certificate has a choice at another epsilon than was charged.")
    whole("candidates", charge["candidates"])


def _discover(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    (scale,) = _scales(charge, 1)
    delta, least = probability("delta", charge["delta"]), _threshold(charge)
    if len(losses) == 1 and isinstance(losses[0], Approximate) and losses[0].epsilon > 0:
        _same([scale], [laplace_scale(losses[0].epsilon, neighbours)])
        paid, due = losses[0].delta, laplace_threshold(scale, delta, neighbours)
    else:
        noise, slack = _noise_and_slack(losses)
        if not isinstance(noise, Gaussian):
            raise _other_loss()
        _gaussian(noise, [scale], neighbours)
        paid, due = slack.delta, gaussian_threshold(scale, delta, neighbours)
    if not (delta <= paid and due <= least <= due + 1):  # the last bit of a logarithm is the machine's
        raise ReleaseError("the certificate has a discovery whose threshold is not what was charged.")


def _histogram(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    noise, _ = _noise_and_slack(losses)
    if not isinstance(noise, Laplace) or noise.count != 1 or len(_cliques(charge)) != 1:
        raise _other_loss()
    _same(_scales(charge, 1), [laplace_scale(noise.epsilon, neighbours)])
    _threshold(charge)


def _unit_sizes(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    if len(losses) != 1 or not isinstance(losses[0], Approximate) or not losses[0].epsilon > 0:
        raise _other_loss()
    _listed(charge["starts"], MOST_SIZES)
    _same(_scales(charge, 1), [laplace_scale(losses[0].epsilon, Neighbours(neighbours.relation))])


def _distance(charge: Words, losses: Sequence[Loss], neighbours: Neighbours) -> None:
    """The reaches of all answers, each in units of its noise, have squares that add up to the loss's."""
    summed = [whole("summed", count) for count in _listed(charge["summed"], MOST_MARGINALS)]
    scales = _scales(charge, len(summed))
    noise, _ = _noise_and_slack(losses)
    if not isinstance(noise, Gaussian) or noise.weights is not None or not summed:
        raise _other_loss()
    if noise.neighbours != neighbours or not max(summed) <= MOST_SUMMED:
        raise ReleaseError("the certificate has distances of other neighbours or cliques than there can be.")
    reaches = [distance_reach(count, neighbours.l1) for count in summed]
    _together(reaches, scales, noise)


def charged_interactions(charge: Words) -> list[Interactions | None]:
    """What a charge for marginals says was left out of each; None where it was asked whole."""
    cliques = _cliques(charge)
    said = charge.get("interactions")
    if said is None:
        return [None] * len(cliques)
    queries = [None if words is None else _query(words) for words in _listed(said, MOST_MARGINALS)]
    fits = len(queries) == len(cliques) and all(
        query is None or len(query.shape) == len(clique)
        for query, clique in zip(queries, cliques, strict=True)
    )
    if not fits:
        raise ReleaseError("the certificate has interactions of other columns than were measured.")
    return queries


def _query(words: Any) -> Interactions:
    shape = [whole("codes", size) for size in _listed(words["shape"], MOST_AXES)]
    parts = [_listed(part, MOST_AXES) for part in _listed(words["left out"], 2**MOST_AXES)]
    if not all(type(axis) is int for part in parts for axis in part) or not math.prod(shape) <= MOST_CELLS:
        raise ReleaseError("the certificate has interactions that cannot be.")
    return Interactions(shape, parts)


def _interactions(charge: Words, noise: Loss, scales: Sequence[float], neighbours: Neighbours) -> None:
    """How far all answers can move, each in units of its noise, has squares that add up to the loss's."""
    if not isinstance(noise, Gaussian) or noise.weights is not None or noise.neighbours != neighbours:
        raise _other_loss()
    queries = charged_interactions(charge)
    _together([reach(query, neighbours) for query in queries], scales, noise)


def _together(reaches: Sequence[float], scales: Sequence[float], noise: Gaussian) -> None:
    """Raise unless the moves of all answers, in units of their noise, have squares that add up to the loss's, and
    none has more of them than is said of the largest."""
    squares = [(far / scale) ** 2 for far, scale in zip(reaches, scales, strict=True)]
    moved = math.fsum(squares)
    if not moved > 0:
        raise ReleaseError("the certificate has a charge for nothing.")
    _same([1 / math.sqrt(moved)], [noise.sigma], ROOM / 4)
    if not max(squares) * noise.sigma**2 <= noise.largest * (1 + ROOM / 4):
        raise ReleaseError("the certificate has an answer with more of a batch than it says of the largest.")


_NAMES = ("view", "digest", "queries", "column", "stage")
# A new question of the curator joins by being listed here: a charge for any other does not hold.
_QUESTIONS: Mapping[str, Callable[[Words, Sequence[Loss], Neighbours], None]] = {
    "measure": _measure,
    "choose": _choose,
    "choose dependent": _choose,
    "discover": _discover,
    "histogram": _histogram,
    QUESTION: _unit_sizes,
    DISTANCE: _distance,
}


def _noise_and_slack(losses: Sequence[Loss]) -> tuple[Loss, Slack]:
    if len(losses) != 2 or not isinstance(losses[1], Slack):
        raise _other_loss()
    return losses[0], losses[1]


def _gaussian(loss: Gaussian, scales: Sequence[float], neighbours: Neighbours) -> None:
    if loss.neighbours != neighbours:
        raise ReleaseError("the certificate has a charge for other neighbours than it claims.")
    _same(scales, loss.scales)


def _same(drawn: Sequence[float], due: Sequence[float], room: float = 2.0**-49) -> None:
    """Raise unless noise was drawn at the scales that were charged for: no less, and no more is claimed.

    `room` is for rounding: `laplace_scale` is itself rounded up by 2^-50.
    """
    if len(drawn) != len(due):
        raise ReleaseError("the certificate has a charge for another number of marginals than were measured.")
    for scale, least in zip(drawn, due, strict=True):
        if not scale >= least * (1 - room):
            raise ReleaseError("the certificate has noise of a smaller scale than was charged.")
        if not scale <= least * (1 + _ROUNDING):
            raise ReleaseError("the certificate has noise of a larger scale than was charged.")


def _scales(charge: Words, count: int) -> list[float]:
    scales = [positive("scale", scale) for scale in _listed(charge["scales"], MOST_MARGINALS)]
    if len(scales) != count:
        raise ReleaseError("the certificate has other scales than marginals.")
    return scales


def _cliques(charge: Words) -> list[Any]:
    cliques = _listed(charge["cliques"], MOST_MARGINALS)
    for clique in cliques:
        names = _listed(clique, MOST_MARGINALS)
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ReleaseError("the certificate has a marginal that is not of different columns.")
    return cliques


def _threshold(charge: Words) -> int:
    threshold = charge["threshold"]
    if type(threshold) is not int or not 1 <= threshold < 2**63:
        raise ReleaseError("the certificate has a threshold that is not a whole number above 0.")
    return threshold


def _listed(values: Any, most: int) -> list[Any]:
    if not isinstance(values, list | tuple):
        raise ReleaseError("the certificate has something else where a list should be.")
    if len(values) > most:
        raise ReleaseError(f"the certificate has a list of more than {most:,}.")
    return list(values)


def _neighbours(said: Mapping[str, Any]) -> Neighbours:
    found = Neighbours(said["relation"], said["records"])
    if set(said) != {"relation", "records"} or not found.records <= MOST_RECORDS:
        raise ReleaseError("the certificate's neighbours are not two tables that differ by a unit.")
    return found


def _rule(rule: Any) -> str:
    if not isinstance(rule, str) or rule not in RULES:
        raise ReleaseError("the certificate has a part whose rule is not known.")
    return rule


def _check_words(
    certificate: Mapping[str, Any], claimed: tuple[float, float], neighbours: Neighbours
) -> None:
    """Raise unless the sentence that people read says what the numbers say."""
    if not isinstance(certificate["private"], bool):
        raise ReleaseError("the certificate does not say whether its noise is private.")
    said = {"unit": unit(neighbours), "statement": statement(*claimed, neighbours, certificate["private"])}
    for name, words in said.items():
        if certificate.get(name, words) != words:
            raise ReleaseError(f"the certificate's {name} is not what its numbers say.")


def _other_loss() -> BudgetError:
    return BudgetError("a charge has other losses than its question costs.")
