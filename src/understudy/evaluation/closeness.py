"""How near synthetic records lie to real ones. Said for curiosity: it proves nothing about privacy, either way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.evaluation.columns import Columns, rows_of

NO_PROOF = (
    "These figures are no proof of privacy. A table with few columns has equal records by chance; one without any "
    "may still give people away. What protects is the bound of the release."
)
LOOKED_AT = 500  # records whose nearest is looked for
AMONG = 4_000  # real records that they are compared with
MATCHED = 200_000  # records of which equal ones are counted


@dataclass(frozen=True)
class Closeness:
    """Shares of records that equal a real one, and in how many columns the nearest real record differs (the median).

    Real records are split in two: one half is what is looked through, and records of the other half stand beside the
    synthetic ones, as they are as near as people are to each other.
    """

    equal: float
    equal_real: float
    nearest: float
    nearest_real: float
    columns: int


def closeness(real: Columns, synthetic: Columns, seed: int) -> Closeness | None:
    """The figures of two tables of codes; None where there are too few real records to split."""
    rows = rows_of(real)
    if rows < 4:
        return None
    rng = np.random.default_rng([seed, 6])
    order = rng.permutation(rows)
    names = list(real)
    half, other = _Part(real, order[: rows // 2]), _Part(real, order[rows // 2 :])
    made = _Part(synthetic)
    known = _keys(half.matrix(names, MATCHED, rng))
    equal, equal_real = (
        float(np.isin(_keys(part.matrix(names, MATCHED, rng)), known).mean()) for part in (made, other)
    )
    among = half.matrix(names, AMONG, rng)
    nearest, nearest_real = (
        float(np.median(_nearest(part.matrix(names, LOOKED_AT, rng), among))) for part in (made, other)
    )
    return Closeness(equal, equal_real, nearest, nearest_real, len(names))


@dataclass(frozen=True, eq=False)
class _Part:
    """Some records of a table, by their places, or all: only those that are looked at are copied."""

    table: Columns
    places: npt.NDArray[np.int64] | None = None

    def matrix(self, names: list[str], most: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """At most so many records, one a row."""
        rows = rows_of(self.table) if self.places is None else len(self.places)
        chosen = np.arange(rows) if rows <= most else rng.choice(rows, most, replace=False)
        chosen = chosen if self.places is None else self.places[chosen]
        return np.stack([self.table[name][chosen].astype(np.int64) for name in names], axis=1)


def _keys(records: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """Each record as one value that can be looked up."""
    whole = np.ascontiguousarray(records)
    return whole.view([("", whole.dtype)] * whole.shape[1]).reshape(-1).view(f"V{8 * whole.shape[1]}")


def _nearest(records: npt.NDArray[np.int64], among: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """In how many columns each record differs from the one that is nearest."""
    found = np.empty(len(records), np.int64)
    for place, record in enumerate(records):
        found[place] = (among != record).sum(axis=1).min()
    return found
