"""What datetimes and times of day share: how finely their values are kept, as midnights, full hours or minutes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays
from understudy.domain.columns.moment import LENGTHS, Moment
from understudy.domain.columns.parts.codec import Whole
from understudy.domain.columns.parts.fields import refuse

PRECISIONS = ("day", "hour", "minute", "second")  # from the coarsest


@dataclass(frozen=True)
class ClockColumn(Moment):
    """A column of clock times. `precision` is the step between values: those of "day" are midnights."""

    precision: str | None = None

    def _check(self) -> None:
        steps = [step for step in PRECISIONS if step in self.periods]
        if self.precision is not None and self.precision not in steps:
            refuse(
                "precision", self.precision, "is no step between values.", f"write one of {', '.join(steps)}."
            )
        super()._check()
        if self.precision and self.every and self._is_finer(self.every, self.precision):
            refuse(
                "every", self.every, f"is finer than precision {self.precision!r}.", "drop one of the two."
            )

    def _is_finer(self, every: str, other: str) -> bool:
        return self.periods.index(every) > self.periods.index(other)

    @property
    def _finest_period(self) -> str:
        finest = super()._finest_period
        return self.precision if self.precision and self._is_finer(finest, self.precision) else finest

    @abstractmethod
    def _micros(self, array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
        """The microsecond of each value in the plain grammar, and which could not be read (None: all could)."""

    def with_step_of(self, texts: list[str]) -> Self:
        """The column with the coarsest step that the texts all stand on, where its format does not say it."""
        micros, unread = self._micros(self.plain_values(pa.array(texts, pa.string())))
        step = coarsest(arrays.readable(micros, unread, []), self.periods)
        return replace(self, precision=None if step == self._finest_period else step)

    @property
    def step(self) -> int:
        """The microseconds between values."""
        return LENGTHS[self.precision or "second"]


def steps(micros: Whole) -> Whole:
    """The place among `PRECISIONS` of the coarsest step that each moment stands on; the last for all others."""
    found = np.full(len(micros), len(PRECISIONS) - 1, np.int64)
    for place in reversed(range(len(PRECISIONS) - 1)):
        found[micros % LENGTHS[PRECISIONS[place]] == 0] = place
    return found


def coarsest(micros: Iterable[int], periods: tuple[str, ...]) -> str | None:
    """The coarsest step that some moments all stand on; None for seconds, which need no word, and for no moments."""
    found = np.fromiter(micros, np.int64)
    step = PRECISIONS[int(steps(found).max())] if len(found) else "second"
    step = max(step, periods[0], key=PRECISIONS.index) if periods[0] in PRECISIONS else step
    return None if step == "second" else step
