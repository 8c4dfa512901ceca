"""A release's card, as a registry of deployments of differential privacy asks for it: who is protected, and how."""

from __future__ import annotations

from typing import Any

from understudy.errors import ReleaseError
from understudy.pipeline import Release
from understudy.privacy import loss_from_dict
from understudy.privacy.curator.verification import UNREADABLE

_LAWS = {
    "gaussian": "discrete Gaussian noise on counts",
    "laplace": "discrete Laplace noise on counts",
    "choice": "exponential mechanism",
}


def card(release: Release) -> dict[str, Any]:
    """The card as plain JSON values, all of them from the certificate and the model: public as they stand."""
    try:
        return _card(release)
    except UNREADABLE:
        raise ReleaseError(
            "the release's certificate cannot be read, so there is no card of it.",
            hint="ask for the release anew from who made it.",
        ) from None


def _card(release: Release) -> dict[str, Any]:
    said, verdict = release.certificate, release.verify()
    kinds = {loss["kind"] for charge in said["charges"] for loss in charge["losses"]}
    rho = sum(loss_from_dict(loss).rho for charge in said["charges"] for loss in charge["losses"])
    neighbours = said.get("neighbours", {})
    return {
        "name": release.schema.name or "table",
        "data_product": "synthetic table, and answers with intervals, from a model of noisy marginals",
        "privacy": {
            "definition": "approximate differential privacy",
            "model": "central: a trusted curator holds the records",
            "private": release.private,
            "epsilon": said["epsilon"],
            "delta": said["delta"],
            "rho_zcdp": rho,
            "unit": said.get("unit", ""),
            "unit_column": release.schema.unit,
            "neighbours": neighbours.get("relation", ""),
            "most_records_per_unit": neighbours.get("records", 1),
            "statement": said.get("statement", ""),
        },
        "mechanism": {
            "name": release.mechanism,
            "primitives": [law for kind, law in _LAWS.items() if kind in kinds],
            "stages": release.spent,
        },
        "accounting": {
            "accountant": said.get("accountant", ""),
            "method": "exact privacy curves of the charges, composed; recomputed from the certificate",
            "epsilon_recomputed": verdict.epsilon,
            "holds": verdict.holds,
        },
        "post_processing": [
            "a graphical model of maximum entropy is fitted to the noisy counts (Private-PGM)",
            "records are drawn from the model; as many as the noisy counts say",
            *(f"constraint: {rule['rule']}" for rule in said.get("constraints", [])),
        ],
        "utility": _errors(release),
        "columns": list(release.domain),
        "software": {"name": "understudy", "version": said.get("version", "")},
        "not_covered": "time, memory and load; the machine with the records; what was declared public and is not",
    }


def _errors(release: Release) -> dict[str, Any] | None:
    """What the release states of its own errors: the mean over pairs of columns, with an interval."""
    if release.errors is None:
        return None
    pairs = release.expected_error().pairs
    return {
        "measure": "mean total variation over pairs of columns",
        "value": pairs.value,
        "low": pairs.low,
        "high": pairs.high,
        "level": pairs.level,
    }
