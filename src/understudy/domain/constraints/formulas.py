"""Columns worked out from others, as a person writes them: `total = a + b`, `age = years(born, 2026-01-01)`.

formula   terms with + and - between them; a term is a column, a number, or a number * a column
          years(from, to), days(from, to): whole ones that have passed between two dates, each a column or a date
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from understudy.domain import grammar
from understudy.domain.columns.column import Column
from understudy.domain.condition_truth import RecordValues
from understudy.domain.conditions import column_text
from understudy.errors import SchemaError

DAY = 86_400_000_000  # microseconds
MOST = 2.0**62  # a whole number further out has no place in 64 bits once it was rounded
_NAME = r'"(?:[^"]++|"")+"|[^\W\d][\w.]*'
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TERM = re.compile(
    rf"\s*(?P<sign>[+-])?\s*(?:(?P<factor>{_NUMBER})\s*\*\s*(?P<scaled>{_NAME})"
    rf"|(?P<name>{_NAME})(?:\s*\*\s*(?P<after>{_NUMBER}))?|(?P<constant>{_NUMBER}))\s*"
)
_ELAPSED = re.compile(r"\s*(years|days)\s*\(\s*(.+?)\s*,\s*(.+?)\s*\)\s*", re.IGNORECASE)
_EQUATION = re.compile(rf"\s*({_NAME})\s*={{1,2}}\s*(.+)", re.DOTALL)

Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Linear:
    """A sum of columns, each times a number, and a constant; exact in decimals."""

    terms: tuple[tuple[Decimal, str], ...]
    constant: Decimal = Decimal(0)

    def __str__(self) -> str:
        said = [(factor, column_text(name)) for factor, name in self.terms]
        parts = [(f < 0, name if abs(f) == 1 else f"{_plain(abs(f))} * {name}") for f, name in said]
        if self.constant or not parts:
            parts.append((self.constant < 0, _plain(abs(self.constant))))
        text = "".join(f" {'-' if minus else '+'} {part}" for minus, part in parts)
        return text.removeprefix(" + ").replace(" - ", "-", 1) if parts[0][0] else text.removeprefix(" + ")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.terms)

    def check(self, columns: Mapping[str, Column]) -> None:
        """Refuse terms that are no numbers."""
        for name in self.columns:
            if columns[name].compared_as != "number":
                raise SchemaError(
                    f"{column_text(name)} is {columns[name].type}, not a number.",
                    hint="add up numbers; between dates, write days(from, to) or years(from, to).",
                )

    def decimals(self, columns: Mapping[str, Column]) -> int | None:
        """The decimals that the sum has at most; None where those of a column are not known."""
        most = _decimals(self.constant)
        for factor, name in self.terms:
            own = columns[name].decimals
            if own is None:
                return None
            most = max(most, _decimals(factor) + own)
        return most

    def value(self, view: RecordValues) -> tuple[Numbers, Mask]:
        """The sum for every record, and where a term is missing."""
        spans = [view.span(name, {}) for name in self.columns]
        missing = (
            np.logical_or.reduce([span.missing for span in spans]) if spans else np.zeros(len(view), bool)
        )
        whole = all(span.low.dtype.kind in "iu" for span in spans)
        if whole and _decimals(self.constant) == 0 and all(_decimals(f) == 0 for f, _ in self.terms):
            rough = sum(
                (float(f) * s.low.astype(float) for (f, _), s in zip(self.terms, spans, strict=True)), 0.0
            )
            near = np.abs(rough + float(self.constant)) < MOST
            exact = sum(
                (int(f) * np.where(near, s.low, 0) for (f, _), s in zip(self.terms, spans, strict=True)),
                np.full(len(view), int(self.constant)),
            )
            return exact, missing | ~near
        total = np.full(len(view), float(self.constant))
        for (factor, _), span in zip(self.terms, spans, strict=True):
            total = total + float(factor) * span.low
        decimals = self.decimals(view.columns)
        return (total if decimals is None else np.round(total, decimals)), missing


@dataclass(frozen=True)
class Elapsed:
    """Whole years or days from one date to another; each is a column's, or a public one in ISO form."""

    unit: Literal["years", "days"]
    start: str
    end: str
    fixed: tuple[bool, bool] = (False, False)  # which of the two are dates, and not columns

    def __str__(self) -> str:
        ends = zip((self.start, self.end), self.fixed, strict=True)
        start, end = (f"'{text}'" if date else column_text(text) for text, date in ends)
        return f"{self.unit}({start}, {end})"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(n for n, date in zip((self.start, self.end), self.fixed, strict=True) if not date)

    def check(self, columns: Mapping[str, Column]) -> None:
        """Refuse what has no days."""
        for name in self.columns:
            if columns[name].compared_as != "moment":
                raise SchemaError(
                    f"{column_text(name)} is {columns[name].type}, and has no days.", hint="give two dates."
                )

    def decimals(self, columns: Mapping[str, Column]) -> int | None:
        return 0

    def value(self, view: RecordValues) -> tuple[Numbers, Mask]:
        """The whole years or days of every record, and where a date is missing."""
        missing = np.zeros(len(view), np.bool_)
        ends = []
        for text, date in zip((self.start, self.end), self.fixed, strict=True):
            if date:
                ends.append(np.full(len(view), grammar.moment(text) or 0) // DAY)
            else:
                span = view.span(text, {})
                missing = missing | span.missing
                ends.append(np.where(span.missing, 0, span.low) // DAY)
        start, end = ends
        if self.unit == "days":
            return end - start, missing
        (first, from_day), (last, to_day) = _year_and_day(start), _year_and_day(end)
        return last - first - (to_day < from_day), missing


Formula = Linear | Elapsed


def parse_equation(text: str) -> tuple[str, Formula]:
    """The column and the formula of `column = formula`; anything else is refused."""
    found = _EQUATION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise SchemaError(f"{_shown(text)} is no equation.", hint="write for example: total = net + tax.")
    return _unquoted(found[1]), _formula(found[2], text)


def _formula(text: str, whole: str) -> Formula:
    elapsed = _ELAPSED.fullmatch(text)
    if elapsed is not None:
        unit: Literal["years", "days"] = "years" if elapsed[1].lower() == "years" else "days"
        start, end = (_end(said, whole) for said in elapsed.groups()[1:])
        if start[1] and end[1]:
            raise SchemaError(f"{_shown(whole)} names no column.", hint="one of the dates is a column's.")
        return Elapsed(unit, start[0], end[0], (start[1], end[1]))
    terms: dict[str, Decimal] = {}
    constant, place = Decimal(0), 0
    while place < len(text):
        found = _TERM.match(text, place)
        if found is None or found.end() == place or (place and not found["sign"]):
            raise SchemaError(
                f"{_shown(whole)} cannot be read from {text[place:].strip()[:20]!r} on.",
                hint="columns and numbers with + and - between them, or years(from, to), days(from, to).",
            )
        sign = -1 if found["sign"] == "-" else 1
        name = found["scaled"] or found["name"]
        factor = Decimal(found["factor"] or found["after"] or found["constant"] or "1") * sign
        if name is None:
            constant += factor
        else:
            terms[_unquoted(name)] = terms.get(_unquoted(name), Decimal(0)) + factor
        place = found.end()
    if not terms:
        raise SchemaError(f"{_shown(whole)} names no column to work it out from.", hint="name one at least.")
    return Linear(tuple((factor, name) for name, factor in terms.items()), constant)


def _end(said: str, whole: str) -> tuple[str, bool]:
    """One end of a stretch of time: a column's name, or a date and that it is one."""
    bare = said[1:-1] if re.fullmatch(r"'[^']*'", said) else said
    if re.match(r"\d|'", said):
        if grammar.moment(bare) is None:
            raise SchemaError(f"{_shown(whole)}: {bare!r} is no date.", hint="write it as 2026-12-31.")
        return bare, True
    if not re.fullmatch(_NAME, said):
        raise SchemaError(
            f"{_shown(whole)}: {said!r} is neither a column nor a date.", hint="years(born, 2026-12-31)"
        )
    return _unquoted(said), False


def _year_and_day(days: Numbers) -> tuple[Numbers, Numbers]:
    """The year of each day since 1970, and the month and day as one number."""
    dates = days.astype("datetime64[D]")
    years, months = dates.astype("datetime64[Y]"), dates.astype("datetime64[M]")
    in_month = (dates - months).astype(np.int64)
    return years.astype(np.int64), (months - years).astype(np.int64) * 32 + in_month


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _decimals(number: Decimal) -> int:
    return max(0, -int(number.normalize().as_tuple().exponent))


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _shown(text: object) -> str:
    shown = repr(text)
    return shown if len(shown) < 100 else shown[:97] + "..."
