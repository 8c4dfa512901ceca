"""What a release says of its own privacy, and how anyone recomputes it from that alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.errors import ReleaseError, UnderstudyError
from understudy.privacy.books import exact
from understudy.privacy.budget import Neighbours
from understudy.privacy.composition import compose
from understudy.privacy.filters import FILTER_RULE, filtered_epsilon
from understudy.privacy.losses import Approximate, Gaussian, Laplace, Loss, Slack, loss_from_dict
from understudy.privacy.spending import Allowance
from understudy.version import __version__

ACCOUNTANT = "understudy"
_ROUNDING = 1e-9  # a recomputed epsilon may exceed its part's by this factor and no more


@dataclass(frozen=True)
class Charge:
    """One question that was asked: its words, its losses, and the part of the budget that pays for it."""

    question: Mapping[str, Any]
    losses: tuple[Loss, ...]
    part: int

    def to_dict(self) -> dict[str, Any]:
        """The charge as plain JSON values."""
        return {**self.question, "losses": [loss.to_dict() for loss in self.losses], "part": self.part}


def certify(allowance: Allowance, charges: Sequence[Charge], *, private: bool) -> dict[str, Any]:
    """The certificate of everything that was asked, as plain JSON values."""
    budget, neighbours = allowance.budget, allowance.neighbours
    slack = sum(loss.delta for charge in charges for loss in charge.losses if isinstance(loss, Slack))
    return {
        **budget.to_dict(),
        "private": private,
        "statement": _statement(allowance, private),
        "unit": _unit(neighbours),
        "neighbours": neighbours.to_dict(),
        "accountant": ACCOUNTANT,
        "version": __version__,
        "slack": slack,
        "parts": [{**part.budget.to_dict(), "rule": part.rule} for part in allowance.parts],
        "charges": [charge.to_dict() for charge in charges],
    }


def recompute(certificate: Mapping[str, Any]) -> float:
    """The epsilon of a certificate's charges, composed anew; a ReleaseError where its claims do not hold.

    Within a part the charges compose at the part's delta: by the accountant, or, in a filter, by zCDP; parts add up.
    """
    try:
        return _recompute(certificate)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as fault:
        if isinstance(fault, UnderstudyError):
            raise ReleaseError(f"the certificate does not hold: {fault}") from None
        raise ReleaseError(f"the certificate cannot be read ({type(fault).__name__}).") from None


def _recompute(certificate: Mapping[str, Any]) -> float:
    neighbours = Neighbours(**certificate["neighbours"])
    losses: list[list[Loss]] = [[] for _ in certificate["parts"]]
    for charge in certificate["charges"]:
        if not 0 <= charge["part"] < len(losses):
            raise ReleaseError("the certificate has a charge that no part pays for.")
        found = [loss_from_dict(loss) for loss in charge["losses"]]
        for loss in found:
            _check_scales(loss, charge, neighbours)
        losses[charge["part"]] += found
    epsilon = delta = Fraction(0)
    spent = 0.0
    for part, asked in zip(certificate["parts"], losses, strict=True):
        cost = _cost(asked, part["rule"], part["delta"])
        if cost > part["epsilon"] * (1 + _ROUNDING):
            raise ReleaseError(f"the certificate claims epsilon {part['epsilon']!r} for what costs {cost!r}.")
        spent += min(cost, part["epsilon"])
        epsilon += exact(part["epsilon"])
        delta += exact(part["delta"])
    if epsilon > exact(certificate["epsilon"]) or delta > exact(certificate["delta"]):
        raise ReleaseError("the certificate's parts add up to more than it claims.")
    return spent


def _cost(losses: Sequence[Loss], rule: str, delta: float) -> float:
    """The epsilon of a part's losses at its delta, by the part's rule."""
    if rule == FILTER_RULE:
        return filtered_epsilon(losses, delta)
    plain = [loss for loss in losses if isinstance(loss, Approximate)]
    if len(plain) == len(losses) and sum((exact(loss.delta) for loss in plain), Fraction(0)) <= exact(delta):
        return float(sum((exact(loss.epsilon) for loss in plain), Fraction(0)))  # basic composition
    return compose(losses).epsilon(delta)  # in the order in which they were asked


def _check_scales(loss: Loss, charge: Mapping[str, Any], neighbours: Neighbours) -> None:
    """Nothing, where the noise that was drawn is no less than what the loss was charged for."""
    if isinstance(loss, Laplace) and any(scale < neighbours.l1 / loss.epsilon for scale in charge["scales"]):
        raise ReleaseError("the certificate has noise of a smaller scale than was charged.")
    if not isinstance(loss, Gaussian):
        return
    if loss.neighbours != neighbours:
        raise ReleaseError("the certificate has a charge for other neighbours than it claims.")
    if any(drawn < due for drawn, due in zip(charge["scales"], loss.scales, strict=True)):
        raise ReleaseError("the certificate has noise of a smaller scale than was charged.")


def _statement(allowance: Allowance, private: bool) -> str:
    if not private:
        return "NOT PRIVATE: the noise came from a seed, for testing."
    budget = allowance.budget
    return (
        f"differentially private with epsilon {budget.epsilon!r} and delta {budget.delta!r} "
        f"for {_unit(allowance.neighbours)}, under {allowance.neighbours.relation}."
    )


def _unit(neighbours: Neighbours) -> str:
    return "one record" if neighbours.records == 1 else f"a unit with at most {neighbours.records} records"
