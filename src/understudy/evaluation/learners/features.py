"""Coded columns as a learner wants them: indicators of frequent codes, or a few ordered bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.evaluation.columns import Codebook, Codes, Columns, rows_of
from understudy.evaluation.correlation import top_levels

BINS = 32
INDICATORS = 200  # at most about this many over all columns, so that a fit takes seconds


@dataclass(frozen=True, eq=False)
class Indicators:
    """One 0/1 feature for each frequent code of each column, and the scaled code where there are more."""

    books: dict[str, Codebook]
    scales: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, table: Columns, names: Sequence[str]) -> Indicators:
        """The features of these columns, chosen on this table."""
        levels = max(2, min(30, INDICATORS // max(len(names), 1)))
        books, scales = {}, {}
        for name in names:
            distinct = len(np.unique(table[name]))
            # One level is left out: the indicators of all would add up to the constant.
            books[name] = top_levels(table[name], min(levels, max(distinct - 1, 0)))
            if distinct > levels + 1:
                values = table[name].astype(np.float64)
                scales[name] = float(values.mean()), float(values.std()) or 1.0
        return cls(books, scales)

    def matrix(self, table: Columns) -> npt.NDArray[np.float64]:
        """One row a record: a constant 1, then the features."""
        rows = rows_of(table)
        parts = [np.ones((rows, 1))]
        for name, book in self.books.items():
            codes = book.encode(table[name])
            parts.append((codes[:, None] == np.arange(book.absent)[None, :]).astype(np.float64))
            if name in self.scales:
                mean, spread = self.scales[name]
                parts.append(np.clip((table[name][:, None] - mean) / spread, -5, 5))
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, eq=False)
class Bins:
    """Each column in at most `BINS` ordered bins: its codes where there are few, else quantiles."""

    cuts: dict[str, npt.NDArray[np.float64]]

    @classmethod
    def of(cls, table: Columns, names: Sequence[str]) -> Bins:
        """The bins of these columns, chosen on this table."""
        return cls({name: _cuts(table[name]) for name in names})

    def matrix(self, table: Columns) -> npt.NDArray[np.int64]:
        """One row a record, one bin number a column."""
        columns = [np.searchsorted(cuts, table[name], side="right") for name, cuts in self.cuts.items()]
        return np.stack(columns, axis=1).astype(np.int64)


def _cuts(column: Codes) -> npt.NDArray[np.float64]:
    codes = np.unique(column).astype(np.float64)
    if len(codes) > BINS:
        return np.unique(np.quantile(column, np.arange(1, BINS) / BINS))
    return (codes[1:] + codes[:-1]) / 2
