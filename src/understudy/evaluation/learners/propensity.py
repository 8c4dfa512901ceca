"""pMSE: how well a model can tell synthetic records from real ones (0: not at all)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy.evaluation.columns import Columns, rows_of, thin
from understudy.evaluation.learners.features import Bins, Indicators
from understudy.evaluation.learners.regression_tree import grow

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

ROWS = 10_000
STEPS = 15
RIDGE = 1e-3


@dataclass(frozen=True)
class Propensity:
    """The mean squared distance of propensities from the share of synthetic records.

    `model` is a logistic regression on indicators of frequent codes, or a tree, which sees interactions.
    For the regression the ratio to what a perfect synthetic table would score is given as well
    (Snoke et al. 2018: (k - 1)(1 - c)^2 c / N, with k coefficients and a share c of N records); near 1 is
    good.
    `rows` limits how many records of each table are used.
    """

    model: Literal["logistic", "tree"] = "logistic"
    rows: int = ROWS
    better: ClassVar[str] = "lower"

    def __post_init__(self) -> None:
        if self.model not in ("logistic", "tree"):
            raise ParameterError(f"model {self.model!r} is not known.", hint='choose "logistic" or "tree".')
        if self.rows < 1:
            raise ParameterError(f"rows {self.rows} is below 1.")

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """pMSE, and for the regression its ratio to the expected one."""
        mine, theirs = thin(real, self.rows, randomness), thin(candidate, self.rows, randomness)
        names = list(real)
        # int64, so that a -1 of one table survives beside the other's unsigned codes
        both = {n: np.concatenate([mine[n].astype(np.int64), theirs[n].astype(np.int64)]) for n in names}
        label = np.concatenate([np.zeros(rows_of(mine)), np.ones(rows_of(theirs))])
        share = float(label.mean())
        if self.model == "tree":
            bins = Bins.of(both, names).matrix(both)
            chance = grow(bins, label[:, None]).predict(bins)[:, 0]
            return {"pMSE (tree)": float(np.mean((chance - share) ** 2))}
        matrix = Indicators.of(both, names).matrix(both)
        found = float(np.mean((logistic(matrix, label) - share) ** 2))
        expected = (matrix.shape[1] - 1) * (1 - share) ** 2 * share / len(label)
        ratio = found / expected if expected > 0 else 1.0
        return {"pMSE (logistic)": found, "pMSE (logistic), ratio to expected": ratio}


def logistic(matrix: Matrix, label: Vector) -> Vector:
    """The fitted probabilities of a ridge-steadied logistic regression, by Newton's method."""
    weights = np.zeros(matrix.shape[1])
    loss = np.inf
    for _ in range(STEPS):
        fitted = _sigmoid(matrix @ weights)
        steepness = np.maximum(fitted * (1 - fitted), 1e-6)
        curvature = (matrix * steepness[:, None]).T @ matrix
        curvature[np.diag_indices_from(curvature)] += RIDGE
        step = np.linalg.solve(curvature, matrix.T @ (label - fitted) - RIDGE * weights)
        before, scale = loss, 1.0
        while True:  # halve a step that overshoots
            loss = _loss(matrix @ (weights + scale * step), label)
            if loss <= before + 1e-12 or scale < 1e-4:
                break
            scale /= 2
        weights = weights + scale * step
        if before - loss < 1e-7:
            break
    return _sigmoid(matrix @ weights)


def _sigmoid(values: Vector) -> Vector:
    out: Vector = 0.5 * (1.0 + np.tanh(0.5 * values))
    return out


def _loss(values: Vector, label: Vector) -> float:
    return float(np.mean(np.logaddexp(0.0, values) - label * values))
