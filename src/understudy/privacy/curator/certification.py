"""What a release says of its own privacy; `verification` recomputes it from that alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.privacy.accounting.budget import Neighbours
from understudy.privacy.accounting.losses import Loss, Slack
from understudy.privacy.accounting.spending import Allowance
from understudy.version import __version__

ACCOUNTANT = "understudy"


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
        "statement": statement(budget.epsilon, budget.delta, neighbours, private),
        "unit": unit(neighbours),
        "neighbours": neighbours.to_dict(),
        "accountant": ACCOUNTANT,
        "version": __version__,
        "slack": slack,
        "parts": [{**part.budget.to_dict(), "rule": part.rule} for part in allowance.parts],
        "charges": [charge.to_dict() for charge in charges],
    }


def statement(epsilon: float, delta: float, neighbours: Neighbours, private: bool) -> str:
    """The claim in one sentence."""
    if not private:
        return "NOT PRIVATE: the noise came from a seed, for testing."
    return (
        f"differentially private with epsilon {epsilon!r} and delta {delta!r} "
        f"for {unit(neighbours)}, under {neighbours.relation}."
    )


def unit(neighbours: Neighbours) -> str:
    """Who is protected, in words."""
    return "one record" if neighbours.records == 1 else f"a unit with at most {neighbours.records} records"
