"""What form a cell is written in, where its column has no type: a function of the cell alone.

A cell votes for a form: the formats that would write it so. 13/02/2021 has its day first, 03/02/2021 may have either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from itertools import product

from understudy.domain import grammar
from understudy.domain.formats.moment_format import MONTHS
from understudy.domain.formats.number_format import PAIRS

ABSTAINS = "missing"  # the vote of a cell that may be in more than one form
COMPACT = "%Y%m%d"  # eight digits, which may as well be a whole number

# Dates as cells show them: the order of day and month where it shows, and whether numbers below ten have a zero.
_ORDERED = {"day": "%d{0}%m{0}", "month": "%m{0}%d{0}"}
_NAMED = (
    "%d-%b-%Y",
    "%d %b %Y",
    "%d-%b-%y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%b %Y",
    "%B %Y",
    "%b-%y",
    "%b-%Y",
)
_YEAR_FIRST = ("%Y/%m/%d", "%Y.%m.%d")
# Datetimes that the plain grammar reads as well, but would write otherwise, and how they look.
ISO = {
    "%Y-%m-%d %H:%M": r" \d\d:\d\d",
    "%Y-%m-%dT%H:%M": r"T\d\d:\d\d",
    "%Y-%m-%dT%H:%M:%S": r"T\d\d:\d\d:\d\d",
    "%Y-%m-%dT%H:%M:%SZ": r"T\d\d:\d\d:\d\dZ",
    "%Y-%m-%dT%H:%M:%S.%3f": r"T\d\d:\d\d:\d\d\.\d{3}",
    "%Y-%m-%dT%H:%M:%S.%3fZ": r"T\d\d:\d\d:\d\d\.\d{3}Z",
}
_ISO = {spec: re.compile(rf"\d{{4}}-\d\d-\d\d{clock}", re.ASCII) for spec, clock in ISO.items()}
_UTC = "%Y-%m-%d %H:%M:%S UTC"
_MONTHLY = {
    "%Y-%m": re.compile(r"(?:18|19|20|21)\d\d-(?:0[1-9]|1[0-2])"),
    "%m/%Y": re.compile(r"(?:0[1-9]|1[0-2])/(?:18|19|20|21)\d\d"),
}
_CASES: dict[str, Callable[[str], str]] = {"": str.title, "^": str.upper, "#": str.lower}
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I:%M %P", " %I:%M:%S %P")
# Periods of a year and clocks that look like nothing else.
_PLAIN = {
    "%G-W%V": re.compile(r"(?:18|19|20|21)\d\d-W(?:0[1-9]|[1-4]\d|5[0-3])"),
    "%YQ%q": re.compile(r"(?:18|19|20|21)\d\dQ[1-4]"),
    "%Y-Q%q": re.compile(r"(?:18|19|20|21)\d\d-Q[1-4]"),
    "Q%q %Y": re.compile(r"Q[1-4] (?:18|19|20|21)\d\d"),
    "%H:%M:%S.%3f": re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}"),
}
_HOURS = re.compile(r"(\d|[01]\d|2[0-3])h[0-5]\d", re.ASCII)
_PADDING = ("zeros", "no zeros")

_DIGIT = re.compile("[0-9]")
_DAY = re.compile(r"(\d{1,4})([/.-])(\d{1,2})\2(\d{4}|\d{1,2})", re.ASCII)
_CLOCK = re.compile(r"(\d\d?):([0-5]\d)(:[0-5]\d)?(?: ([AP]M|[ap]m))?", re.ASCII)
_NAME = re.compile(r"(?:(\d\d?)([ -]))?([A-Za-z]{3,9})([ -])(?:(\d\d?), )?(\d{4}|\d\d)", re.ASCII)
_MONTHS = {name[:length]: place + 1 for place, name in enumerate(MONTHS) for length in (3, len(name))}

# What stands before an amount, with and without a blank, and what stands after one.
_BEFORE = ("$", "£", "€", "₹", "¥", "R$", "Rs.", "USD", "EUR", "GBP", "CHF", "INR")
_AFTER = ("€", "%", "kr", "zł", "円", "USD", "EUR", "CHF", "SEK")
MONEY = {*_BEFORE, *_AFTER} - {"%"}
AFFIXES = (
    ("", ""),
    *((sign + blank, "") for sign in _BEFORE for blank in ("", " ")),
    *(("", blank + sign) for sign in _AFTER for blank in ("", " ")),
)
# Units after a number, with and without a blank.
_SIZES = "kg g mg µg mcg t lb lbs oz st km m cm mm mi miles ft in l L ml mL dl m² km² sqm ha sqft acres m³"
_PHYSICS = "° °C °F C F K V mV A mA W kW kWh MW MWh Hz kHz MHz GHz Pa hPa kPa bar psi mbar N S E dB"
_TIME = "ms s sec secs seconds min mins minutes h hr hrs hours d days wks weeks months mo y yr yrs years Jahre ans"
_MEDICINE = "mmHg bpm mg/dL mg/dl mmol/L mmol/l g/dL g/dl U/L IU IU/L kcal kJ cal"
_COUNTS = "ppm km/h kmh mph m/s B KB kB MB GB TB Mbps kt rpm k M bn mn Mio x pts pcs Stk units"
UNITS = " ".join((_SIZES, _PHYSICS, _TIME, _MEDICINE, _COUNTS)).split()
FEW = "few ,"  # of up to five digits: a comma before the last three says nothing of those before
_STYLES = {",": ".", ".": ",", " ": ",", "'": ".", PAIRS: "."}  # what separates thousands -> the decimal mark
_THIN = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-"})
_NUMBER = re.compile(
    rf"\(?[-+]?(?P<before>(?:{'|'.join(map(re.escape, _BEFORE))}) ?)?-?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ ']\d{3})+|\d+)"
    rf"(?:(?P<mark>[.,])(?P<fraction>\d+))?(?P<after> ?(?:{'|'.join(map(re.escape, _AFTER))}))?-?\)?",
    re.ASCII,
)
_UNIT = re.compile(
    r"[-+]?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:(?P<mark>[.,])(?P<fraction>\d+))?"
    r"(?P<after> ?[^\s\d.,()+-][^\s\d.,()+-]*)",
    re.ASCII,
)


def _padded(spec: str, padding: str) -> tuple[str, ...]:
    """The formats of a day or time whose numbers below ten have a zero, or have none, or do not show it."""
    bare = re.sub("%([dmHI])", r"%-\1", spec)
    return {"zeros": (spec,), "no zeros": (bare,)}.get(padding, tuple(dict.fromkeys((spec, bare))))


def _number_specs(affix: tuple[str, str], group: str, mark: str, decimals: int) -> Iterator[str]:
    """The formats of a number as a cell may show it. `group`: what separates thousands, "short" where it has none,
    "long" where it would have to be there; `mark`: the decimal mark, if it shows; three decimals stand for more.
    """
    tails = ["", "50"[:decimals], "##", "######"]
    fits = [tails[0] if decimals == 0 else tails[1] if decimals < 3 else tails[3], *tails[2:]]
    for tail in dict.fromkeys(fits if decimals < 3 else [tails[3]]):
        for point in dict.fromkeys(_STYLES.values()):
            if mark in ("", point) and group in ("short", "long"):
                yield f"{affix[0]}0{point if tail else ''}{tail}{affix[1]}"
        for between, point in _STYLES.items():
            shown = group in ("short", between) or (group == FEW and between in (",", PAIRS))
            if shown and mark in ("", point):
                whole = "1.234.567" if between == "." and not tail else f"1{between}234"
                whole = "12,34,567" if between == PAIRS else whole
                yield f"{affix[0]}{whole}{point if tail else ''}{tail}{affix[1]}"


def _moment_forms() -> Iterator[tuple[str, tuple[str, ...]]]:
    orders = {"day": ["day"], "month": ["month"], "either": ["day", "month"]}
    for (order, firsts), separator in product(orders.items(), "/.-"):
        for tail, padding in product(("%y", *(f"%Y{clock}" for clock in _CLOCKS)), (*_PADDING, "either")):
            specs = (_ORDERED[first].format(separator) + tail for first in firsts)
            yield (
                f"{order} first{separator}{tail} {padding}",
                tuple(s for spec in specs for s in _padded(spec, padding)),
            )
    named = (re.sub("%([bB])", rf"%{case}\1", spec) for spec in _NAMED for case in _CASES)
    rest = (
        *(day + clock for day in (*_YEAR_FIRST, *named) for clock in _CLOCKS),
        *(c[1:] for c in _CLOCKS[1:]),
        "%Hh%M",
    )
    for spec, padding in product(rest, (*_PADDING, "either")):
        yield f"{spec} {padding}", _padded(spec, padding)
    for spec in (COMPACT, *_MONTHLY, *_PLAIN, *ISO, _UTC):
        yield spec, (spec,)


def _number_forms() -> Iterator[tuple[str, tuple[str, ...]]]:
    for affix, group, mark in product(AFFIXES, (*_STYLES, FEW, "short", "long"), ("", ".", ",")):
        for decimals in range(1, 4) if mark else (0,):
            specs = tuple(dict.fromkeys(_number_specs(affix, group, mark, decimals)))
            plain = affix == ("", "") and group in ("short", "long") and mark in ("", ".")
            if specs and mark != group and not plain:
                yield f"number {affix[0]}|{affix[1]} {group} {mark} {decimals}", specs
    sizes = {"short": ("long", ","), "long": ("long",), ",": (",",)}
    for unit, blank, (size, groups), mark in product(UNITS, ("", " "), sizes.items(), ("", ".", ",")):
        for decimals in range(1, 4) if mark else (0,):
            found = (_number_specs(("", blank + unit), group, mark, decimals) for group in groups)
            specs = tuple(dict.fromkeys(spec for some in found for spec in some))
            if specs and mark != size:
                yield f"unit {blank}{unit} {size} {mark} {decimals}", specs


# Thousands of forms, listed when a cell is first asked about: most tables have a schema that says their types.
@cache
def moment_forms() -> dict[str, tuple[str, ...]]:
    """The name of each form of a date or time -> the formats that may be meant."""
    return dict(_moment_forms())


@cache
def number_forms() -> dict[str, tuple[str, ...]]:
    """The name of each form of a number -> the formats that may be meant."""
    return dict(_number_forms())


def form_of(text: str) -> str | None:
    """The form that a text without blanks around it is written in, if it is one of those listed."""
    if len(text) > 40 or _DIGIT.search(text) is None:
        return None
    return _moment_form(text) or _number_form(text) or _unit_form(text)


def iso_form(text: str) -> str | None:
    """The form of `ISO` that a datetime in the plain grammar is written in, if it is one of them."""
    if text.startswith("0000"):  # no year of a format
        return None
    return next((spec for spec, pattern in _ISO.items() if pattern.fullmatch(text)), None)


def _moment_form(text: str) -> str | None:
    if len(text) == 8 and text.isascii() and text.isdigit() and text[:2] in ("19", "20"):
        return COMPACT if _exists(int(text[:4]), int(text[4:6]), int(text[6:])) else None
    for spec, pattern in (_MONTHLY | _PLAIN).items():
        if pattern.fullmatch(text) and (spec != "%G-W%V" or _has_week(int(text[:4]), int(text[6:]))):
            return spec
    if (hours := _HOURS.fullmatch(text)) is not None:
        return f"%Hh%M {_padding([hours[1]])}"
    if text.endswith(" UTC"):
        return (
            _UTC if len(text) == 23 and text[:4] != "0000" and grammar.moment(text[:-4]) is not None else None
        )
    clock = _CLOCK.search(text)
    if clock is None or clock.end() != len(text):
        return _day_form(text, "", [])
    hour, half, start = int(clock[1]), clock[4], clock.start()
    if (start and text[start - 1] != " ") or not (hour < 24 if half is None else 1 <= hour <= 12):
        return None
    mark = "" if half is None else " %p" if half.isupper() else " %P"
    shown = f" {'%I' if half else '%H'}:%M{':%S' if clock[3] else ''}{mark}"
    return _day_form(text[: start - 1], shown, [clock[1]]) if start else f"{shown[1:]} {_padding([clock[1]])}"


def _padding(numbers: list[str]) -> str:
    """Whether numbers below ten have a zero; "either" where there are none."""
    small = [number for number in numbers if number[0] == "0" or len(number) == 1]
    if not small:
        return "either"
    return "zeros" if any(len(number) == 2 for number in small) else "no zeros"


def _day_form(text: str, clock: str, numbers: list[str]) -> str | None:
    """The form of a date; `numbers` are others that may show how those below ten are written."""
    found = _DAY.fullmatch(text)
    if found is None:
        return _named_form(text, clock, numbers)
    first, separator, second, last = found.groups()
    if len(first) == 4:
        name = f"%Y{separator}%m{separator}%d{clock} {_padding([second, last, *numbers])}"
        return name if name in moment_forms() and _exists(int(first), int(second), int(last)) else None
    year = int(last) if len(last) == 4 else 2000  # a leap year: which one it is depends on the format
    days = {"day": (first, second), "month": (second, first)}
    orders = [order for order, (day, month) in days.items() if _exists(year, int(month), int(day))]
    order = orders[0] if len(orders) == 1 else "either" if orders else "no"
    tail = ("%Y" if len(last) == 4 else "%y") + clock
    name = f"{order} first{separator}{tail} {_padding([first, second, *numbers])}"
    return name if name in moment_forms() and len(first) <= 2 and len(last) > 1 else None


def _named_form(text: str, clock: str, numbers: list[str]) -> str | None:
    found = _NAME.fullmatch(text)
    case = (
        None
        if found is None
        else next((mark for mark, to in _CASES.items() if to(found[3]) == found[3]), None)
    )
    if found is None or case is None or found[3].title() not in _MONTHS:
        return None
    day, last = found[1] or found[5], "%Y" if len(found[6]) == 4 else "%y"
    if found[3].title() == "May":
        return ABSTAINS  # short or long: the other months tell
    month = f"%{case}{'b' if len(found[3]) == 3 else 'B'}"
    spec = f"%d{found[2]}" * bool(found[1]) + month + found[4] + "%d, " * bool(found[5]) + last + clock
    name = f"{spec} {_padding([*([day] if day else []), *numbers])}"
    year = int(found[6]) if last == "%Y" else 2000
    return (
        name if name in moment_forms() and _exists(year, _MONTHS[found[3].title()], int(day or 1)) else None
    )


def _has_week(year: int, week: int) -> bool:
    return week <= date(year, 12, 28).isocalendar().week


def _exists(year: int, month: int, day: int) -> bool:
    """Whether there is such a day, in a plausible year."""
    try:
        return 1800 <= date(year, month, day).year <= 2199
    except ValueError:
        return False


def _unit_form(text: str) -> str | None:
    found = _UNIT.fullmatch(text.translate(_THIN))
    if found is None:
        return None
    whole, mark, fraction = found["whole"], found["mark"] or "", found["fraction"] or ""
    size = "," if "," in whole else "long" if len(whole) > 3 else "short"
    name = f"unit {found['after']} {size} {mark} {min(3, len(fraction))}"
    return name if name in number_forms() else None


def _number_form(text: str) -> str | None:
    found = _NUMBER.fullmatch(text.translate(_THIN))
    if found is None or text.startswith("(") != text.endswith(")"):
        return None
    whole, mark, fraction = found["whole"], found["mark"] or "", found["fraction"] or ""
    before, after = found["before"] or "", found["after"] or ""
    group = next((char for char in whole if not char.isdigit()), "")
    if group == ",":
        group = PAIRS if re.search(r",\d\d,", whole) else FEW if len(whole) < 7 else ","
    if group and not mark and (whole[0] == "0" or (group == "." and "€" not in before + after)):
        group = group[-1]
        head, _, tail = whole.partition(group)  # 0,125 and $1.234 have decimals; 1,234 has thousands
        if not tail.isdigit() or group in " '":
            return None
        whole, mark, fraction, group = head, group, tail, ""
    group = group or ("short" if len(whole) < 4 else "long")
    name = f"number {before}|{after} {group} {mark} {min(3, len(fraction))}"
    return name if name in number_forms() else None
