"""What noisy measurements say by themselves: counts of cells, and how many records there are, with their noise.

A synthetic record has no code of a slot that was taken for empty; so many records as noise could hide there may be
missing from a measurement, or counted with another code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
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
        measured = self._best(clique)
        if measured is None:
            return None
        axes = [measured.clique.index(name) for name in clique]
        shape = [int(self.compression.maps[name].max()) + 1 for name in measured.clique]
        values = measured.values.reshape(shape).transpose(axes)
        variances = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(shape).transpose(axes)
        within, touched = ~self.compression.cells(clique, ~sure), self.compression.cells(clique, may)
        sums = [
            (float(values[cells].sum()), math.sqrt(float(variances[cells].sum())))
            for cells in (within, touched)
        ]
        wide, hidden = quantile(level), self._hidden(clique)
        (low, low_noise), (high, high_noise) = sums
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
        alone = [m for m in self.measurements if len(m.clique) == 1 and m.query is None]
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
