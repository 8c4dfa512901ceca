"""What to measure: one selection strategy a file."""

from understudy.mechanisms.field_groups import FieldGroups
from understudy.mechanisms.fixed import Fixed
from understudy.mechanisms.generator import Generator
from understudy.mechanisms.independent import Independent
from understudy.mechanisms.mechanism import Fit, Mechanism
from understudy.mechanisms.mst import MST
from understudy.mechanisms.nist_mst import NIST_MST
from understudy.mechanisms.privbayes import PrivBayes
from understudy.mechanisms.privsyn import PrivSyn

__all__ = [
    "MST",
    "NIST_MST",
    "FieldGroups",
    "Fit",
    "Fixed",
    "Generator",
    "Independent",
    "Mechanism",
    "PrivBayes",
    "PrivSyn",
]
