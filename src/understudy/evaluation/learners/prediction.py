"""Learning on synthetic records and testing on real ones, beside learning on real records."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy.evaluation.columns import Codebook, Columns, rows_of, thin
from understudy.evaluation.learners.features import Bins, Indicators
from understudy.evaluation.learners.regression_tree import grow

Matrix = npt.NDArray[np.float64]
# A learner fits inputs and targets and predicts the targets of other inputs.
Learner = Callable[[Columns, Matrix, Columns, np.random.Generator], Matrix]

ROWS = 10_000
TEST_SHARE = 0.3
FEW = 20  # with no task given, a target of at most this many codes is a class
TREES = 12
RIDGE = 1e-2
NEIGHBOURS = 5
SCIKIT = ("logistic", "boosting", "neighbours")


@dataclass(frozen=True)
class Learning:
    """How well learners trained on a table predict one column of real records held out from training.

    A classification is scored by accuracy and by the mean recall of its classes, a regression by R^2. The
    learners `linear`, `tree` and `forest` are built in; `logistic`, `boosting` and `neighbours` need
    scikit-learn (the extra `evaluate`). Beside the synthetic table stand the baselines, drawn from the real
    records kept for training, and those records themselves (real-on-real).
    """

    target: str
    task: Literal["classification", "regression"] | None = None
    learners: tuple[str, ...] = ("linear", "tree", "forest")
    rows: int = ROWS
    better: ClassVar[str] = "higher"

    def __post_init__(self) -> None:
        for learner in self.learners:
            if learner not in LEARNERS and learner not in SCIKIT:
                known = ", ".join((*LEARNERS, *SCIKIT))
                raise ParameterError(f"learner {learner!r} is not known.", hint=f"choose among {known}.")
        if self.task not in (None, "classification", "regression"):
            raise ParameterError(f"task {self.task!r} is not known.", hint="classification or regression.")

    def split(self, real: Columns, randomness: np.random.Generator) -> tuple[Columns, Columns]:
        """Real records to test on, and the others to train on."""
        if self.target not in real:
            raise ParameterError(f"target {self.target!r} is not a column of the real table.")
        if rows_of(real) < 4 or len(real) < 2:
            raise ParameterError("learning needs four records and two columns.")
        order = randomness.permutation(rows_of(real))
        cut = max(1, int(TEST_SHARE * len(order)))
        parts = ({name: column[part] for name, column in real.items()} for part in (order[:cut], order[cut:]))
        test, train = parts
        return thin(test, self.rows, randomness), train

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """The scores, on the real records to test on, of every learner trained on the candidate."""
        train = thin(candidate, self.rows, randomness)
        task = self.task or ("classification" if len(np.unique(real[self.target])) <= FEW else "regression")
        score = _classify if task == "classification" else _regress
        found: dict[str, float] = {}
        for name in self.learners:
            learner = LEARNERS.get(name) or _scikit(name, task)
            for metric, value in score(learner, train, real, self.target, randomness).items():
                found[f"{self.target} by {name}: {metric}"] = value
        return found


def _inputs(table: Columns, target: str) -> Columns:
    return {name: column for name, column in table.items() if name != target}


def _classify(
    learner: Learner, train: Columns, test: Columns, target: str, randomness: np.random.Generator
) -> dict[str, float]:
    book = Codebook.listing(np.unique(train[target]))
    classes = np.eye(book.absent)[book.encode(train[target])]
    scores = learner(_inputs(train, target), classes, _inputs(test, target), randomness)
    right = book.values[scores.argmax(axis=1)] == test[target]
    recalls = [right[test[target] == code].mean() for code in np.unique(test[target])]
    return {"accuracy": float(right.mean()), "mean recall": float(np.mean(recalls))}


def _regress(
    learner: Learner, train: Columns, test: Columns, target: str, randomness: np.random.Generator
) -> dict[str, float]:
    wanted = test[target].astype(np.float64)
    targets = train[target].astype(np.float64)[:, None]
    guessed = learner(_inputs(train, target), targets, _inputs(test, target), randomness)[:, 0]
    spread = float(np.mean((wanted - wanted.mean()) ** 2))
    return {"R^2": 1.0 - float(np.mean((wanted - guessed) ** 2)) / spread if spread > 0 else 0.0}


def _linear(train: Columns, targets: Matrix, test: Columns, randomness: np.random.Generator) -> Matrix:
    features = Indicators.of(train, list(train))
    matrix = features.matrix(train)
    square = matrix.T @ matrix
    square[np.diag_indices_from(square)] += RIDGE
    fitted: Matrix = features.matrix(test) @ np.linalg.solve(square, matrix.T @ targets)
    return fitted


def _tree(train: Columns, targets: Matrix, test: Columns, randomness: np.random.Generator) -> Matrix:
    bins = Bins.of(train, list(train))
    return grow(bins.matrix(train), targets, smallest=5).predict(bins.matrix(test))


def _forest(train: Columns, targets: Matrix, test: Columns, randomness: np.random.Generator) -> Matrix:
    bins = Bins.of(train, list(train))
    seen, unseen = bins.matrix(train), bins.matrix(test)
    total = np.zeros((len(unseen), targets.shape[1]))
    for _ in range(TREES):
        drawn = randomness.integers(0, len(seen), len(seen))
        some = randomness.choice(seen.shape[1], max(1, round(seen.shape[1] * 0.5)), replace=False)
        total += grow(seen[drawn], targets[drawn], smallest=5, features=some).predict(unseen)
    return total / TREES


LEARNERS: dict[str, Learner] = {"linear": _linear, "tree": _tree, "forest": _forest}


def _scikit(name: str, task: str) -> Learner:
    try:
        from sklearn import ensemble, linear_model, neighbors  # type: ignore[import, unused-ignore]  # untyped
        from threadpoolctl import threadpool_limits  # type: ignore[import, unused-ignore]  # untyped
    except ImportError as problem:
        raise ParameterError(
            f"learner {name!r} needs scikit-learn.", hint="install understudy[evaluate], or choose 'forest'."
        ) from problem
    classes = task == "classification"

    def learner(train: Columns, targets: Matrix, test: Columns, randomness: np.random.Generator) -> Matrix:
        seed = int(randomness.integers(0, 2**31))
        model: Any
        features: Any = Bins.of(train, list(train))
        if name == "boosting":
            kind = (
                ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
            )
            model = kind(max_iter=60, random_state=seed)
        else:
            features = Indicators.of(train, list(train))
            if name == "neighbours":
                among = neighbors.KNeighborsClassifier if classes else neighbors.KNeighborsRegressor
                model = among(min(NEIGHBOURS, rows_of(train)))
            else:
                model = linear_model.LogisticRegression(max_iter=1000) if classes else linear_model.Ridge()
        if classes and targets.shape[1] == 1:  # one class seen: nothing to tell apart
            return np.ones((rows_of(test), 1))
        wanted = targets.argmax(axis=1) if classes else targets[:, 0]
        # Its threads spin while they wait: on a busy machine one is faster. What it warns of, its score shows.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(features.matrix(train), wanted)
            guess = model.predict_proba if classes else model.predict
            return np.asarray(guess(features.matrix(test)), dtype=np.float64).reshape(rows_of(test), -1)

    return learner
