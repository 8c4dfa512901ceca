"""The only room that may touch private counts: accounting, noise, the ledger, and the curator on top."""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.privacy.accounting.budget import Budget, Neighbours
    from understudy.privacy.accounting.calibration import Calibration, Group, Role, calibrate
    from understudy.privacy.accounting.composition import Composition, compose
    from understudy.privacy.accounting.filters import Filter, GaussianFilter
    from understudy.privacy.accounting.losses import (
        Approximate,
        Choice,
        Gaussian,
        Laplace,
        Loss,
        Slack,
        loss_from_dict,
    )
    from understudy.privacy.curator.curator import Curator
    from understudy.privacy.curator.discovery import Discovery
    from understudy.privacy.curator.verification import recompute
    from understudy.privacy.ledger.job import Job
    from understudy.privacy.ledger.ledger import Ledger, default_ledger_path
    from understudy.privacy.noise.randomness import OperatingSystem, Randomness, Seeded
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Approximate": "understudy.privacy.accounting.losses",
            "Budget": "understudy.privacy.accounting.budget",
            "Calibration": "understudy.privacy.accounting.calibration",
            "Choice": "understudy.privacy.accounting.losses",
            "Composition": "understudy.privacy.accounting.composition",
            "Curator": "understudy.privacy.curator.curator",
            "Discovery": "understudy.privacy.curator.discovery",
            "Filter": "understudy.privacy.accounting.filters",
            "Gaussian": "understudy.privacy.accounting.losses",
            "GaussianFilter": "understudy.privacy.accounting.filters",
            "Group": "understudy.privacy.accounting.calibration",
            "Job": "understudy.privacy.ledger.job",
            "Laplace": "understudy.privacy.accounting.losses",
            "Ledger": "understudy.privacy.ledger.ledger",
            "Loss": "understudy.privacy.accounting.losses",
            "Neighbours": "understudy.privacy.accounting.budget",
            "OperatingSystem": "understudy.privacy.noise.randomness",
            "Randomness": "understudy.privacy.noise.randomness",
            "Role": "understudy.privacy.accounting.calibration",
            "Seeded": "understudy.privacy.noise.randomness",
            "Slack": "understudy.privacy.accounting.losses",
            "calibrate": "understudy.privacy.accounting.calibration",
            "compose": "understudy.privacy.accounting.composition",
            "default_ledger_path": "understudy.privacy.ledger.ledger",
            "loss_from_dict": "understudy.privacy.accounting.losses",
            "recompute": "understudy.privacy.curator.verification",
        },
    )

__all__ = [
    "Approximate",
    "Budget",
    "Calibration",
    "Choice",
    "Composition",
    "Curator",
    "Discovery",
    "Filter",
    "Gaussian",
    "GaussianFilter",
    "Group",
    "Job",
    "Laplace",
    "Ledger",
    "Loss",
    "Neighbours",
    "OperatingSystem",
    "Randomness",
    "Role",
    "Seeded",
    "Slack",
    "calibrate",
    "compose",
    "default_ledger_path",
    "loss_from_dict",
    "recompute",
]
