"""What a release says of its own privacy, told to a person: stages of spending, and a verdict anyone can repeat."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from understudy.errors import ReleaseError
from understudy.privacy import Group, Role, loss_from_dict, recompute
from understudy.privacy.accounting.budget import positive, probability
from understudy.privacy.curator.noisy_distances import QUESTION as DISTANCE
from understudy.privacy.curator.unit_sizes import QUESTION as UNIT_SIZES

# What the questions of a group cost; those of a filter cost whatever they are asked at.
_LOSSES = {
    "choose": ("choice",),
    "measure": ("gaussian",),
    "laplace": ("laplace",),
    "filter": ("choice", "gaussian", "laplace"),
}
_STAGES = {UNIT_SIZES: "units", DISTANCE: "distance"}  # of questions that are a stage of their own
_WORDS = ("statement", "unit", "accountant", "version")


@dataclass(frozen=True)
class Verdict:
    """What a certificate claims, and what its charges really add up to.

    Attributes:
        holds: whether they add up to no more than is claimed.
        private: whether its noise was the operating system's; a test's is not.
        claimed_epsilon: what it claims.
        claimed_delta: the same.
        epsilon: what the charges add up to at that delta; None where they cannot be added up.
        why: why a claim does not hold; empty where it does.
    """

    holds: bool
    private: bool
    claimed_epsilon: float
    claimed_delta: float
    epsilon: float | None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values."""
        return asdict(self)


def verify(certificate: Mapping[str, Any], charged: Callable[[], None] = lambda: None) -> Verdict:
    """Epsilon recomputed at the claimed delta, from the charges that the certificate lists and nothing else.

    `charged` raises a ReleaseError where a release holds what those charges do not pay for.
    """
    readable(certificate)
    claimed = float(certificate["epsilon"]), float(certificate["delta"])
    private = certificate["private"] is True
    try:
        epsilon = recompute(certificate)
        charged()
    except ReleaseError as error:
        return Verdict(False, private, *claimed, None, str(error))
    return Verdict(True, private, *claimed, epsilon)


def readable(certificate: Any) -> None:
    """Refuse (ReleaseError) a certificate without the form that reports, summaries and samples rely on.

    What a curator writes is asked for. What only a run adds (mechanism, what it decided, warnings, columns that were
    dropped) may be missing, but is of its kind where it is there. Whether the claims hold is `verify`'s business.
    """
    try:
        said = dict(certificate)
        positive("epsilon", said["epsilon"])
        probability("delta", said["delta"])
        sound = isinstance(said["private"], bool) and _texts([said.get(name, "") for name in _WORDS])
        sound = sound and all(_texts(said.get(name, [])) for name in ("warnings", "dropped", "decisions"))
        sound = sound and isinstance(said.get("mechanism", {"name": ""})["name"], str)
        sound = sound and isinstance(said["charges"], list)
        records = dict(said.get("neighbours", {})).get("records", 1)
        sound = sound and isinstance(records, int) and not isinstance(records, bool)
        for rule in said.get("constraints", []):
            sound = sound and _texts([rule["rule"], rule["held"]])
            sound = sound and all(isinstance(rule.get(key, 0), int | float) for key in ("broken", "stddev"))
        for charge in said["charges"] if sound else []:
            words = charge.get("stage", ""), charge.get("question", ""), *map(str, charge["losses"])
            sound = sound and _texts(words) and isinstance(charge["losses"], list)
            rhos = [loss_from_dict(loss).rho for loss in charge["losses"]]
            sound = sound and math.isfinite(math.fsum(rhos))
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError):
        sound = False
    if not sound:
        raise ReleaseError("the certificate cannot be read.", hint="ask for the release anew.")


def _texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)


def mechanism_name(certificate: Mapping[str, Any]) -> str:
    """The name of the mechanism; empty where the certificate is a curator's alone and names none."""
    return str(certificate["mechanism"]["name"]) if "mechanism" in certificate else ""


def staged(
    certificate: Mapping[str, Any], plan: Sequence[Group], questions: Mapping[str, int]
) -> dict[str, Any]:
    """The certificate with every charge marked with its stage: the group of the plan that it belongs to.

    Groups are asked in the plan's order; `questions` says how many each step of learning really took.
    """
    charges = [dict(charge) for charge in certificate["charges"]]
    for own in charges:
        own.update({"stage": _STAGES[own["question"]]} if own["question"] in _STAGES else {})
    if charges[-1:] and charges[-1]["question"] == DISTANCE and any(g.role is Role.CHECK for g in plan):
        charges[-1]["stage"] = "check"
    waiting = [charge for charge in charges if "stage" not in charge]
    planned = [group for group in plan if group.role not in (Role.CHECK, Role.PRIOR)]
    for place, group in enumerate(planned):
        left = questions[group.name] if group.role is Role.LEARNING else group.count
        if group.kind == "filter":  # as many as it took: all but those of later groups
            left = len(waiting) - sum(later.count for later in planned[place + 1 :])
        while waiting and left > 0 and waiting[0]["losses"][0]["kind"] in _LOSSES[group.kind]:
            charge = waiting.pop(0)
            charge["stage"] = group.name
            left -= 1 if group.kind == "filter" else charge["losses"][0].get("count", 1)
    _stage_portions(charges, waiting, planned)
    return {**certificate, "charges": charges}


def _stage_portions(
    charges: Sequence[dict[str, Any]], waiting: Sequence[dict[str, Any]], planned: Sequence[Group]
) -> None:
    """Mark what a group was asked in portions between others: counts of the group whose weights were left open,
    and choices, whose groups are told apart by their epsilons in the order in which they were asked."""
    divided = [group.name for group in planned if group.kind == "measure" and group.weights is None]
    choosing = [group.name for group in planned if group.kind == "choose"]
    asked = dict.fromkeys(c["losses"][0]["epsilon"] for c in charges if c["losses"][0]["kind"] == "choice")
    names = dict(zip(asked, choosing, strict=False))
    for charge in waiting:
        loss = charge["losses"][0]
        if loss["kind"] in _LOSSES["measure"] and len(divided) == 1:
            charge["stage"] = divided[0]
        elif loss["kind"] == "choice" and loss["epsilon"] in names:
            charge["stage"] = names[loss["epsilon"]]


def spent_by_stage(certificate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The number of questions of each stage, and its share of the whole budget.

    Epsilons do not add up over stages; shares of the whole rho do, so a stage's epsilon is its share of it.
    """
    stages: dict[str, list[float]] = {}
    for charge in certificate["charges"]:
        rho = sum(loss_from_dict(loss).rho for loss in charge["losses"])
        stages.setdefault(charge.get("stage", charge.get("question", "question")), []).append(rho)
    whole = sum(map(sum, stages.values())) or 1.0
    return [
        {
            "stage": stage,
            "questions": len(rhos),
            "share": round(sum(rhos) / whole, 4),
            "epsilon": round(certificate["epsilon"] * sum(rhos) / whole, 6),
        }
        for stage, rhos in stages.items()
    ]
