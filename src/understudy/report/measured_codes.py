"""The codes of a column as they were measured, and the noisy counts of them.

Codes that were too rare were measured as one, and come back spread over all of them. A picture that drew each of them
would show detail that nobody measured: so a group has all the codes that one measured number stands for, or several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.marginals import Measurement
from understudy.report.code_groups import CodeGroup, Floats, grouped, in_groups
from understudy.report.completed_pairs import CompletedPair, completed_pair
from understudy.report.released import Released


def code_groups(release: Released, name: str, most: int) -> list[CodeGroup]:
    """At most so many groups of a column's codes, at the resolution at which they were measured."""
    column, compression = release.schema.columns[name], release.compression
    new = compression.maps[name]
    behind: dict[int, list[int]] = {}
    for old in sorted(compression.possible(name).tolist()):
        behind.setdefault(int(new[old]), []).append(old)
    counts = np.asarray(release.field.marginal((name,)).counts, np.float64)
    if column.layout.open_end:
        behind = _as_far_as_records_reach(behind, counts, column.ranges if column.ordered else 0)
    return grouped(column, behind, counts, most)


def _as_far_as_records_reach(
    behind: dict[int, list[int]], counts: Floats, ordered: int
) -> dict[int, list[int]]:
    """The codes up to the last that holds records, and the slots that hold some."""
    last = max((old[0] for code, old in behind.items() if old[0] < ordered and counts[code] > 0), default=0)
    return {
        code: old
        for code, old in behind.items()
        if old[0] <= last or (old[0] >= ordered and counts[code] > 0) or counts[code] >= 0.5
    }


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of a column or of several in the model's codes, and the standard deviation of each."""

    values: Floats
    stddev: Floats

    def grouped(self, axis: int, groups: Sequence[CodeGroup]) -> NoisyTable:
        """The same with an axis in groups: counts add up, and so do variances."""
        values, variance = (in_groups(groups, array, axis) for array in (self.values, self.stddev**2))
        return NoisyTable(values, np.sqrt(variance))


def noisy_table(release: Released, clique: Sequence[str]) -> NoisyTable | None:
    """What was measured of these columns, from every measurement that has them all; None where there is none.

    Several are weighted by how exact they are. Measurements of anything but counts are left out: see `pair_table`.
    """
    weights: Floats | None = None
    total: Floats | None = None
    for measured in release.measurements:
        if measured.query is not None or not set(clique) <= set(measured.clique):
            continue
        values, variance = _projected(release, measured, clique)
        exact = 1.0 / variance
        weights = exact if weights is None else weights + exact
        total = values * exact if total is None else total + values * exact
    if weights is None or total is None:
        return None
    return NoisyTable(total / weights, 1.0 / np.sqrt(weights))


def pair_table(release: Released, pair: Sequence[str]) -> NoisyTable | CompletedPair | None:
    """What was measured of a pair: its counts, or what its columns say together, made whole by each alone."""
    table = noisy_table(release, pair)
    alone = [noisy_table(release, (name,)) for name in pair]
    if table is not None or any(column is None for column in alone):
        return table
    return completed_pair(release, pair, [(c.values, c.stddev**2) for c in alone if c is not None])


def _projected(release: Released, measured: Measurement, clique: Sequence[str]) -> tuple[Floats, Floats]:
    """A measurement's counts of fewer columns, and their variances; axes in the clique's order."""
    shape = tuple(release.field.domain[name] for name in measured.clique)
    away = tuple(axis for axis, name in enumerate(measured.clique) if name not in clique)
    left = [name for name in measured.clique if name in clique]
    order = [left.index(name) for name in clique]
    values = measured.values.reshape(shape).sum(axis=away)
    variance = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(shape).sum(axis=away)
    return np.transpose(values, order), np.transpose(variance, order)
