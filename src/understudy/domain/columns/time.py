"""Times of day: one code for every hour, minute or second."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.columns.clock import ClockColumn
from understudy.domain.columns.moment import CLOCK, DAY, LENGTHS, SECOND, MomentCodec
from understudy.domain.columns.parts.codec import Whole, Within
from understudy.domain.columns.parts.fields import refuse
from understudy.domain.columns.parts.sight import REVIEW_BOUNDS, Sight
from understudy.domain.formats.epoch_format import EpochFormat
from understudy.domain.formats.moment_format import MomentFormat

FEW_HOURS = 3  # in which all times lie, for a draft to tell their minutes apart
_TIME = re.compile(r"(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?", re.ASCII)


def time_of_day(text: str) -> int | None:
    """Microseconds since midnight of a time such as 8:30, 08:30:59 or 08:30:59.5, or of a datetime."""
    found = _TIME.fullmatch(text.strip(" \t"))
    if found is None:
        moment = grammar.moment(text)
        return None if moment is None else moment % DAY
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return ((hours * 60 + minutes) * 60 + seconds) * SECOND + int((found[4] or "0")[:6].ljust(6, "0"))


def clock_times(array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
    """Each value in microseconds since midnight, and which could not be read (None: all could)."""
    if not pa.types.is_time(array.type):
        return arrays.by_text(array, time_of_day)
    wide = array.cast(pa.time64("us")) if pa.types.is_time32(array.type) else array
    micros, unread = arrays.moments(wide.view(pa.timestamp(wide.type.unit)))
    no_time = (micros < 0) | (micros >= DAY)  # Arrow holds what no clock shows
    return micros, no_time if unread is None else no_time | unread


@dataclass(frozen=True)
class Time(ClockColumn):
    """Times of day. Of a datetime, the time of day as it is written, in UTC where it has an offset.

    More parameters: those of every `Column`.

    Parameters:
        min: the first time, a `datetime.time`; by default midnight.
        max: the last time; by default the end of the day.
        every: how long a code is: "hour" (the default), "minute" or "second".
        precision: the step between synthetic values: "second", "minute" or "hour"; the second by default.
        format: how cells are written, by codes such as "%H:%M" or "%I:%M %p"; by default as ISO 8601 says.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "time"
    periods = CLOCK
    default_every = "hour"

    def _bound(self, field: str, value: object) -> time:
        if not isinstance(value, time) or value.tzinfo is not None:
            refuse(
                field, value, "is not a time of day.", "write it as 08:30:00, without quotes or an offset."
            )
        return value

    def first_micro(self, value: time) -> int:
        return ((value.hour * 60 + value.minute) * 60 + value.second) * SECOND + value.microsecond

    def _check_format(self, form: MomentFormat | EpochFormat) -> None:
        if form.dated or not form.timed:
            refuse("format", form.spec, "is not a time of day.", 'write codes such as "%H:%M" or "%I:%M %p".')
        super()._check_format(form)

    @property
    def extent(self) -> tuple[int, int]:
        low = 0 if self.min is None else self.first_micro(self.min)
        return low, DAY - 1 if self.max is None else self.first_micro(self.max)

    @property
    def compared_as(self) -> str:
        return "time"

    def _plain_codec(self) -> TimeCodec:
        return TimeCodec(self)

    def _label(self, moment: datetime) -> str:
        return moment.time().isoformat("seconds" if self.granularity == "second" else "minutes")

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Time | None:
        return cls() if pa.types.is_time(kind) else None

    def _micros(self, array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
        return clock_times(array)

    @classmethod
    def drafted(cls, sight: Sight) -> Time | None:
        missing, found = sight.missing(sight.markers), sight.form("time")
        timed = sight.mostly(
            lambda text: _TIME.fullmatch(text.strip()) is not None and time_of_day(text) is not None
        )
        if (
            found is not None
            and found.spec != "%H:%M:%S"
            and found.share >= (sight.share(timed) if timed else 0)
        ):
            comment = sight.comment(*sight.remarks(found))
            draft = cls(format=found.spec, missing=missing, comment=comment)
            return draft.with_step_of(sight.texts)._narrowed(sight)
        known = timed or pa.types.is_time(sight.kind)
        if not known:
            return None
        return cls(missing=missing, comment=sight.comment()).with_step_of(sight.texts)._narrowed(sight)

    def _narrowed(self, sight: Sight) -> Time:
        """The draft by the minute, between full hours, where all times lie in so few hours that these tell little."""
        micros, unread = clock_times(self.plain_values(pa.array(sight.texts, pa.string())))
        hours = np.unique(arrays.readable(micros, unread, []) // LENGTHS["hour"])
        if not len(hours) or hours[-1] - hours[0] >= FEW_HOURS or self._finest_period == "hour":
            return self
        low, high = time(int(hours[0])), time(int(hours[-1]), 59, 59)
        comment = "\n".join(remark for remark in (self.comment, REVIEW_BOUNDS) if remark)
        return replace(self, min=low, max=high, every="minute", comment=comment)


class TimeCodec(MomentCodec[Time]):
    """Times of day: back as 32-bit times, on the second."""

    arrow_type = pa.time32("s")

    def __init__(self, column: Time) -> None:
        super().__init__(column)
        self.grid = column.step

    def meaning(self, text: str) -> int | None:
        return time_of_day(text)

    def read(self, array: pa.Array) -> tuple[Whole, npt.NDArray[np.bool_] | None]:
        return clock_times(array)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(
            codes, lambda wide: (self.micros(wide, rng, within) // SECOND).astype(np.int32)
        )

    def _parsed_as(self) -> pa.DataType:
        return pa.string()  # Arrow's own parser knows other times
