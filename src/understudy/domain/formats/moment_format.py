"""Dates and times by codes such as %d/%m/%Y, read and written a column at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import arrays
from understudy.domain.formats.cell_format import CellFormat, joined
from understudy.errors import SchemaError

Whole = npt.NDArray[np.int64]

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_YEAR = 1969  # of those that two digits stand for, where no bound says otherwise

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_MONTH_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
_MONTH_NAMES = _MONTH_NAMES.replace("Sep(?:tember)?", "Sept?(?:ember)?")
_WEEKDAY_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in WEEKDAYS)
# A code -> the part of a moment that it stands for, and what it looks like. Where no other digit stands beside it,
# \d\d may be a single digit; \d{2} may not.
_CODES = {
    "%Y": ("year", r"\d{4}"),
    "%G": ("weekyear", r"\d{4}"),
    "%V": ("week", r"\d{2}"),
    "%q": ("quarter", "[1-4]"),
    "%y": ("short", r"\d{2}"),
    "%m": ("month", r"\d\d"),
    "%-m": ("month", r"\d\d"),
    "%b": ("month", _MONTH_NAMES),
    "%B": ("month", _MONTH_NAMES),
    **{f"%{case}{name}": ("month", _MONTH_NAMES) for case in "^#" for name in "bB"},
    "%d": ("day", r"\d\d"),
    "%-d": ("day", r"\d\d"),
    "%H": ("hour", r"\d\d"),
    "%-H": ("hour", r"\d\d"),
    "%I": ("twelve", r"\d\d"),
    "%-I": ("twelve", r"\d\d"),
    "%p": ("half", r"[ap]\.?m\.?"),
    "%P": ("half", r"[ap]\.?m\.?"),
    "%M": ("minute", r"\d{2}"),
    "%S": ("second", r"\d{2}"),
    "%f": ("fraction", r"\d{1,9}"),
    "%3f": ("fraction", r"\d{1,9}"),
    "%z": ("offset", r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"),
    **{f"%{case}{name}": ("weekday", _WEEKDAY_NAMES) for case in ("", "^", "#") for name in "aA"},
    "%%": ("", "%"),
}
_TOKEN = re.compile(r"%[-^#]?\d?[A-Za-z%]|%|[^%]+")
_CASES: dict[str, Callable[[str], str]] = {"": str, "^": str.upper, "#": str.lower}
_CLOCK = {"hour", "twelve", "half", "minute", "second", "fraction", "offset"}


class MomentFormat(CellFormat):
    """Texts such as 03/02/2021 09:23 by codes such as %d/%m/%Y %H:%M.

    `first_year` is the first of the hundred years that two digits (%y) stand for.
    """

    def __init__(self, spec: str, first_year: int | None = None) -> None:
        self.spec = spec
        self.first_year = FIRST_YEAR if first_year is None else first_year
        self.tokens: list[str] = _TOKEN.findall(spec)
        self.parts = [_CODES[token][0] for token in self.tokens if self._is_part(token)]
        self._check()

    def _is_part(self, token: str) -> bool:
        if not token.startswith("%") or token == "%%":
            return False
        if token not in _CODES:
            raise _refused(self.spec, f"has the unknown code {token}.", f"known: {' '.join(_CODES)}.")
        return True

    def _check(self) -> None:
        parts, spec = set(self.parts), self.spec
        for part in parts:
            if self.parts.count(part) > 1:
                raise _refused(spec, f"says the {_named(part)} twice.", "keep one of the two.")
        for one, other in (("year", "short"), ("hour", "twelve"), ("quarter", "month"), ("weekyear", "year")):
            if {one, other} <= parts:
                raise _refused(spec, f"says the {_named(one)} twice.", "keep one of the two.")
        if ("twelve" in parts) != ("half" in parts):
            raise _refused(
                spec, "has only one of %I and %p.", "a clock of twelve hours needs both; else write %H."
            )
        needs = {"minute": {"hour", "twelve"}, "second": {"minute"}, "fraction": {"second"}, "day": {"month"}}
        needs |= {"month": {"year", "short"}, "quarter": {"year", "short"}, "offset": {"hour", "twelve"}}
        for part, needed in {**needs, "week": {"weekyear"}, "weekyear": {"week"}}.items():
            if part in parts and not parts & needed:
                raise _refused(
                    spec,
                    f"has the {_named(part)} without the {_named(min(needed))}.",
                    "add its code, or drop the other.",
                )

    @property
    def dated(self) -> bool:
        """Whether it says the day, or at least the month, quarter or week of a year."""
        return bool({"month", "quarter", "week"} & {*self.parts})

    @property
    def timed(self) -> bool:
        """Whether it says the time of day."""
        return bool({"hour", "twelve"} & {*self.parts})

    @property
    def years(self) -> tuple[int, int]:
        """The first and last year that it can write."""
        return (self.first_year, self.first_year + 99) if "short" in self.parts else (0, 9999)

    @property
    def resolution(self) -> str:
        """The shortest period that it tells apart."""
        said = {"hour" if part == "twelve" else part for part in self.parts}
        shortest = ("second", "minute", "hour", "day", "week", "month", "quarter")
        return next((part for part in shortest if part in said), "year")

    def reads_type(self, kind: pa.DataType) -> bool:
        return bool(pa.types.is_temporal(kind))

    # --- texts to moments ----------------------------------------------------------------------------------

    @cached_property
    def pattern(self) -> str:
        """The regular expression of its texts, with a group for each part."""
        found = []
        for place, token in enumerate(self.tokens):
            part, looks = _CODES.get(token, ("", None))
            if looks is None:
                found.append(re.sub(r"(?:\\[ \t])+", "[ \\\\t]+", re.escape(token)))
            elif not part:
                found.append(looks)
            else:
                if looks == r"\d\d" and not self._touches_digits(place):
                    looks = r"\d\d?"
                found.append(f"(?P<{part}>{looks})")
        return f"(?i)^{''.join(found)}$"

    def _touches_digits(self, place: int) -> bool:
        before, after = self.tokens[:place][-1:], self.tokens[place + 1 :][:1]
        return any(_digit(token[-1:], token) for token in before) or any(
            _digit(token[:1], token) for token in after
        )

    def read(self, texts: pa.Array) -> pa.Array:
        """The moment of each text, in microseconds since 1970; of a time alone, a time of day."""
        found = pc.extract_regex(texts, pattern=self.pattern)
        unread = found.is_null().to_numpy(zero_copy_only=False)
        parts = {part: pc.struct_field(found, part) for part in self.parts}
        clock, fits = self._clock(parts)
        if not self.dated:
            return pa.array(clock, pa.int64(), mask=unread | ~fits).view(pa.time64("us"))
        days, real = self._days(parts)
        micros = days * _DAY + clock - _offset(parts.get("offset"))
        return pa.array(micros, pa.int64(), mask=unread | ~fits | ~real).view(pa.timestamp("us"))

    def _days(self, parts: dict[str, pa.Array]) -> tuple[Whole, npt.NDArray[np.bool_]]:
        """The day of each moment, counted from 1970, and whether there is such a day: of a week its Monday."""
        if "week" in parts:
            return _mondays(_whole(parts["weekyear"]), _whole(parts["week"]))
        if "short" in parts:
            year = self.first_year + (_whole(parts["short"]) - self.first_year) % 100
        else:
            year = _whole(parts["year"])
        named = any(_CODES.get(token) == ("month", _MONTH_NAMES) for token in self.tokens)
        if "quarter" in parts:
            month = _whole(parts["quarter"]) * 3 - 2
        else:
            month = _month(parts["month"]) if named else _whole(parts["month"])
        day = _whole(parts["day"]) if "day" in parts else np.ones(len(year), np.int64)
        months = (year - 1970) * 12 + month - 1
        first, after = (
            m.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for m in (months, months + 1)
        )
        real = (month >= 1) & (month <= 12) & (day >= 1) & (day <= after - first) & (year >= 1)
        return first + day - 1, real

    def _clock(self, parts: dict[str, pa.Array]) -> tuple[Whole, npt.NDArray[np.bool_]]:
        """The microseconds since midnight of each moment, and whether a clock shows them."""
        length = len(next(iter(parts.values())))
        none = np.zeros(length, np.int64)
        minute = _whole(parts["minute"]) if "minute" in parts else none
        second = _whole(parts["second"]) if "second" in parts else none
        hour, fits = none, np.ones(length, np.bool_)
        if "twelve" in parts:
            twelve = _whole(parts["twelve"])
            fits = (twelve >= 1) & (twelve <= 12)
            hour = twelve % 12 + 12 * np.asarray(
                pc.fill_null(pc.starts_with(parts["half"], "p", ignore_case=True), False)
            )
        elif "hour" in parts:
            hour = _whole(parts["hour"])
        fraction = none
        if "fraction" in parts:
            six = pc.utf8_slice_codeunits(pc.utf8_rpad(parts["fraction"], 6, "0"), 0, 6)
            fraction = _whole(six)
        fits = fits & (hour < 24) & (minute < 60) & (second < 60)
        return ((hour * 60 + minute) * 60 + second) * _SECOND + fraction, fits

    # --- moments to texts ----------------------------------------------------------------------------------

    def write(self, values: pa.Array) -> pa.Array:
        shown, missing = _shown(values)
        texts = joined(*(shown[token]() if token in shown else token for token in self.tokens)).cast(
            pa.string()
        )
        return texts if missing is None else pc.if_else(pa.array(missing), None, texts)

    def written_as(self, texts: pa.Array, codes: Sequence[str]) -> list[pa.Array]:
        """For each code, of a part that this format has: which texts show that part as the code writes it."""
        found, (shown, _) = pc.extract_regex(texts, pattern=self.pattern), _shown(self.read(texts))
        return [pc.equal(pc.struct_field(found, _CODES[code][0]), shown[code]()) for code in codes]


def _shown(
    values: pa.Array,
) -> tuple[dict[str, Callable[[], pa.Array | str]], npt.NDArray[np.bool_] | None]:
    """What each code makes of moments, and which of them are missing (None: none)."""
    if pa.types.is_time(values.type):
        values = values.cast(pa.time64("us")).view(pa.timestamp("us"))
    micros, missing = arrays.moments(values)
    days, clock = micros // _DAY, micros % _DAY
    date = days.astype("datetime64[D]")
    months = date.astype("datetime64[M]")
    year = months.astype("datetime64[Y]").astype(np.int64) + 1970
    month, weekday = months.astype(np.int64) % 12, (days + 3) % 7
    thursday = (days - weekday + 3).astype("datetime64[D]")  # whose year is that of the week
    first = thursday.astype("datetime64[Y]")
    week = (thursday - first.astype("datetime64[D]")).astype(np.int64) // 7 + 1
    shown: dict[str, Callable[[], pa.Array | str]] = {
        "%Y": lambda: _looked_up(year, "{:04d}".format),
        "%y": lambda: _looked_up(year % 100, _two),
        "%G": lambda: _looked_up(first.astype(np.int64) + 1970, "{:04d}".format),
        "%V": lambda: _looked_up(week, _two),
        "%q": lambda: _looked_up(month // 3 + 1, str),
        "%m": lambda: _looked_up(month, lambda n: _two(n + 1)),
        "%-m": lambda: _looked_up(month, lambda n: str(n + 1)),
        "%d": lambda: _looked_up((date - months).astype(np.int64), lambda n: _two(n + 1)),
        "%-d": lambda: _looked_up((date - months).astype(np.int64), lambda n: str(n + 1)),
        "%H": lambda: _looked_up(clock // (3600 * _SECOND), _two),
        "%-H": lambda: _looked_up(clock // (3600 * _SECOND), str),
        "%I": lambda: _looked_up(clock // (3600 * _SECOND), lambda n: _two((n + 11) % 12 + 1)),
        "%-I": lambda: _looked_up(clock // (3600 * _SECOND), lambda n: str((n + 11) % 12 + 1)),
        "%p": lambda: _looked_up(clock // (12 * 3600 * _SECOND), ("AM", "PM").__getitem__),
        "%P": lambda: _looked_up(clock // (12 * 3600 * _SECOND), ("am", "pm").__getitem__),
        "%M": lambda: _looked_up(clock // (60 * _SECOND) % 60, _two),
        "%S": lambda: _looked_up(clock // _SECOND % 60, _two),
        "%f": lambda: _looked_up(clock % _SECOND, "{:06d}".format),
        "%3f": lambda: _looked_up(clock % _SECOND // 1000, "{:03d}".format),
        "%z": lambda: "+00:00",
        "%%": lambda: "%",
    }
    for mark, case in _CASES.items():
        for code, numbers, names in (("b", month, MONTHS), ("a", weekday, WEEKDAYS)):
            short = [case(name[:3]) for name in names]
            whole = [case(name) for name in names]
            shown[f"%{mark}{code}"] = partial(_looked_up, numbers, short.__getitem__)
            shown[f"%{mark}{code.upper()}"] = partial(_looked_up, numbers, whole.__getitem__)
    return shown, missing


def _refused(spec: str, rule: str, way_out: str) -> SchemaError:
    return SchemaError(f"format {spec!r} {rule}", hint=way_out)


def _named(part: str) -> str:
    """The part of a moment as a message names it, with its code."""
    names = {"short": "year", "twelve": "hour", "half": "half of the day", "weekyear": "year"}
    code = next(code for code, (known, _) in _CODES.items() if known == part)
    return f"{names.get(part, part)} ({code})"


def _digit(char: str, token: str) -> bool:
    """Whether a token begins or ends (with `char`) in a digit."""
    if token in _CODES:
        return _CODES[token][1].startswith(r"\d")
    return char.isdigit()


def _two(number: int) -> str:
    return f"{number:02d}"


def _looked_up(numbers: Whole, shown: Callable[[int], str]) -> pa.Array:
    """The text of each number, worked out once for each that lies between the smallest and the largest."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    table = pa.array([shown(number) for number in range(low, high + 1)], pa.string())
    return table.take(pa.array(numbers - low))


def _whole(digits: pa.Array) -> Whole:
    """Texts of digits as numbers; zero for nulls."""
    return np.asarray(pc.fill_null(digits, "0").cast(pa.int64()))


def _mondays(year: Whole, week: Whole) -> tuple[Whole, npt.NDArray[np.bool_]]:
    """The first day of each ISO week, counted from 1970, and whether the year has such a week."""
    fourth = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64) + 3
    monday = fourth - (fourth + 3) % 7 + (week - 1) * 7  # the fourth of January is in the first week
    held = (monday + 3).astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    return monday, (week >= 1) & (held == year) & (year >= 1)


def _month(names: pa.Array) -> Whole:
    known = pa.array([name[:3].lower() for name in MONTHS])
    found = pc.index_in(pc.utf8_slice_codeunits(pc.utf8_lower(names), 0, 3), value_set=known)
    return np.asarray(pc.fill_null(found, -1), np.int64) + 1


def _offset(offsets: pa.Array | None) -> Whole | int:
    """Microseconds to take off."""
    if offsets is None:
        return 0
    digits = pc.replace_substring_regex(pc.fill_null(offsets, ""), r"[^0-9]", "")
    padded = pc.utf8_rpad(digits, 4, "0")
    hours, minutes = (_whole(pc.utf8_slice_codeunits(padded, at, at + 2)) for at in (0, 2))
    behind = np.asarray(pc.fill_null(pc.starts_with(offsets, "-"), False))
    ahead: Whole = (hours * 60 + minutes) * 60 * _SECOND
    return np.where(behind, -ahead, ahead)
