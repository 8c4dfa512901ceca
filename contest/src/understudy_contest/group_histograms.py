"""Groups of columns that are drawn independently of each other, each from its own histogram of filled cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.domain.codes import code_type
from understudy.errors import ParameterError
from understudy.mechanisms.generator import Arrays
from understudy_contest.simulator import Simulator, header_of, read_header

KIND = "understudy group histograms"
Integers = npt.NDArray[np.int64]


class GroupHistograms(Simulator):
    """For each group of columns the places of some of its cells (C order) and their weights.

    A group without any cell is drawn evenly over all its cells.
    """

    def __init__(
        self,
        domain: Domain,
        groups: Sequence[Clique],
        cells: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        total: float,
    ) -> None:
        super().__init__(domain, total)
        self.groups = tuple(domain.clique(group) for group in groups)
        if sorted(name for group in self.groups for name in group) != sorted(domain):
            raise ParameterError("every column must be in one group, and in no other.")
        self.cells = tuple(
            _cells(places, weights, domain.size(group))
            for group, (places, weights) in zip(self.groups, cells, strict=True)
        )

    def draw(self, rows: int, random: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """Independent records: one cell a group."""
        codes: dict[str, npt.NDArray[Any]] = {}
        for group, (places, weights) in zip(self.groups, self.cells, strict=True):
            if places.size:
                rest = places[np.searchsorted(np.cumsum(weights), random.random(rows), side="right")]
            else:
                rest = random.integers(0, self.domain.size(group), rows)
            for name in reversed(group):
                size = self.domain[name]
                codes[name] = (rest % size).astype(code_type(size))
                rest = rest // size
        return codes

    def summary(self) -> str:
        """The groups, each with its number of filled cells."""
        lines = [f"Group histograms: {len(self.groups)} groups, {self.total:,.1f} records"]
        for group, (places, _) in zip(self.groups, self.cells, strict=True):
            lines.append(f"  {', '.join(group)}: {places.size:,} of {self.domain.size(group):,} cells")
        return "\n".join(lines)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header, and two arrays a group."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for i, (places, weights) in enumerate(self.cells):
            arrays |= {f"places_{i}": places, f"weights_{i}": weights}
        return header_of(KIND, self) | {"groups": [list(group) for group in self.groups]}, arrays

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Arrays) -> GroupHistograms:
        """The generator of a header and arrays from `to_arrays`."""
        domain, total = read_header(header)
        groups = [tuple(map(str, group)) for group in header["groups"]]
        cells = [(arrays[f"places_{i}"], arrays[f"weights_{i}"]) for i in range(len(groups))]
        return cls(domain, groups, cells, total)


def _cells(
    places: npt.ArrayLike, weights: npt.ArrayLike, size: int
) -> tuple[Integers, npt.NDArray[np.float64]]:
    """Places and weights that add up to one, once both are in order."""
    at, mass = np.array(places, dtype=np.int64), np.array(weights, dtype=np.float64)
    if at.shape != mass.shape or at.ndim != 1 or not np.isfinite(mass).all() or (mass <= 0).any():
        raise ParameterError("a group's cells need one positive weight each.")
    if at.size and not 0 <= int(at.min()) <= int(at.max()) < size:
        raise ParameterError("a group's cell lies outside its columns' codes.")
    if at.size:
        mass = mass / mass.sum()
        mass[-1] += max(0.0, 1.0 - mass.sum()) + 1e-9  # no draw falls past the last cell
    return at, mass
