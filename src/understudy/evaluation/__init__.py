"""How well a synthetic table stands in for a true one: the contest's scores and more measures.

Everything here reads the private records, so what it prints is as confidential as they are. Names are
imported from their modules on first use: the kernels behind them need numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.evaluation.contest import ContestScores, ContestTests, Scorer, score
    from understudy.evaluation.income import Roles

_HOMES = {
    "ContestScores": "contest",
    "ContestTests": "contest",
    "Roles": "income",
    "Scorer": "contest",
    "score": "contest",
}

__all__ = ["ContestScores", "ContestTests", "Roles", "Scorer", "score"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
