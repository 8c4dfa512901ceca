"""What noisy measurements say by themselves: counts of cells, and how many records there are, with their noise.

A synthetic record has no code of a slot that was taken for empty; so many records as noise could hide there may be
missing from a measurement, or counted with another code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.pipeline.accuracy.interval import quantile
from understudy.pipeline.accuracy.worst_case import Floats, least_ratio
from understudy.transforms.compress import Compression

HIDDEN = 7.0  # standard deviations: what a slot that was taken for empty holds at most, up to a chance in a thousand
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DirectCounts:
    """The measurements of a release, and how its codes were merged."""

    measurements: tuple[Measurement, ...]
    compression: Compression
    domain: Domain

    def count(self, clique: Clique, sure: Mask, may: Mask, level: float) -> tuple[float, float] | None:
        """Between what a count lies, of records that are surely in `sure` cells and in no others than `may` cells.

        None where these columns were not measured together, as cells.
        """
        measured = self._best(clique) or self._beyond(clique)
        telling = [] if measured is None else [measured, *self._pairs_telling(clique)]
        if not telling:
            return None
        within, touched = ~self.compression.cells(clique, ~sure), self.compression.cells(clique, may)
        sums = [[self._sum(m, _spread(cells, clique, m)) for cells in (within, touched)] for m in telling]
        wide, hidden = quantile(level), self._hidden(clique)
        # Whichever has least noise, which is known beforehand, and does not depend on what it says.
        (low, low_noise), (high, high_noise) = min(sums, key=lambda both: both[0][1] + both[1][1])
        return low - wide * low_noise - hidden, high + wide * high_noise + hidden

    def mean(self, column: str, lows: Floats, highs: Floats, level: float) -> tuple[float, float] | None:
        """Between what the mean of a column lies whose codes stand for numbers (NaN: for none), by its noisy counts.

        A mean m is possible where the noisy sum of number less m is no further from 0 than noise may take it.
        None where the column was not measured alone, or numbers and slots were merged.
        """
        measured, codes = self._best((column,)), self.compression.maps[column]
        possible = self.compression.possible(column)
        numbers = ~np.isnan(lows[possible])
        size = int(codes.max()) + 1
        held, all_ = (np.bincount(codes[places], minlength=size) for places in (possible[numbers], possible))
        if measured is None or not ((held == 0) | (held == all_)).all() or not held.any():
            return None
        ends = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(ends[0], codes[possible[numbers]], lows[possible[numbers]])
        np.maximum.at(ends[1], codes[possible[numbers]], highs[possible[numbers]])
        values = measured.values[held > 0]
        variances = np.broadcast_to(measured.stddev**2, measured.values.shape)[held > 0]
        wide = quantile(level)

        def above(mean: float, numbers: Floats) -> bool:
            """Whether the mean of these numbers is above one, for sure."""
            apart = numbers - mean
            return float(apart @ values) >= wide * math.sqrt(float(apart**2 @ variances))

        low, high = (end[held > 0] for end in ends)
        least, most = float(low.min()), float(high.max())
        return (
            least_ratio(lambda mean: above(mean, low), least, most),
            -least_ratio(lambda mean: above(mean, -high), -most, -least),
        )

    def total(self, level: float) -> tuple[float, float] | None:
        """Between what the number of records lies; None where no column was measured alone."""
        alone = self._alone
        noise = [
            math.sqrt(float(np.broadcast_to(m.stddev**2, m.values.shape).sum())) * quantile(level)
            + self._hidden(m.clique)
            for m in alone
        ]
        if not alone:
            return None
        best = int(np.argmin(noise))
        found = float(alone[best].values.sum())
        return found - noise[best], found + noise[best]

    def _sum(self, measured: Measurement, cells: Mask) -> tuple[float, float]:
        """The noisy sum of some cells of a measurement, and the standard deviation of its noise."""
        if isinstance(measured.query, Interactions):
            return self._completed_sum(measured, measured.query, cells)
        variances = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(cells.shape)
        values = measured.values.reshape(cells.shape)
        return float(values[cells].sum()), math.sqrt(float(variances[cells].sum()))

    def _completed_sum(self, measured: Measurement, query: Interactions, cells: Mask) -> tuple[float, float]:
        """A sum of cells by what they were asked beyond their columns, and by what the columns' own counts say.

        Over a set of cells, a table adds up to its interactions there and, for each column, to its counts weighted by
        how much more of a code's cells are in the set than of all: those weights and the noise of both are known.
        """
        wanted = cells.astype(np.float64)
        weights = query.apply(wanted) / query.cells**2
        found = float(weights @ measured.values)
        variance = float(weights @ weights) * float(measured.stddev) ** 2
        left_out = [part[0] for part in query.left_out if part]
        parts = {}  # what each column left out adds, beyond its share of all records
        for axis in left_out:
            others = tuple(other for other in range(wanted.ndim) if other != axis)
            parts[measured.clique[axis]] = wanted.mean(axis=others) - wanted.mean()
        ways = [
            self._of_columns(parts, float(wanted.mean()), measured.clique),
            self._of_pairs(parts, float(wanted.mean())),
        ]
        rest, noise = min((way for way in ways if way is not None), key=lambda way: way[1])
        return found + rest, math.sqrt(variance + noise)

    def _of_columns(self, parts: Mapping[str, Floats], of_all: float, clique: Clique) -> tuple[float, float]:
        """What columns add by their own counts, and so much of all records; with the variance of that."""
        if not parts:
            records, noise = self._records(clique)
            return of_all * records, (of_all * noise) ** 2
        found = variance = 0.0
        for place, (name, part) in enumerate(parts.items()):
            alone = self._best((name,))
            assert alone is not None  # `_beyond` looked
            of_codes = part if place else part + of_all  # how many records there are is told once
            found += float(of_codes @ alone.values)
            variance += float(of_codes**2 @ np.broadcast_to(alone.stddev**2, alone.values.shape))
        return found, variance

    def _of_pairs(self, parts: Mapping[str, Floats], of_all: float) -> tuple[float, float] | None:
        """The same by pairs that tell columns alone as well; None where some column has none."""
        weights: dict[int, Floats] = {}
        pairs: dict[int, Measurement] = {}
        for name, part in parts.items():
            telling = min(self._pairs_telling((name,)), key=_noise_of_cells, default=None)
            if telling is None:
                return None
            query = telling.query
            assert isinstance(query, Interactions)
            along = [1] * len(query.shape)
            along[telling.clique.index(name)] = part.size
            wanted = np.broadcast_to(part.reshape(along), query.shape)
            pairs[id(telling)] = telling
            told = query.apply(wanted) / query.cells**2
            weights[id(telling)] = weights.get(id(telling), np.zeros(query.cells)) + told
        records, noise = self._records(tuple(parts))
        found, variance = of_all * records, (of_all * noise) ** 2
        for place, pair in pairs.items():
            found += float(weights[place] @ pair.values)
            variance += float(weights[place] @ weights[place]) * float(pair.stddev) ** 2
        return found, variance

    def _records(self, clique: Clique) -> tuple[float, float]:
        """How many records there are, and the noise of that: by every column of which all codes were counted."""
        whole = [m for m in self._alone if not len(self.compression.never.get(m.clique[0], ()))]
        told = whole or [m for m in self._alone if m.clique[0] in clique]
        variances = [float(np.broadcast_to(m.stddev**2, m.values.shape).sum()) for m in told]
        precision = sum(1 / variance for variance in variances)
        mean = sum(float(m.values.sum()) / v for m, v in zip(told, variances, strict=True)) / precision
        return mean, precision**-0.5

    @property
    def _alone(self) -> list[Measurement]:
        """The measurements of single columns' counts: one charge each, so their noise is independent."""
        return [m for m in self.measurements if len(m.clique) == 1 and m.query is None]

    def _pairs_telling(self, clique: Clique) -> list[Measurement]:
        """Pairs that were asked for all but how many records there are: each tells its columns alone as well."""
        if len(clique) != 1:
            return []
        return [
            m
            for m in self.measurements
            if clique[0] in m.clique
            and len(m.clique) == 2
            and isinstance(m.query, Interactions)
            and m.query.left_out == ((),)
            and not any(len(self.compression.never.get(name, ())) for name in m.clique)
        ]

    def _beyond(self, clique: Clique) -> Measurement | None:
        """The most precise measurement of what these columns say beyond each alone, if each was measured alone."""
        found = [
            m
            for m in self.measurements
            if {*m.clique} == {*clique}
            and isinstance(m.query, Interactions)
            and max(map(len, m.query.left_out)) <= 1
        ]
        if any(self._best((name,)) is None for name in clique):
            return None
        return min(found, key=lambda m: float(m.stddev), default=None)

    def _best(self, clique: Clique) -> Measurement | None:
        """The most precise measurement of these columns."""
        found = [m for m in self.measurements if {*m.clique} == {*clique} and m.query is None]
        return min(found, key=lambda m: float(np.mean(m.stddev)), default=None)

    def _hidden(self, clique: Sequence[str]) -> float:
        """How many records may be in slots of these columns that were taken for empty."""
        found = 0.0
        for name in clique:
            alone = [float(m.stddev.min()) for m in self.measurements if m.clique == (name,)]
            slots = len(self.compression.never.get(name, ()))
            found += HIDDEN * max(alone, default=math.inf) * slots if slots else 0.0
        return found


def _spread(cells: Mask, clique: Clique, measured: Measurement) -> Mask:
    """Cells of some columns as cells of a measurement that has them, axes in its order."""
    if len(measured.clique) == len(clique):
        return cells.transpose([clique.index(name) for name in measured.clique])
    assert isinstance(measured.query, Interactions)  # a pair that tells one of its columns
    along = [1] * len(measured.clique)
    along[measured.clique.index(clique[0])] = cells.size
    return np.broadcast_to(cells.reshape(along), measured.query.shape)


def _noise_of_cells(measured: Measurement) -> float:
    """The noise of a cell, of a measurement of interactions."""
    assert isinstance(measured.query, Interactions)
    return float(measured.stddev) / measured.query.cells
