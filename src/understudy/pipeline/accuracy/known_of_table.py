"""Between what an answer about the real table lies: by noisy counts, and by the check of how far off the model is.

What a chance of failure is allowed is split among all that is used, so that all of it holds together. Where the very
columns that are asked about were measured together, most of it goes to that, which then tells most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.mechanisms import Generator
from understudy.pipeline.accuracy.direct_counts import DirectCounts
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.pipeline.accuracy.worst_case import Reach, least_ratio
from understudy.transforms.compress import Compression

GAP_SHARE = 0.1  # of the chance that an interval fails: what the number of records may take
OWN_SHARE = 0.9  # of the rest: what the noisy counts of the very columns take, where there are any
NOTHING = "nothing: these columns were neither checked nor measured together"
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Interval = tuple[float, float]


class Measured(Protocol):
    """What is used of a release."""

    @property
    def domain(self) -> Domain: ...
    @property
    def field(self) -> Generator: ...
    @property
    def compression(self) -> Compression: ...
    @property
    def measurements(self) -> tuple[Measurement, ...]: ...
    @property
    def errors(self) -> StatedErrors | None: ...


class KnownOfTable:
    """What a release knows of the real counts of some columns."""

    def __init__(self, release: Measured, clique: Clique) -> None:
        self._release, self._clique = release, clique
        self._direct = DirectCounts(release.measurements, release.compression)

    def total(self, level: float) -> Interval:
        """Between what the number of records lies."""
        found = self._direct.total(level)
        return (0.0, math.inf) if found is None else (max(0.0, found[0]), found[1])

    def count(self, sure: Mask, may: Mask, table: Floats, level: float) -> tuple[Interval, str]:
        """Between what a count lies, of records that are surely in `sure` cells and in no others than `may` cells,
        where the model expects `table`; and what that rests on."""
        if not self._clique:
            return self.total(level), "the noise of the measured columns"
        left = (1 - level) * (1 - GAP_SHARE)
        own = self._direct.tells(self._clique)
        others = [*self._parts, *self._pairs]
        found: list[Interval] = []
        if own:
            share = OWN_SHARE if others else 1.0
            told = self._direct.count(self._clique, sure, may, 1 - left * share)
            assert told is not None
            found, left = [told], left * (1 - share)
        for part in self._parts:
            axes = self._others(part)
            within, touched = (np.asarray(c) for c in (sure.all(axis=axes), may.any(axis=axes)))
            told = self._direct.count(part, within, touched, 1 - left / len(others))
            assert told is not None
            found.append(told)
        for pair in self._pairs:
            reach = self._reach(pair, left / len(others))
            axes = self._others(pair)
            within, touched = (np.ravel(c) for c in (sure.all(axis=axes), may.any(axis=axes)))
            # Of a pair's cell all records count, or some, or none.
            expected = table.sum(axis=axes).ravel()
            found.append(
                (
                    reach.least(*_grouped(expected, within.astype(np.float64))),
                    -reach.least(*_grouped(expected, -touched.astype(np.float64))),
                )
            )
        everyone = self.total(1 - (1 - level) * GAP_SHARE)[1]
        low, high = max([0.0, *(f[0] for f in found)]), min([everyone, *(f[1] for f in found)])
        if not low <= high:  # one of them failed; the widest says most
            low = max(0.0, min((f[0] for f in found), default=0.0))
            high = max((f[1] for f in found), default=0.0)  # of a total below zero
        return (low, max(low, high)), self._covers(own or bool(self._parts), self._pairs)

    @property
    def checked_pair(self) -> Clique | None:
        """The pair whose check tells of sums over these columns; None where noisy counts tell, or nothing does."""
        return None if self._direct.tells(self._clique) else next(iter(self._pairs), None)

    def sum(self, ends: tuple[Floats, Floats], table: Floats, level: float) -> Interval:
        """Between what a sum over all records lies, to each of which its cell gives between two numbers.

        By noisy counts where there are any; else by the check of the pair, one event for all sums over it. The whole
        line where there is neither.
        """
        told = self._direct.sum(self._clique, ends, level)
        if told is not None:
            return told
        if not self._pairs:
            return -math.inf, math.inf
        reach, expected = self._reach(self._pairs[0], 1 - level), table.ravel()
        return reach.least(expected, ends[0].ravel()), -reach.least(expected, -ends[1].ravel())

    def hidden(self, columns: Sequence[str]) -> float:
        """How many records may be in slots of columns that were taken for empty."""
        return self._direct.hidden(columns)

    def number(
        self,
        sure: Mask,
        may: Mask,
        table: Floats,
        axis: int,
        numbers: tuple[Floats, Floats],
        q: float | None,
        level: float,
    ) -> tuple[Interval, str]:
        """The same of the mean of an axis' numbers, or of their quantile; `numbers` has the ends of each code's."""
        lows, highs = numbers
        held = ~np.isnan(lows)
        least, most = float(lows[held].min()), float(highs[held].max())
        pairs = self._pairs if len(self._clique) <= 2 else []
        direct = self._own_number(
            sure, may, axis, numbers, q, 1 - (1 - level) * (OWN_SHARE if pairs else 1.0)
        )
        if not math.isfinite(most - least) or not (pairs or direct):
            return (least, most), NOTHING
        fails = (1 - level) * (1 - OWN_SHARE if direct else 1.0)
        low, high = least, most
        if pairs:
            others = tuple(other for other in range(table.ndim) if other != axis)
            masses = [np.where(cells, table, 0.0).sum(axis=others)[held] for cells in (sure, may & ~sure)]
            low, high = _within(self._reach(pairs[0], fails), masses, (lows[held], highs[held]), q)
        if direct is not None and max(low, direct[0]) <= min(high, direct[1]):
            low, high = max(low, direct[0]), min(high, direct[1])
        return (low, high), self._covers(direct is not None, pairs)

    def _own_number(
        self,
        sure: Mask,
        may: Mask,
        axis: int,
        numbers: tuple[Floats, Floats],
        q: float | None,
        level: float,
    ) -> Interval | None:
        along = [1] * sure.ndim
        along[axis] = -1
        low, high = (np.broadcast_to(end.reshape(along), sure.shape) for end in numbers)
        if q is None:
            return self._direct.mean(self._clique, sure, may, (low, high), level)
        return self._direct.quantile(self._clique, sure, may, (low, high), q, level)

    # --- what there is -------------------------------------------------------------------------------------------

    def _others(self, part: Clique) -> tuple[int, ...]:
        """The axes of the columns that are not in a part."""
        return tuple(axis for axis, name in enumerate(self._clique) if name not in part)

    @cached_property
    def _parts(self) -> list[Clique]:
        """The single columns, and the pairs, among more columns that noisy counts tell of."""
        sizes = range(1, min(3, len(self._clique)))
        return [
            part for size in sizes for part in combinations(self._clique, size) if self._direct.tells(part)
        ]

    @cached_property
    def _pairs(self) -> list[Clique]:
        """The checked pairs that say something of the columns: those among them; of one alone, its smallest pair."""
        errors, domain = self._release.errors, self._release.domain
        if errors is None or not self._clique:
            return []
        if len(self._clique) == 1:
            holding = [pair for pair in errors.pairs if self._clique[0] in pair]
            return sorted(holding, key=domain.size)[:1]
        among = {frozenset(pair) for pair in combinations(self._clique, 2)}
        return [pair for pair in errors.pairs if frozenset(pair) in among]

    def _reach(self, pair: Clique, fails: float) -> Reach:
        """How far the real counts of a pair are from the model's, but for a chance of `fails`."""
        errors = self._release.errors
        assert errors is not None
        # Only that it is not further is of use: so the whole chance is for that side.
        found = errors.distance(pair, 1 - 2 * fails * (1 - GAP_SHARE))
        assert found is not None
        least, most = self.total(1 - fails * GAP_SHARE)
        total = self._release.field.total
        return Reach(found.high, max(abs(total - least), abs(most - total)))

    def _covers(self, direct: bool, pairs: Sequence[Clique]) -> str:
        if not direct and not pairs:
            return NOTHING
        known = ["their own noisy counts"] if direct else []
        known += (
            ["the check of their pairs" if len(self._clique) > 1 else "the check of a pair"] if pairs else []
        )
        return f"noise, and what the model leaves out: by {' and '.join(known)}"


def _within(
    reach: Reach, masses: Sequence[Floats], numbers: tuple[Floats, Floats], q: float | None
) -> Interval:
    """Between what a mean or a quantile lies, of all tables within reach of what is surely, and perhaps, counted."""
    lows, highs = numbers
    least, most = float(lows.min()), float(highs.max())
    if not math.isfinite(reach.distance):
        return least, most
    expected = np.concatenate(masses)

    def holds(bound: float, sign: float) -> bool:
        """Whether no table within reach has a mean, or quantile, below the bound (above it, for a sign of -1)."""
        ends = lows if sign > 0 else highs
        weights = sign * (ends - bound) if q is None else _below(ends, bound, q, sign)
        return reach.least(expected, np.concatenate([weights, np.minimum(weights, 0.0)])) >= 0

    return (
        least_ratio(lambda bound: holds(bound, 1.0), least, most),
        -least_ratio(lambda bound: holds(-bound, -1.0), -most, -least),
    )


def _grouped(expected: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Cells of one weight together: what they expect in all, and their weight."""
    kinds, places = np.unique(weights, return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=expected, minlength=len(kinds))
    return sums.astype(np.float64), kinds


def _below(ends: Floats, bound: float, q: float, sign: float) -> Floats:
    """Weights whose sum is 0 or more where the quantile is not below a bound (not above it, for a sign of -1)."""
    if sign > 0:  # at most a share q lies below it
        return np.where(ends < bound, q - 1, q)
    return np.where(ends <= bound, 1 - q, -q)  # at least a share q lies up to it
