"""The only room that may touch private counts."""

from understudy.privacy.budget import Budget, Neighbours
from understudy.privacy.calibration import Calibration, Group, calibrate
from understudy.privacy.composition import Composition, compose
from understudy.privacy.filters import Filter
from understudy.privacy.losses import (
    Approximate,
    Choice,
    Gaussian,
    Laplace,
    Loss,
    Slack,
    loss_from_dict,
)

__all__ = [
    "Approximate",
    "Budget",
    "Calibration",
    "Choice",
    "Composition",
    "Filter",
    "Gaussian",
    "Group",
    "Laplace",
    "Loss",
    "Neighbours",
    "Slack",
    "calibrate",
    "compose",
    "loss_from_dict",
]
