"""The only room that may touch private counts."""

from understudy.privacy.budget import Budget, Neighbours
from understudy.privacy.calibration import Calibration, Group, Role, calibrate
from understudy.privacy.composition import Composition, compose
from understudy.privacy.curator import Curator
from understudy.privacy.discovery import Discovery
from understudy.privacy.filters import Filter, GaussianFilter
from understudy.privacy.ledger import Ledger, default_ledger_path
from understudy.privacy.losses import (
    Approximate,
    Choice,
    Gaussian,
    Laplace,
    Loss,
    Slack,
    loss_from_dict,
)
from understudy.privacy.page import Job
from understudy.privacy.randomness import OperatingSystem, Randomness, Seeded
from understudy.privacy.verification import recompute

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
