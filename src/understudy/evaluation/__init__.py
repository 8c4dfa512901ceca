"""How well a synthetic table stands in for a true one: the contest's scores and more measures.

Everything here reads the private records, so what it prints is as confidential as they are. Names are
loaded on first use: the kernels behind them need numba.
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.evaluation.comparison import Comparison, ContestFile, compare
    from understudy.evaluation.contest.contest_tests import ContestTests
    from understudy.evaluation.contest.income import Roles
    from understudy.evaluation.correlation import Correlation
    from understudy.evaluation.fidelity import KMarginal, TotalVariation
    from understudy.evaluation.learners.prediction import Learning
    from understudy.evaluation.learners.propensity import Propensity
    from understudy.evaluation.measures import Evaluation, Figure, Measure, evaluate_codes
    from understudy.evaluation.two_tables import evaluate

__all__ = [
    "Comparison",
    "ContestFile",
    "ContestTests",
    "Correlation",
    "Evaluation",
    "Figure",
    "KMarginal",
    "Learning",
    "Measure",
    "Propensity",
    "Roles",
    "TotalVariation",
    "compare",
    "evaluate",
    "evaluate_codes",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
