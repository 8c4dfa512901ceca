"""How far off a release is, by its own noisy measurement of it: of each pair of columns, and of triples on average.

A distance is the L1 distance, in records, between the exact counts and the model's. Half of it, as a share of the
release's records, is the error: what part of the records would have to be moved for the two tables to agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.display import html_table
from understudy.domain import Clique
from understudy.errors import ParameterError, ReleaseError
from understudy.pipeline.accuracy.interval import LEVEL, Estimate, with_noise
from understudy.privacy.curator.noisy_distances import PARTS, sets_digest

COVERS = "the noise of the check; exact for these columns, whether or not they were measured together"
_MOST = 10**5  # cliques that a file may name
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ExpectedErrors:
    """Mean errors, as shares of the records.

    Attributes:
        pairs: over pairs of columns.
        triples: over triples; None where none were asked about.
    """

    pairs: Estimate
    triples: Estimate | None

    def __str__(self) -> str:
        said = f"pairs are off by {_shown(self.pairs)}"
        return said if self.triples is None else f"{said}; triples by {_shown(self.triples)}"

    def _repr_html_(self) -> str:
        """The two means, for a notebook."""
        found = {"pairs": self.pairs, "triples": self.triples}
        rows = [
            [name, f"{e.value:.2%}", f"{e.low:.2%} to {e.high:.2%}"]
            for name, e in found.items()
            if e is not None
        ]
        return html_table(
            "Expected errors", ["mean over", "share of records", f"{self.pairs.level:.0%} interval"], rows, []
        )

    def to_dict(self) -> dict[str, Any]:
        """The errors as plain JSON values."""
        return {
            "said": str(self),
            "pairs": self.pairs.to_dict(),
            "triples": None if self.triples is None else self.triples.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class StatedErrors:
    """The noisy distances of pairs, then that of all triples summed where there are triples; and their noise."""

    pairs: tuple[Clique, ...]
    triples: tuple[Clique, ...]
    distances: Floats
    stddev: Floats

    def of_pair(self, columns: Sequence[str], rows: float, level: float = LEVEL) -> Estimate:
        """The error of two columns together, as a share of so many records."""
        place = next((i for i, pair in enumerate(self.pairs) if {*pair} == {*columns}), None)
        if place is None:
            raise ParameterError(
                f"the error of {' and '.join(map(repr, columns))} was not asked for: {len(self.pairs):,} pairs of "
                "columns were, by a public draw.",
                hint="expected_error() has the mean over those.",
            )
        return self._share(self.distances[place], self.stddev[place], rows, level)

    def distance(self, columns: Sequence[str], level: float = LEVEL) -> Estimate | None:
        """The L1 distance of two columns, in records; None where it was not asked for."""
        place = next((i for i, pair in enumerate(self.pairs) if {*pair} == {*columns}), None)
        if place is None:
            return None
        return with_noise(float(self.distances[place]), float(self.stddev[place]), level).clipped(0, math.inf)

    def means(self, rows: float, level: float = LEVEL) -> ExpectedErrors:
        """The mean errors, as shares of so many records."""
        count = len(self.pairs)
        noise = math.sqrt(math.fsum(self.stddev[:count] ** 2)) / count
        pairs = self._share(math.fsum(self.distances[:count]) / count, noise, rows, level)
        if not self.triples:
            return ExpectedErrors(pairs, None)
        mean, noise = (float(array[-1]) / len(self.triples) for array in (self.distances, self.stddev))
        return ExpectedErrors(pairs, self._share(mean, noise, rows, level))

    def worst(self, rows: float, most: int, level: float = LEVEL) -> list[tuple[Clique, Estimate]]:
        """The pairs that are likely off most."""
        order = np.argsort(-self.distances[: len(self.pairs)], kind="stable")[:most]
        return [(self.pairs[i], self.of_pair(self.pairs[i], rows, level)) for i in order.tolist()]

    def _share(self, distance: float, noise: float, rows: float, level: float) -> Estimate:
        half = 2 * max(rows, 1.0)
        return with_noise(float(distance) / half, float(noise) / half, level, COVERS).clipped(0.0, 1.0)

    @property
    def digest(self) -> str:
        """What a charge says of the cliques that were asked about."""
        return sets_digest([*([pair] for pair in self.pairs), *([self.triples] if self.triples else [])])

    @property
    def sizes(self) -> list[int]:
        """Over how many cliques each answer is the sum."""
        return [1] * len(self.pairs) + ([len(self.triples)] if self.triples else [])

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain JSON values: distances and noise in parts of a record."""
        return {
            "pairs": [list(pair) for pair in self.pairs],
            "triples": [list(triple) for triple in self.triples],
            "distances": [round(value * PARTS) for value in self.distances.tolist()],
            "scales": [value * PARTS for value in self.stddev.tolist()],
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> StatedErrors:
        """What `to_dict` wrote; anything else is refused."""
        pairs, triples = _cliques(said["pairs"], 2), _cliques(said["triples"], 3)
        distances = np.array([int(value) for value in said["distances"]], np.float64) / PARTS
        stddev = np.array([float(value) for value in said["scales"]], np.float64) / PARTS
        answers = len(pairs) + bool(triples)
        fits = pairs and len(distances) == len(stddev) == answers
        if not fits or not (
            np.isfinite(distances).all() and (stddev > 0).all() and np.isfinite(stddev).all()
        ):
            raise ReleaseError("the release's errors cannot be read.", hint="ask for the release anew.")
        return cls(pairs, triples, distances, stddev)


def _cliques(said: Any, order: int) -> tuple[Clique, ...]:
    found = tuple(tuple(map(str, clique)) for clique in said)
    if len(found) > _MOST or any(len(set(clique)) != order or len(clique) != order for clique in found):
        raise ReleaseError("the release's errors are of other sets of columns than pairs and triples.")
    return found


def _shown(found: Estimate) -> str:
    digits = 1 if found.value >= 0.01 else 2
    return (
        f"{found.value:.{digits}%} of records on average "
        f"({found.level:.0%} interval {found.low:.{digits}%} to {found.high:.{digits}%})"
    )
