"""What to measure: one selection strategy a file, and `registry`, which lists them."""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.mechanisms.fixed import Fixed
    from understudy.mechanisms.generator import Generator
    from understudy.mechanisms.independent import Independent
    from understudy.mechanisms.mechanism import Fit, Mechanism, allot
    from understudy.mechanisms.mst import MST
    from understudy.mechanisms.nist_mst import NIST_MST
    from understudy.mechanisms.registry import MechanismKind, Setting
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Fit": "understudy.mechanisms.mechanism",
            "Fixed": "understudy.mechanisms.fixed",
            "Generator": "understudy.mechanisms.generator",
            "Independent": "understudy.mechanisms.independent",
            "MST": "understudy.mechanisms.mst",
            "Mechanism": "understudy.mechanisms.mechanism",
            "MechanismKind": "understudy.mechanisms.registry",
            "NIST_MST": "understudy.mechanisms.nist_mst",
            "Setting": "understudy.mechanisms.registry",
            "allot": "understudy.mechanisms.mechanism",
        },
    )

__all__ = [
    "MST",
    "NIST_MST",
    "Fit",
    "Fixed",
    "Generator",
    "Independent",
    "Mechanism",
    "MechanismKind",
    "Setting",
    "allot",
]
