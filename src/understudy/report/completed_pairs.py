"""A pair of columns of which only what they say together was measured, made whole by each column's noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.report.code_groups import CodeGroup, Floats, in_groups
from understudy.report.released import Released
from understudy.report.signal import UNKNOWN, Signal, of_parts


@dataclass(frozen=True, eq=False)
class CompletedPair:
    """Noisy counts of a pair: what its columns say together, of which every cell had the same noise, and each alone.

    `groups` says which codes of each axis are counted together, one row a group. Noise of cells that share a row or a
    column is not independent, so that of a group is worked out from all its codes.
    """

    together: Floats
    noise: float
    alone: tuple[Floats, Floats]
    variances: tuple[Floats, Floats]
    groups: tuple[Floats, Floats]

    @property
    def values(self) -> Floats:
        """The counts of each group of codes."""
        first, second = self.alone
        rows, columns = len(first), len(second)
        table = self.together + first[:, None] / columns + (second - second.mean())[None, :] / rows
        return np.asarray(self.groups[0] @ table @ self.groups[1].T)

    @property
    def stddev(self) -> Floats:
        """The standard deviation of each one's noise."""
        (p, q), (rows, columns) = (group.sum(axis=1) for group in self.groups), self.together.shape
        of_first, of_second = (g @ v for g, v in zip(self.groups, self.variances, strict=True))
        part = q / columns
        beyond = self.noise**2 * np.outer(p - p**2 / rows, q - q**2 / columns)
        first = np.outer(of_first, part**2)
        spread = of_second * (1 - 2 * part) + part**2 * self.variances[1].sum()
        return np.asarray(np.sqrt(beyond + first + np.outer((p / rows) ** 2, spread)))

    def signal_to_noise(self, expected: Floats) -> Signal:
        """How far the columns go together from what is expected, beside noise: what each says alone is left out.

        That has the noise of how many records there are, the same in all cells, which is no sign of anything.
        """
        only = Interactions(expected.shape, [(0,), (1,)])
        off = self.together - only.apply(expected).reshape(expected.shape) / only.cells
        parts = math.prod(size - 1 for size in expected.shape)
        return of_parts(off, self.noise**2, parts) if parts else UNKNOWN

    def grouped(self, axis: int, groups: Sequence[CodeGroup]) -> CompletedPair:
        """The same with an axis in groups."""
        one, other = self.groups
        made = in_groups(groups, self.groups[axis], 0)
        return replace(self, groups=(made, other) if axis == 0 else (one, made))


def completed_pair(
    release: Released, pair: Sequence[str], alone: Sequence[tuple[Floats, Floats]]
) -> CompletedPair | None:
    """A pair from every measurement of what its columns say together; None where there is none.

    `alone` has each column's noisy counts and their variances.
    """
    weight, total = 0.0, np.zeros([values.size for values, _ in alone])
    only = Interactions(total.shape, [(0,), (1,)])
    for measured in release.measurements:
        query = measured.query
        if (
            isinstance(query, Interactions)
            and set(pair) <= set(measured.clique)
            and _known(measured, query, pair)
        ):
            away = tuple(axis for axis, name in enumerate(measured.clique) if name not in pair)
            table = query.apply(measured.values).reshape(query.shape).sum(axis=away) / query.cells**2
            table = table if [name for name in measured.clique if name in pair] == list(pair) else table.T
            table = only.apply(table).reshape(table.shape) / only.cells
            exact = query.cells * total.size / float(measured.stddev) ** 2
            weight, total = weight + exact, total + exact * table
    if not weight:
        return None
    (first, of_first), (second, of_second) = alone
    sizes = (np.eye(first.size), np.eye(second.size))
    return CompletedPair(total / weight, weight**-0.5, (first, second), (of_first, of_second), sizes)


def _known(measured: Measurement, query: Interactions, pair: Sequence[str]) -> bool:
    """Whether no more than the single columns of a pair were left out of a measurement."""
    axes = {measured.clique.index(name) for name in pair}
    return not any(axes <= set(part) for part in query.left_out)
