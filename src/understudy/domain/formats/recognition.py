"""The format that most cells of a column are written in: for drafts, which look at records.

A format is made up from each of some common texts; the one that reads most cells is taken, and of those that read as
many the one that writes most of them as they stand.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain.formats.cell_format import CellFormat
from understudy.domain.formats.moment_format import MONTHS, WEEKDAYS, MomentFormat
from understudy.domain.formats.number_format import BLANKS, PAIRS, NumberFormat

MOST_TEXTS = 2_000  # distinct texts that formats are tried on
MOST_MODELS = 40  # of them that formats are made up from
PLAUSIBLE = (1800, 2199)  # years of a date that is not written in the plain grammar

_CLOCK = re.compile(
    r"\d\d?(?P<colon>[:h])\d\d(?P<seconds>:\d\d)?(?P<fraction>[.,]\d{1,9})?(?P<blank>[ \u00a0\u202f]?)"
    r"(?P<half>[ap]\.?m\.?)?(?P<zone> ?(?:Z|UTC|GMT)|[+-]\d\d(?::?\d\d)?)?$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+|[\W_]+")
_MONTHS = {name[:length].lower() for name in MONTHS for length in (3, 4, len(name))}
_WEEKDAYS = {name[:length].lower() for name in WEEKDAYS for length in (3, len(name))}
_LITERALS = {"t", "at", "um", "of"}
# How a code may be written instead, where texts show it.
_VARIANTS = {
    "%d": ("%d", "%-d"),
    "%m": ("%m", "%-m"),
    "%H": ("%H", "%-H"),
    "%I": ("%I", "%-I"),
    "%p": ("%p", "%P"),
    "%b": ("%b", "%B", "%^b", "%^B", "%#b", "%#B"),
    "%a": ("%a", "%A", "%^a", "%^A", "%#a", "%#A"),
    "%f": ("%f", "%3f"),
}


@dataclass(frozen=True)
class Recognised:
    """A format, the share of the cells that it reads, and another that reads as many but means something else."""

    spec: str
    share: float
    instead: str = ""


@dataclass(frozen=True)
class TextsSeen:
    """Distinct texts and how often each occurs, the most frequent first."""

    texts: pa.Array
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str], counts: npt.NDArray[np.int64]) -> TextsSeen:
        order = np.argsort(-counts, kind="stable")[:MOST_TEXTS]
        trimmed = [texts[place].strip(" \t") for place in order.tolist()]
        return cls(pa.array(trimmed, pa.large_string()), counts[order])

    @property
    def models(self) -> list[str]:
        """Texts to make up formats from: frequent ones, and some of the others."""
        places = np.unique(np.linspace(0, len(self.texts), MOST_MODELS, endpoint=False).astype(np.int64))
        found: list[str] = self.texts.take(pa.array(places[: len(self.texts)])).to_pylist()
        return found

    def share(self, held: pa.Array) -> float:
        """How many of the cells hold one of the texts that are marked."""
        marked = np.asarray(pc.fill_null(held, False))
        return float(self.counts[marked].sum() / max(1, self.counts.sum()))

    def read_by(self, form: CellFormat) -> float:
        """The share of the cells that a format reads, as a plausible value."""
        values = form.read(self.texts)
        held = values.is_valid()
        if isinstance(form, MomentFormat) and form.dated:
            year = pc.year(values)
            held = pc.and_(pc.greater_equal(year, PLAUSIBLE[0]), pc.less_equal(year, PLAUSIBLE[1]))
        return self.share(held)

    def kept_by(self, form: CellFormat) -> float:
        """The share of the cells that a format reads and writes as they stand."""
        values = form.read(self.texts)
        if isinstance(form, NumberFormat):
            values = values.cast(pa.float64())
        return self.share(pc.equal(form.write(values).cast(pa.large_string()), self.texts))

    def as_shown(self, spec: str) -> str:
        """A format of moments with each of its codes as most texts show that part: with zeros, in capitals."""
        form, found = MomentFormat(spec), []
        for token in form.tokens:
            codes = _VARIANTS.get(token, (token,))
            shares = [self.share(held) for held in form.written_as(self.texts, codes)] if codes[1:] else [1.0]
            found.append(codes[shares.index(max(shares))])
        return "".join(found)


def moment_format(cells: TextsSeen, *, clock_only: bool = False) -> Recognised | None:
    """The format of dates, or of datetimes (or of times of day), that most cells are written in."""
    made = _clock_specs if clock_only else _specs
    specs = list(dict.fromkeys(spec for text in cells.models for spec in made(text)))
    shares = {spec: cells.read_by(MomentFormat(spec)) for spec in specs}
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or not shares[best]:
        return None
    equal = [spec for spec in specs if shares[spec] == shares[best] and _order(spec) == _order(best)]
    chosen = max((MomentFormat(cells.as_shown(spec)) for spec in equal), key=cells.kept_by)
    swapped = [{"day": "month", "month": "day"}.get(part, part) for part in _order(best)]
    others = (
        spec for spec in specs if shares[spec] == shares[best] and _order(spec) == swapped != _order(best)
    )
    return Recognised(chosen.spec, shares[best], next(others, ""))


def _order(spec: str) -> list[str]:
    """The parts of a moment in the order of a format."""
    return MomentFormat(spec).parts


# Weeks and quarters of a year, and clocks without a colon: how they look, and their formats.
_PERIODS = (
    (re.compile(r"\d{4}(-?)W\d\d", re.ASCII), "%G{}W%V"),
    (re.compile(r"\d{4}([ /-]?)Q[1-4]", re.ASCII), "%Y{}Q%q"),
    (re.compile(r"Q[1-4]([ /-]?)\d{4}", re.ASCII), "Q%q{}%Y"),
)
_HOURS = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d", re.ASCII)


def _specs(text: str) -> list[str]:
    """The formats that a text may be a date or datetime of, the likeliest first."""
    for form, spec in _PERIODS:
        if (found := form.fullmatch(text)) is not None:
            return [spec.format(found[1])]
    clock = _CLOCK.search(text)
    days = _day_specs(text[: clock.start()] if clock else text)
    return [day + tail for day in days for tail in (_clock_specs(text[clock.start() :]) if clock else [""])]


def _clock_specs(text: str) -> list[str]:
    """The formats that a text may be a time of day of."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return ["%H%M"] if _HOURS.fullmatch(text) else []
    seconds = ":%S" if found["seconds"] else ""
    fraction = f"{found['fraction'][0]}%f" if found["fraction"] else ""
    half, zone = "%p" if found["half"] else "", found["zone"] or ""
    clock = f"{'%I' if half else '%H'}{found['colon']}%M{seconds}{fraction}{found['blank']}{half}"
    # An offset that all cells have is kept as it stands, and the time as the clock showed it.
    return [clock + offset for offset in dict.fromkeys((zone, "%z" if zone[:1] in ("+", "-") else zone))]


def _day_specs(text: str) -> list[str]:
    """The formats that a text may be a date of."""
    found: list[str] = []
    open_places = []
    for token in _TOKEN.findall(text):
        word = token.lower()
        if token.isascii() and token.isdigit():
            if len(token) in (8, 14) and not found:
                return ["%Y%m%d" if len(token) == 8 else "%Y%m%d%H%M%S"] if text == token else []
            if len(token) not in (1, 2, 4):
                return []
            if len(token) != 4:
                open_places.append(len(found))
            found.append("%Y" if len(token) == 4 else "")
        elif word in _MONTHS:
            found.append("%b")
        elif word in _WEEKDAYS:
            found.append("%a")
        elif word in _LITERALS or not token[0].isalpha() or not token.isascii():
            found.append(token.replace("%", "%%"))
        else:
            return []
    known = {code for code in ("%Y", "%b") if code in found}
    filled = []
    for order in _ORDERS.get((len(open_places), *sorted(known)), ()):
        spec = list(found)
        for place, code in zip(open_places, order, strict=True):
            spec[place] = code
        codes = [code for code in spec if code in ("%Y", "%y", "%m", "%d", "%b")]
        if codes not in _UNLIKELY:
            filled.append("".join(spec))
    return filled


# By how many numbers of one or two digits a date has, and what else: the codes that these may be.
_ORDERS: dict[tuple[object, ...], tuple[tuple[str, ...], ...]] = {
    (3,): (("%d", "%m", "%y"), ("%m", "%d", "%y"), ("%y", "%m", "%d")),
    (2, "%Y"): (("%d", "%m"), ("%m", "%d")),
    (1, "%Y"): (("%m",),),
    (2, "%b"): (("%d", "%y"), ("%y", "%d")),
    (1, "%Y", "%b"): (("%d",),),
    (0, "%Y", "%b"): ((),),
    (1, "%b"): (("%y",),),
}
_UNLIKELY = (["%Y", "%d", "%m"], ["%y", "%b"])  # the latter is rather a day of no year


# --- numbers -------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\(?[-\u2212+]?(\D*?)[-\u2212+]?\d(?:.*\d)?(\D*?)[-\u2212]?\)?", re.DOTALL)
_STYLES = (
    *((",", "."), (".", ","), ("'", "."), ("\u2019", "."), (PAIRS, ".")),
    *((blank, mark) for blank in BLANKS for mark in ",."),
    *(("", ","), ("", ".")),
)
_CURRENCIES = {
    "Fr.",
    "kr",
    "kr.",
    "Rs",
    "Rs.",
    "%",
    "\u2030",
    "~",
    "\u2248",
}  # and whatever Unicode calls one


def number_format(cells: TextsSeen) -> Recognised | None:
    """The format of numbers that most cells are written in."""
    texts: list[str] = cells.texts.to_pylist()
    bodies = [_body(texts, group, mark) for group, mark in _STYLES if not group or _occurs(group, texts)]
    specs = []
    for before, after in _around(texts, cells.counts):
        sign, inside, close = _signs(texts, before)
        specs += [f"{sign}{before}{inside}{body}{after}{close}" for body in bodies]
    shares = {spec: cells.read_by(NumberFormat(spec)) for spec in specs}
    most = max(shares.values(), default=0.0)
    equal = [NumberFormat(spec) for spec in shares if shares[spec] == most]
    return Recognised(max(equal, key=cells.kept_by).spec, most) if most else None


def _around(texts: Iterable[str], counts: npt.NDArray[np.int64]) -> list[tuple[str, str]]:
    """What stands before and after the number in most cells."""
    found: dict[tuple[str, str], int] = {}
    for text, count in zip(texts, counts.tolist(), strict=True):
        if (parts := _NUMBER.fullmatch(text)) is not None:
            around = parts[1], parts[2]
            found[around] = found.get(around, 0) + count
    often = [around for around, count in found.items() if 2 * count > counts.sum()]
    return [(b, a) for b, a in often if _is_affix(b, first=True) and _is_affix(a, first=False)]


def _occurs(group: str, texts: Iterable[str]) -> bool:
    between = re.compile(r"\d,\d\d,\d" if group == PAIRS else rf"\d{re.escape(group)}\d")
    return any(between.search(text) is not None for text in texts)


def _signs(texts: Sequence[str], before: str) -> tuple[str, str, str]:
    """How negative numbers are written: what stands first, after what precedes a number, and last."""
    if sum(text.startswith("+") for text in texts) > sum(text[:1].isdigit() for text in texts):
        return "+", "", ""
    for text in texts:
        if text.startswith("("):
            return "(", "", ")"
        if text[:1] == "\u2212" or (before and text[:1] == "-"):
            return text[0], "", ""
        if before and text.startswith((f"{before}-", f"{before}\u2212")):
            return "", text[len(before)], ""
        if text[-1:] in ("-", "\u2212"):
            return "", "", text[-1]
    return "", "", ""


def _body(texts: Iterable[str], group: str, mark: str) -> str:
    """An example of the digits: with as many decimals as the texts have, those that not all have as `#`."""
    decimals = re.compile(rf"\d{re.escape(mark)}(\d+)\D*$")
    lengths = [len(found[1]) if (found := decimals.search(text)) else 0 for text in texts]
    fixed, most = min(lengths, default=0), min(6, max(lengths, default=0))
    whole = f"1{group}234" if group else "0" * _width(texts, mark)
    if group == PAIRS:
        whole = "12,34,567"
    if group == "." and not most:
        whole = "1.234.567"
    return whole + (mark + "50".ljust(fixed, "0")[:fixed] + "#" * (most - fixed) if most else "")


def _width(texts: Iterable[str], mark: str) -> int:
    """How many digits all numbers have, where some of them need zeros for it; else 1."""
    digits = [found[0] for text in texts if (found := re.search("[0-9]+", text.partition(mark)[0]))]
    widths = {len(number) for number in digits}
    return max(widths) if len(widths) == 1 and any(number[0] == "0" for number in digits) else 1


def _is_affix(text: str, *, first: bool) -> bool:
    """Whether a text is a sign of currency, a percent sign, or after a number a unit."""
    bare = text.strip(BLANKS)
    if not bare or bare in _CURRENCIES:
        return True
    if any(unicodedata.category(char) == "Sc" for char in bare):
        return len(bare) <= 4 and not any(char in "()+-" for char in bare)
    if first:
        return len(bare) == 3 and bare.isalpha() and bare.isupper() and text != bare
    letters = bare.strip("°/²³·\"'").replace("/", "")
    return len(bare) <= 8 and (letters.isalpha() or (not letters and len(bare) == 1))
