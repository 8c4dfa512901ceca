"""What "explains best" means: the paper's squares, absolute errors, or any differentiable loss of the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from understudy.errors import ParameterError
from understudy.model.tree.tree_layout import Floats


class Loss(Protocol):
    """A differentiable function of the answers, convex if its certificate is to mean anything.

    `answers` are what a field says, `values` what was measured, `stddev` its scales: flat, one after another in
    the order in which the measurements were given, each in the order of its own values.
    """

    def value(self, answers: Floats, values: Floats, stddev: Floats) -> float:
        """The loss to minimise."""
        ...

    def gradient(self, answers: Floats, values: Floats, stddev: Floats) -> Floats:
        """Its derivative by every answer."""
        ...


class _Paired:
    """A loss given as one function that returns its value and its gradient."""

    def __init__(self, both: Callable[[Floats, Floats, Floats], tuple[float, Floats]]) -> None:
        self._both = both

    def value(self, answers: Floats, values: Floats, stddev: Floats) -> float:
        return float(self._both(answers, values, stddev)[0])

    def gradient(self, answers: Floats, values: Floats, stddev: Floats) -> Floats:
        return np.asarray(self._both(answers, values, stddev)[1], np.float64)


def as_loss(loss: Any) -> Loss | str:
    """A loss from what a person may write: "l2", "l1", an object with value and gradient, or one function of both."""
    if isinstance(loss, str) and loss.lower() in ("l1", "l2"):
        return loss.lower()
    if callable(getattr(loss, "value", None)) and callable(getattr(loss, "gradient", None)):
        given: Loss = loss
        return given
    if callable(loss):
        return _Paired(loss)
    raise ParameterError(
        f"loss {loss!r} is not known.",
        hint='give "l2", "l1", or an object with value(answers, values, stddev) and gradient(...).',
    )


def absolute(answers: Floats, values: Floats, stddev: Floats) -> float:
    """The L1 loss: every error in units of its scale."""
    return float(np.sum(np.abs(answers - values) / stddev))
