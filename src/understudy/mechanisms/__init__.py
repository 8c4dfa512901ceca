"""What to measure: one selection strategy a file."""

from understudy.mechanisms.fixed import Fixed
from understudy.mechanisms.independent import Independent
from understudy.mechanisms.mechanism import Fit, Mechanism
from understudy.mechanisms.mst import MST
from understudy.mechanisms.nist_mst import NIST_MST

__all__ = ["MST", "NIST_MST", "Fit", "Fixed", "Independent", "Mechanism"]
