"""What noisy measurements say by themselves: counts, means and quantiles, and how many records there are.

A synthetic record has no code of a slot that was taken for empty; so many records as noise could hide there may be
missing from a measurement, or counted with another code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.pipeline.accuracy.interval import quantile
from understudy.pipeline.accuracy.noisy_sums import NoisySums
from understudy.pipeline.accuracy.worst_case import Floats, least_ratio
from understudy.transforms.compress import Compression

# Standard deviations, up to a chance in a thousand: what slots that were taken for empty hold above their noisy
# count, and at most where that count was not kept, as in releases of earlier versions.
UNSEEN, HIDDEN = 3.1, 7.0
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DirectCounts:
    """The measurements of a release, and how its codes were merged."""

    measurements: tuple[Measurement, ...]
    compression: Compression

    def tells(self, clique: Clique) -> bool:
        """Whether these columns were measured together, as cells, or as what they say beyond each alone."""
        return bool(self._sums.telling(clique))

    def count(self, clique: Clique, sure: Mask, may: Mask, level: float) -> tuple[float, float] | None:
        """Between what a count lies, of records that are surely in `sure` cells and in no others than `may` cells.

        None where these columns were not measured together.
        """
        if not self.tells(clique):
            return None
        wide = quantile(level)
        return (
            self._least(clique, sure.astype(np.float64), wide),
            -self._least(clique, -may.astype(np.float64), wide),
        )

    def sum(self, clique: Clique, ends: tuple[Floats, Floats], level: float) -> tuple[float, float] | None:
        """Between what a sum over all records lies, to each of which its cell gives between two numbers.

        None where these columns were not measured together.
        """
        if not self.tells(clique):
            return None
        wide = quantile(level)
        return self._least(clique, ends[0], wide), -self._least(clique, -ends[1], wide)

    def mean(
        self, clique: Clique, sure: Mask, may: Mask, ends: tuple[Floats, Floats], level: float
    ) -> tuple[float, float] | None:
        """Between what the mean of numbers lies, over the records that are surely in `sure` cells and in no others
        than `may` cells; `ends` has the least and the greatest number of each cell, NaN for none.

        A mean m is possible where the noisy sum of number less m is no further from 0 than noise may take it. None
        where these columns were not measured together.
        """
        if not self.tells(clique):
            return None
        wide, unclear = quantile(level), may & ~sure
        lows, highs = ends
        held = may & ~np.isnan(lows)
        if not held.any():
            return None

        def above(mean: float, numbers: Floats) -> bool:
            """Whether the mean of these numbers is above one, for sure."""
            apart = np.where(held, numbers - mean, 0.0)
            return self._least(clique, np.where(unclear, np.minimum(apart, 0.0), apart), wide) >= 0

        least, most = float(lows[held].min()), float(highs[held].max())
        return (
            least_ratio(lambda mean: above(mean, lows), least, most),
            -least_ratio(lambda mean: above(mean, -highs), -most, -least),
        )

    def quantile(
        self, clique: Clique, sure: Mask, may: Mask, ends: tuple[Floats, Floats], q: float, level: float
    ) -> tuple[float, float] | None:
        """The same of the number up to which a share q of the records' numbers lies.

        A number is possible where no more than that share is surely below it, and no less surely up to it.
        """
        if not self.tells(clique):
            return None
        wide, unclear = quantile(level), may & ~sure
        lows, highs = ends
        held = may & ~np.isnan(lows)
        if not held.any():
            return None

        def possible(weights: Floats) -> bool:
            """Whether the sum of records by these weights may be 0 or more."""
            kept = np.where(held, weights, 0.0)
            return self._least(clique, np.where(unclear, np.minimum(-kept, 0.0), -kept), wide) <= 0

        # The outermost numbers that are possible: with noise, one that is not may lie between others that are.
        first, last = np.unique(lows[held]).tolist(), np.unique(highs[held])[::-1].tolist()
        low = next((x for x in first if possible(np.where(lows <= x, 1 - q, -q))), first[-1])
        high = next((x for x in last if possible(np.where(highs < x, q - 1, q))), last[-1])
        return (low, high) if low <= high else (first[0], last[0])

    def total(self, level: float) -> tuple[float, float] | None:
        """Between what the number of records lies; None where no column was measured alone.

        Those of a column's empty slots may be missing from what was counted: never are there too many.
        """
        alone = self._sums.alone
        if not alone:
            return None
        noise = [
            math.sqrt(float(np.broadcast_to(m.stddev**2, m.values.shape).sum())) * quantile(level)
            for m in alone
        ]
        hidden = [self.hidden(m.clique) for m in alone]
        best = int(np.argmin(np.add(noise, hidden)))
        found = float(alone[best].values.sum())
        return found - noise[best], found + noise[best] + hidden[best]

    # --- weighted sums -----------------------------------------------------------------------------------------

    @cached_property
    def _sums(self) -> NoisySums:
        return NoisySums(self.measurements, self.compression)

    def _least(self, clique: Clique, weights: Floats, wide: float) -> float:
        """The least that the sum of records by their cells' weights can be, up to so many deviations of noise.

        By whichever measurement has least noise, which is known beforehand, and does not depend on what it says.
        """
        behind = self._behind(clique, weights)
        told = ((m, self._sums.sum(m, behind, clique)) for m in self._sums.telling(clique))
        measured, found = min(told, key=lambda each: each[1].stddev)
        return found.value - wide * found.stddev - self._too_much(clique, weights, measured, found.most)

    def _behind(self, clique: Clique, weights: Floats) -> Floats:
        """The least weight of the old cells that each new cell comes back as."""
        for axis, name in enumerate(clique):
            codes, possible = self.compression.maps[name], self.compression.possible(name)
            weights = weights.take(possible, axis)
            size = int(codes.max()) + 1
            if size < len(possible):
                begin = np.searchsorted(codes[possible], np.arange(size))
                weights = np.minimum.reduceat(weights, begin, axis)
        return weights

    def _too_much(self, clique: Clique, weights: Floats, measured: Measurement, most: Floats) -> float:
        """How much records in slots that were taken for empty may have added to a sum above their own weights.

        Such a record of these columns is counted with another code, or is left out. One in a slot of another column
        that was measured with them is counted with its own codes of these, or is left out.
        """
        hidden = {name: self.hidden((name,)) for name in measured.clique}
        if not any(hidden.values()):
            return 0.0
        above = most[np.ix_(*(self.compression.maps[name] for name in clique))] - weights
        found = 0.0
        for name, records in hidden.items():
            if records:
                never = self.compression.never[name]
                cells = above.take(never, clique.index(name)) if name in clique else above
                found += records * max(0.0, float(cells.max(initial=0.0)))
        return found

    def hidden(self, clique: Sequence[str]) -> float:
        """How many records may be in slots of these columns that were taken for empty."""
        found = 0.0
        for name in clique:
            slots = len(self.compression.never.get(name, ()))
            if name in self.compression.unseen:
                count, deviation = self.compression.unseen[name]
                found += max(0.0, count + UNSEEN * deviation)
            elif slots:
                noise = [float(m.stddev.min()) for m in self._sums.alone if m.clique == (name,)]
                found += HIDDEN * max(noise, default=math.inf) * slots
        return found
