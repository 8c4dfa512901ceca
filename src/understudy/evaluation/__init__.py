"""How well a synthetic table stands in for a true one: the contest's scores and more measures.

Everything here reads the private records, so what it prints is as confidential as they are. Names are
imported from their modules on first use: the kernels behind them need numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.evaluation.comparison import Comparison, ContestFile, compare
    from understudy.evaluation.contest.income import Roles
    from understudy.evaluation.contest.scoring import ContestScores, ContestTests, Scorer, score
    from understudy.evaluation.correlation import Correlation
    from understudy.evaluation.fidelity import KMarginal, TotalVariation
    from understudy.evaluation.learners.prediction import Learning
    from understudy.evaluation.learners.propensity import Propensity
    from understudy.evaluation.measures import Evaluation, Figure, Measure, evaluate

__all__ = [
    "Comparison",
    "ContestFile",
    "ContestScores",
    "ContestTests",
    "Correlation",
    "Evaluation",
    "Figure",
    "KMarginal",
    "Learning",
    "Measure",
    "Propensity",
    "Roles",
    "Scorer",
    "TotalVariation",
    "compare",
    "evaluate",
    "score",
]

_HOMES = {
    **dict.fromkeys(("Comparison", "ContestFile", "compare"), "comparison"),
    **dict.fromkeys(("ContestScores", "ContestTests", "Scorer", "score"), "contest.scoring"),
    **dict.fromkeys(("Evaluation", "Figure", "Measure", "evaluate"), "measures"),
    **dict.fromkeys(("KMarginal", "TotalVariation"), "fidelity"),
    "Correlation": "correlation",
    "Learning": "learners.prediction",
    "Propensity": "learners.propensity",
    "Roles": "contest.income",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
