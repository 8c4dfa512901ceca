"""Whether pairs of columns hang together as strongly in the synthetic table as in the real one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.evaluation.columns import LOOKUP_LIMIT, Codebook, Codes, Columns, rows_of, thin
from understudy.evaluation.fidelity import sample_cliques

Kind = Literal["pearson", "cramer", "information"]
PAIRS = 300
ROWS = 100_000
LEVELS = 40  # the most frequent codes of a column are told apart, all others are one level
LABELS = {"pearson": "Pearson correlation", "cramer": "Cramér's V", "information": "mutual information"}


@dataclass(frozen=True)
class Correlation:
    """The mean absolute difference, over pairs of columns, of one measure of association.

    `pearson` takes codes as numbers; `cramer` (0 to 1) and `information` (nats) take them as categories, the
    `levels` most frequent real ones kept apart. `pairs` and `rows` limit how many pairs
    and records are looked at.
    """

    kind: Kind = "cramer"
    pairs: int | None = PAIRS
    levels: int = LEVELS
    rows: int = ROWS
    better: ClassVar[str] = "lower"

    def __post_init__(self) -> None:
        if self.kind not in LABELS:
            raise ParameterError(
                f"association {self.kind!r} is not known.", hint=f"choose one of {', '.join(LABELS)}."
            )

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """The mean absolute difference."""
        if len(real) < 2:
            raise ParameterError("association needs two columns.", hint="give a wider table.")
        pairs = sample_cliques(list(real), 2, self.pairs, randomness)
        real, candidate = thin(real, self.rows, randomness), thin(candidate, self.rows, randomness)
        mine, theirs = (self.association(table, real, pairs) for table in (real, candidate))
        return {f"{LABELS[self.kind]}, difference": float(np.mean(np.abs(mine - theirs)))}

    def association(self, table: Columns, real: Columns, pairs: list[Clique]) -> npt.NDArray[np.float64]:
        """The measure of each pair in a table, levels being those of the real one."""
        if self.kind == "pearson":
            return _pearson(table, pairs)
        names = dict.fromkeys(name for pair in pairs for name in pair)
        books = {name: top_levels(real[name], self.levels) for name in names}
        levels = {name: book.encode(table[name]).astype(np.int64) for name, book in books.items()}
        measure = _cramer if self.kind == "cramer" else _information
        found = []
        for a, b in pairs:
            rows, columns = books[a].absent + 1, books[b].absent + 1
            cells = np.bincount(levels[a] * columns + levels[b], minlength=rows * columns)
            found.append(measure(cells.reshape(rows, columns) / rows_of(table)))
        return np.array(found)


def top_levels(column: Codes, most: int) -> Codebook:
    """The codebook of the `most` frequent codes of a column (ties: smaller codes first)."""
    if len(column) and int(column.min()) >= 0 and int(column.max()) < LOOKUP_LIMIT:  # counted, not sorted
        every = np.bincount(column)
        codes = np.flatnonzero(every)
        counts = every[codes]
    else:
        codes, counts = np.unique(column, return_counts=True)
    return Codebook.listing(codes[np.argsort(-counts, kind="stable")[:most]])


def _pearson(table: Columns, pairs: list[Clique]) -> npt.NDArray[np.float64]:
    standard = {}
    for name in {name for pair in pairs for name in pair}:
        values = table[name].astype(np.float64)
        spread = values.std()
        # A constant column goes with nothing.
        standard[name] = (values - values.mean()) / spread if spread > 0 else np.zeros(len(values))
    return np.array([float(np.mean(standard[a] * standard[b])) for a, b in pairs])


def _cramer(shares: npt.NDArray[np.float64]) -> float:
    shares = shares[shares.sum(axis=1) > 0][:, shares.sum(axis=0) > 0]
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    smaller = min(shares.shape) - 1
    return float(np.sqrt(max(((shares - expected) ** 2 / expected).sum(), 0.0) / smaller)) if smaller else 0.0


def _information(shares: npt.NDArray[np.float64]) -> float:
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    there = shares > 0
    return float((shares[there] * np.log(shares[there] / expected[there])).sum())
