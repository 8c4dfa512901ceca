"""What dates and datetimes share: bounds that are looked for year by year, and drafts by any form of writing."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.columns.column import Step
from understudy.domain.columns.moment import CLOCK, DAY, Moment, period, start
from understudy.domain.columns.parts.codec import Whole
from understudy.domain.columns.parts.fields import ascending, listed, refuse
from understudy.domain.columns.parts.noisy_counts import FULL, SURE, NoisyCounts
from understudy.domain.columns.parts.sight import FROM_1970, LEFT_BOUNDS, REVIEW_BOUNDS, Sight
from understudy.domain.formats.epoch_format import EpochFormat
from understudy.domain.formats.moment_format import MomentFormat

MOST_DAYS = 1_500  # that are looked at one by one: those of four years
MOST_FINE = 9_000  # periods of any length that are: the hours of a year
WORTH = (
    1 / 3
)  # of what a learned bin should hold, which the periods that a longer one is split into should each hold
MOST_CODES = 100_000  # of a column whose bounds are learned but not its periods
MOST_PERIODS = 1_000  # codes of a column whose bounds and periods are both learned, or read from records
_DAWN, _DUSK = (np.datetime64(end, "us").astype(np.int64) for end in ("0001-01-02", "9999-12-30"))
# What comes back without a format.
PLAIN_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%SZ")
_CODES_OF_DATES = "write codes such as %d/%m/%Y, %H:%M"


@dataclass(frozen=True)
class Calendar(Moment):
    """Dates and datetimes: bounds that are left out are looked for year by year."""

    learns = ("bounds", "bins")
    unit: ClassVar[timedelta]  # the least that two values differ by

    edges: tuple[Any, ...] | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        super()._check()
        if self.edges is None:
            return
        edges = tuple(self._bound("edges", value) for value in listed("edges", self.edges))
        if self.every is not None:
            refuse("edges", list(edges), "contradicts every.", "drop one of the two.")
        if None in (self.min, self.max) or not edges or edges[0] != self.min or edges[-1] > self.max:
            refuse("edges", list(edges), "does not begin at min and end before max.", "give min and max too.")
        ascending("edges", edges)
        self._set("edges", edges)

    @cached_property
    def starts(self) -> Whole | None:
        return None if self.edges is None else np.array([self.first_micro(edge) for edge in self.edges])

    def _plainly(self, every: str) -> Self:
        return replace(self, format=None, edges=None, every=every)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where no period is given, how fine codes should be is learned after the bounds."""
        return super().steps if self.every is None else super().steps[:1]

    def _check_format(self, form: MomentFormat | EpochFormat) -> None:
        if not form.dated:
            refuse("format", form.spec, "has no date.", _CODES_OF_DATES + _respelled(form.spec))
        super()._check_format(form)

    def _first_year(self) -> int | None:
        if self.max is not None:
            return int(self.max.year) - 99
        return None if self.min is None else int(self.min.year)

    @property
    def unlearned(self) -> tuple[str, ...]:
        return tuple(field for field in ("min", "max") if getattr(self, field) is None)

    def _label(self, moment: datetime) -> str:
        every = self.granularity
        if every in CLOCK:
            return moment.isoformat(" ", "seconds" if every == "second" else "minutes")
        return {
            "year": f"{moment.year}",
            "quarter": f"{moment.year} Q{(moment.month + 2) // 3}",
            "month": f"{moment.year}-{moment.month:02d}",
            "week": f"week of {moment.date()}",
            "day": f"{moment.date()}",
        }[every]

    # --- learned privately ---------------------------------------------------------------------------------

    @abstractmethod
    def _span(self, first: int, last: int, zone: tzinfo | None) -> tuple[Any, Any]:
        """The first value of one year and the last of another."""

    def grid(self, *, instants: bool = False) -> Self:
        """Years from 1800 to 2199, and as far again from a bound that is given."""
        first = 1800 if self.max is None else min(1800, max(1, self.max.year - 400))
        last = 2199 if self.min is None else max(2199, min(9999, self.min.year + 400))
        if self.form is not None:
            first, last = max(first, self.form.years[0]), min(last, self.form.years[1])
        zone = UTC if instants and self.min is None and self.max is None else self._zone()
        low, high = self._span(first, last, zone)
        return self._but(min=self.min or low, max=self.max or high, every="year")

    def _zone(self) -> tzinfo | None:
        """The time zone of a bound that is given, if it has one."""
        return next((end.tzinfo for end in (self.min, self.max) if getattr(end, "tzinfo", None)), None)

    def with_bounds(self, grid: Self, counts: NoisyCounts) -> Self:
        """Whole years around what was found, by the finest period that leaves a fair share of records for each.

        A period that the schema gives is kept, unless the bounds turn out so far apart that no column could hold it.
        """
        counts = counts.first(grid.ranges)
        dense = counts.densest()
        sure = counts.extent() if (counts.values > SURE * counts.stddev).any() else dense
        first, last = grid.min.year + min(dense[0], sure[0]), grid.min.year + max(dense[1], sure[1])
        opening = grid.min if first == grid.min.year else grid.min.replace(year=first, month=1, day=1)
        closing = min(grid.max, grid.max.replace(year=last, month=12, day=31))
        low, high = self.min or opening, self.max or closing
        if not low < high:  # all that was seen lies at the bound that was given
            low, high = self.min or grid.min, self.max or grid.max
        most = MOST_CODES if self.every else np.clip(counts.bins, 12, MOST_PERIODS)
        return self._but(min=low, max=high, every=self._finest(low, high, most))

    def _finest(self, low: Any, high: Any, most: float) -> str:
        """The finest period, none finer than `every`, of which there are not too many between the bounds."""
        given = self.periods.index(self.every) if self.every else self.periods.index(self._finest_period)
        ends = self.first_micro(low), self.first_micro(high)
        for every in reversed(self.periods[: given + 1]):
            first, last = self._periods(*ends, every)
            if last - first < most:
                return every
        return self.periods[0]

    def fine(self, coarse: tuple[Self, NoisyCounts] | None) -> Self:
        """The column by the finest period of which there are not too many between its bounds, or by its own if that
        is finer. Hours only where a quarter of the records would stand out from noise in a twelfth of them.
        """
        held = NoisyCounts(np.zeros(1), 1.0) if coarse is None else coarse[1]
        sure = held.values[held.values > SURE * held.stddev].sum()
        hours = min(MOST_FINE, 12 * (sure / (4 * SURE * held.stddev)) ** 2)
        chosen = self.granularity
        finest = self._but(every=None)._finest_period
        for every in self.periods[self.periods.index(chosen) + 1 : self.periods.index(finest) + 1]:
            first, last = self._periods(*self.extent, every)
            most = hours if every in CLOCK else MOST_DAYS if every == "day" else MOST_FINE
            if last - first < most and (every != "week" or finest == "week"):
                chosen = every
        return self._but(every=chosen)

    def with_bins(self, counts: NoisyCounts) -> Self:
        """The column by the finest period that leaves a fair share of records for each; finer ones where many are.

        A month that holds nearly all of a year's records is told apart by days, and the others are not.
        """
        counts = counts.first(self.count)
        fine = self.granularity
        base = self._finest(self.min, self.max, np.clip(counts.bins, 12, MOST_PERIODS))
        chain = self.periods[self.periods.index(base) : self.periods.index(fine) + 1]
        nested = [every for every in chain if every != "week" or base == "week"]  # weeks lie across months
        if nested[-1] != fine:
            return self._but(every=base)
        first = self._periods(*self.extent, fine)[0]
        moments = np.maximum(start(np.arange(first, first + self.count), fine), self.extent[0])
        keep = _split(counts, [period(moments, every) for every in nested], MOST_PERIODS)
        if len(keep) == len(np.unique(period(moments, base))):
            return self._but(every=base)
        zone = self._zone()
        values = [self._value(moment) for moment in moments[keep].tolist()]
        aware = [value if zone is None else value.replace(tzinfo=zone) for value in values]
        return self._but(every=None, edges=(self.min, *aware[1:]))

    # --- read from records ---------------------------------------------------------------------------------

    @abstractmethod
    def _value(self, micros: int) -> Any:
        """The value that holds a microsecond since 1970, without a time zone."""

    def completed(self, array: pa.Array) -> Self:
        micros, unread = arrays.moments(self.plain_values(array))
        meant = [moment for text in self.plain_marks if (moment := grammar.moment(text)) is not None]
        seen = np.clip(arrays.readable(micros, unread, meant), _DAWN, _DUSK)
        ends = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
        first, last = self._value(ends[0]), self._value(ends[1]) + self.unit
        zone = self._zone()
        if zone is not None:
            first, last = first.replace(tzinfo=zone), last.replace(tzinfo=zone)
        first = self.min or (min(first, self.max) if self.max else first)
        last = self.max or max(last, first)
        if not first < last:  # all that was seen lies beyond the bound that was given
            first, last = (first, first + self.unit) if self.min else (last - self.unit, last)
        return self._but(min=first, max=last, every=self.every or self._finest(first, last, MOST_PERIODS))

    @classmethod
    def _of_texts(
        cls,
        sight: Sight,
        texts: list[str],
        kept_as: Callable[[datetime], Any],
        format: str | None = None,
        said: Sequence[str] = (),
    ) -> Self:
        """The draft of a column whose texts are these, and others that count as missing."""
        seen = sight.only(texts)
        draft = cls(missing=sight.missing(sight.markers), format=format)
        kept, remarks = seen.repeated() if seen.few else ([], [])
        micros, unread = arrays.moments(draft.plain_values(pa.array(kept, pa.string())))
        moments = np.unique(arrays.readable(micros, unread, [])).tolist()
        ends: list[Any] = [np.datetime64(moment, "us").item() for moment in moments[:1] + moments[-1:]]
        if not all(isinstance(end, datetime) for end in ends) or not ends or ends[0] == ends[1]:
            return draft._but(comment=sight.comment(*said, LEFT_BOUNDS))
        low, high = (kept_as(end) for end in ends)
        # Ends so far apart that the usual period would leave too many codes have the finest that does not.
        finest = draft._finest(low, high, MOST_CODES)
        short = cls.periods.index(draft.granularity) > cls.periods.index(finest)
        remark = sight.comment(*said, *remarks, REVIEW_BOUNDS)
        return draft._but(min=low, max=high, every=finest if short else None, comment=remark)

    @classmethod
    def _by_format(cls, sight: Sight, kept_as: Callable[[datetime], Any], *, days: bool) -> Self | None:
        """The draft of moments that are written in a form of their own, where they are all days or not."""
        if sight.epoch is not None:
            spec, said = sight.epoch, [FROM_1970]
        else:
            found = sight.form("date")
            plainly = sight.share(sight.moments) if sight.moments else 0.0
            if found is None or found.spec in PLAIN_FORMS or plainly > found.share:
                return None
            spec, said = found.spec, sight.remarks(found)
        micros, unread = arrays.moments(cls(format=spec).plain_values(pa.array(sight.texts, pa.string())))
        read = np.ones(len(micros), np.bool_) if unread is None else ~unread
        if bool((micros[read] % DAY == 0).all()) != days:
            return None
        texts = [text for text, known in zip(sight.texts, read.tolist(), strict=True) if known]
        return cls._of_texts(sight, texts, kept_as, spec, said)


def _split(counts: NoisyCounts, periods: list[Whole], most: int) -> list[int]:
    """The first cell of each code: every one of the coarsest periods, in turn split into the next finer ones while
    it surely holds so many records that these are worth telling apart.
    """
    values, noise = counts.values.astype(np.float64), counts.stddev
    ends = np.append(np.flatnonzero(np.diff(periods[0], prepend=periods[0][:1] - 1)), len(values)).tolist()
    open_spans = [(a, b, 1) for a, b in pairwise(ends)]
    kept: list[int] = []
    while open_spans:
        first, last, level = open_spans.pop()
        cuts = (
            []
            if level == len(periods)
            else (np.flatnonzero(np.diff(periods[level][first:last])) + 1).tolist()
        )
        held = values[first:last].sum()
        sure = held > SURE * noise * np.sqrt(last - first)
        if (
            cuts
            and sure
            and held > WORTH * FULL * noise * (len(cuts) + 1)
            and len(kept) + len(open_spans) < most
        ):
            inner = [first, *(first + cut for cut in cuts), last]
            open_spans += [(a, b, level + 1) for a, b in pairwise(inner)]
        elif level < len(periods) and not cuts and last - first > 1:
            open_spans.append((first, last, level + 1))
        else:
            kept.append(first)
    return sorted(kept)


def _respelled(spec: str) -> str:
    """The format written in codes such as %d/%m/%Y, for a hint to someone who wrote dd/mm/yyyy."""
    codes = {
        "hh:mm": "%H:%M",
        "yyyy": "%Y",
        "yy": "%y",
        "dd": "%d",
        "mmm": "%b",
        "mm": "%m",
        "hh": "%H",
        "ss": "%S",
    }
    found = re.sub("|".join(codes), lambda word: codes[word.group()], spec.lower())
    return "." if found == spec.lower() else f": {found!r}, perhaps."
