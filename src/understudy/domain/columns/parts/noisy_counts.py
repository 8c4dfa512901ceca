"""What noisy counts of a column's cells say: which of them hold more than noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

SURE = 5.0  # standard deviations above which a noisy count is more than noise, on a grid of hundreds of cells
FARTHER = 0.1  # standard deviations that a cell must have more for every step that it is farther from zero
LIKELY = 2.0  # and above which it likely is, next to a cell that is sure
FULL = 8.0  # standard deviations that a learned bin should hold, so that later noise does not drown it

SPIKE = 5.0  # times what cells around it hold: a value with a mass of its own
AROUND = 10  # cells to either side
MOST_SPIKES = 16


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """A noisy count for each code of a column, and the standard deviation of their noise."""

    values: npt.NDArray[Any]
    stddev: float

    def first(self, cells: int) -> NoisyCounts:
        """The counts of the first so many codes."""
        return NoisyCounts(self.values[:cells], self.stddev)

    def layers(self, count: int) -> npt.NDArray[np.float64]:
        """The counts of codes that are told apart in so many ways: a row a way."""
        return self.values.astype(np.float64).reshape(count, -1)

    def folded(self, count: int) -> NoisyCounts:
        """The counts whichever way: of the one with the fullest cell, and whatever others surely hold."""
        cells = self.layers(count)
        top = int(cells.max(axis=1).argmax())
        sure = np.where(cells > SURE * self.stddev, cells, 0)
        return NoisyCounts(cells[top] + sure.sum(axis=0) - sure[top], self.stddev)

    @property
    def total(self) -> float:
        """About how many records there are."""
        return float(self.values.sum())

    @property
    def bins(self) -> float:
        """How many bins the records can fill, each with more than noise."""
        return self.total / (FULL * self.stddev)

    def spikes(self) -> list[int]:
        """The cells that hold far more than those around them, and more than noise: some at most, the highest."""
        values = self.values.astype(np.float64)
        window = np.ones(2 * AROUND + 1)
        near = np.convolve(values, window, "same") - values
        cells = np.convolve(np.ones(len(values)), window, "same") - 1
        usual = np.maximum(near / np.maximum(cells, 1), self.stddev)
        high = np.flatnonzero((values > FULL * self.stddev) & (values > SPIKE * usual))
        return sorted(high[np.argsort(-values[high])][:MOST_SPIKES].tolist())

    def extent(self, centre: int | None = None) -> tuple[int, int]:
        """The first and last cell that hold more than noise, or a guess where none surely does.

        From the outermost sure cells on, neighbours count as filled while they likely are: a tail thins out slowly. A
        guess is the fullest cell, those near `centre` (zero) preferred: far ones are many, and one is high by chance.
        """
        values, stddev = self.values, self.stddev
        sure = np.flatnonzero(values > SURE * stddev)
        if sure.size:
            first, last = int(sure[0]), int(sure[-1])
        else:
            far = 0.0 if centre is None else np.abs(np.arange(len(values)) - centre)
            first = last = int((values - FARTHER * stddev * far).argmax())
        while first > 0 and values[first - 1] > LIKELY * stddev:
            first -= 1
        while last + 1 < len(values) and values[last + 1] > LIKELY * stddev:
            last += 1
        return first, last

    def densest(self) -> tuple[int, int]:
        """The first and last of the neighbouring cells that together stand out most from noise.

        Records that are spread thinly over many cells make none of them sure; the sum of n cells has but the square
        root of n times the noise of one.
        """
        running = np.concatenate([[0.0], np.cumsum(self.values)])
        places = np.arange(len(running))
        length = places[None, :] - places[:, None]
        found = np.where(length > 0, running[None, :] - running[:, None], -np.inf) / np.sqrt(
            np.maximum(length, 1)
        )
        first, after = np.unravel_index(int(found.argmax()), found.shape)
        return int(first), int(after) - 1
