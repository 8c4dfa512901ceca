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
        Filtered,
        Gaussian,
        Laplace,
        Loss,
        Slack,
        loss_from_dict,
    )
    from understudy.privacy.curator.curator import Curator
    from understudy.privacy.curator.discovery import Discovery
    from understudy.privacy.curator.pooled_choice import CandidatePool, Offer
    from understudy.privacy.curator.verification import recompute
    from understudy.privacy.ledger.job import Job
    from understudy.privacy.ledger.ledger import Ledger, default_ledger_path
    from understudy.privacy.noise.randomness import OperatingSystem, Randomness, Seeded

__all__ = [
    "Approximate",
    "Budget",
    "Calibration",
    "CandidatePool",
    "Choice",
    "Composition",
    "Curator",
    "Discovery",
    "Filter",
    "Filtered",
    "Gaussian",
    "GaussianFilter",
    "Group",
    "Job",
    "Laplace",
    "Ledger",
    "Loss",
    "Neighbours",
    "Offer",
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
