"""Tables to stand beside a synthetic one: as good as sampling allows, without dependence, with nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from understudy.evaluation.columns import Codebook, Codes, Columns, pieces, rows_of

Baseline = Callable[[Columns, int, np.random.Generator], Columns]


def bootstrap(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Real records drawn with replacement: what no synthetic table of this size need beat."""
    found: Columns = {name: np.empty(rows, column.dtype) for name, column in real.items()}
    for piece, chosen in _drawn(rows_of(real), rows, randomness):
        for name, column in real.items():
            found[name][piece] = column[chosen]
    return found


def independent(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Every column drawn from the real one by itself: right margins, no dependence."""
    return {name: _some_of(column, rows, randomness) for name, column in real.items()}


def uniform(real: Columns, rows: int, randomness: np.random.Generator) -> Columns:
    """Every column drawn evenly from the codes that occur: nothing learned but the domain."""
    found: Columns = {}
    for name, column in real.items():
        codes = Codebook.of(column).values.astype(column.dtype)  # as narrow as the column
        found[name] = _some_of(codes, rows, randomness)
    return found


def _some_of(codes: Codes, rows: int, randomness: np.random.Generator) -> Codes:
    found = np.empty(rows, codes.dtype)
    for piece, chosen in _drawn(len(codes), rows, randomness):
        found[piece] = codes[chosen]
    return found


def _drawn(
    among: int, rows: int, randomness: np.random.Generator
) -> Iterator[tuple[slice, npt.NDArray[np.int64]]]:
    """So many places, each as likely as any other, a piece at a time: the same as if all were drawn at once."""
    for piece in pieces(rows):
        yield piece, randomness.integers(0, among, piece.stop - piece.start)


BASELINES: dict[str, Baseline] = {"bootstrap": bootstrap, "independent": independent, "uniform": uniform}
