"""What to measure: one selection strategy a file, and `registry`, which lists them."""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.mechanisms.adaptive.adaptive import Adaptive
    from understudy.mechanisms.aim.aim import AIM
    from understudy.mechanisms.fixed import Fixed
    from understudy.mechanisms.generator import Generator
    from understudy.mechanisms.independent import Independent
    from understudy.mechanisms.mechanism import Fit, Mechanism, allot
    from understudy.mechanisms.mst import MST
    from understudy.mechanisms.nist_mst import NIST_MST
    from understudy.mechanisms.registry import MechanismKind, Setting
    from understudy.mechanisms.workload.workload import Workload

__all__ = [
    "AIM",
    "MST",
    "NIST_MST",
    "Adaptive",
    "Fit",
    "Fixed",
    "Generator",
    "Independent",
    "Mechanism",
    "MechanismKind",
    "Setting",
    "Workload",
    "allot",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
