"""What stands on the right of a regression: columns of numbers, and indicators of values, by the codes of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Column, Domain, Schema
from understudy.domain.columns.differences.difference import Difference
from understudy.errors import ParameterError, SizeError
from understudy.pipeline.accuracy.worst_case import Floats
from understudy.transforms.compress import Compression

MOST_TERMS = 50
# Where between -1 and 1, the ends of a column's range, its zero may be put: near an end where most records are there.
CENTRES = (-7 / 8, 0.0, 7 / 8)
On = str | tuple[str, str]


@dataclass(frozen=True, eq=False)
class Term:
    """A number of each record, by its code in one column; shifted and scaled, so that it lies about -1 to 1.

    Attributes:
        name: what it is called in an answer.
        column: the column.
        low: the least that it is in each code; NaN where a code stands for no value.
        high: the greatest.
        centre: what number is 0 in `low` and `high`.
        scale: what is 1.
        choices: how many terms of the column might have been chosen, by what the model says.
    """

    name: str
    column: str
    low: Floats
    high: Floats
    centre: float = 0.0
    scale: float = 1.0
    choices: int = 1

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Which codes stand for a value."""
        return ~np.isnan(self.low)


@dataclass(frozen=True, eq=False)
class TermsOfColumns:
    """Terms by the names that a person gives; `expected` has what the model expects in each code of a column."""

    schema: Schema
    domain: Domain
    compression: Compression
    expected: Callable[[str], Floats]

    def of(self, on: Sequence[On]) -> tuple[list[Term], dict[str, str]]:
        """The terms, and of each column that has an indicator for each value but one, that value."""
        terms: list[Term] = []
        left: dict[str, str] = {}
        for named in on:
            if isinstance(named, str):
                found, out = self._of_column(named)
                left |= out
            else:
                found = [self._of_value(named)]
            terms += found
            if len(terms) > MOST_TERMS:
                raise SizeError(
                    f"regress: more than {MOST_TERMS} terms.",
                    hint='name the values that matter, as in on=[("town", "Ely")].',
                )
        if not terms or len({term.name for term in terms}) < len(terms):
            raise ParameterError(
                "on names no column, or the same twice.",
                hint='give columns, or a column and a value: on=["age", ("sex", "F")].',
            )
        return terms, left

    def number(self, name: str) -> Term:
        """A column of numbers."""
        column = self._column(name)
        spans = column.spans() if column.compared_as == "number" else None
        if spans is None:
            raise ParameterError(
                f"column {name!r} holds no numbers.",
                hint=f'give another, or stand it on the right: on=["{name}"], or on=[("{name}", value)].',
            )
        low, high = (np.append(end, np.full(column.size - len(end), np.nan)).astype(float) for end in spans)
        never = np.setdiff1d(np.arange(column.size), self.compression.possible(name))
        missing = np.isnan(low)
        missing[never] = False
        if missing.any():
            raise ParameterError(
                f"column {name!r} has records without a number, and pairs of columns do not tell which other values "
                "those have.",
                hint=f'leave it out, or take an indicator of one of its values: on=[("{name}", value)].',
            )
        low[never] = high[never] = np.nan
        begin, end = float(np.nanmin(low)), float(np.nanmax(high))
        if not np.isfinite(end - begin):
            raise ParameterError(f"column {name!r} has no finite range.", hint="give it min and max.")
        half = (end - begin) / 2 or 1.0
        mass = np.where(np.isnan(low), 0.0, np.maximum(self.expected(name), 0.0))
        mean = float(mass @ np.nan_to_num((low + high) / 2)) / max(float(mass.sum()), 1e-300)
        middle = (begin + end) / 2
        # One of few, since the noise of a sum is known for sums that were chosen without looking at it.
        centre = middle + half * min(CENTRES, key=lambda place: abs(place - (mean - middle) / half))
        return Term(name, name, (low - centre) / half, (high - centre) / half, centre, half, len(CENTRES))

    def _of_column(self, name: str) -> tuple[list[Term], dict[str, str]]:
        column = self._column(name)
        if column.compared_as == "number" and column.spans() is not None:
            return [self.number(name)], {}
        codes = np.sort(self.compression.possible(name))
        if len(codes) - 1 > MOST_TERMS:
            raise SizeError(
                f"column {name!r} has {len(codes):,} values: an indicator each is more than {MOST_TERMS} terms.",
                hint=f'name the values that matter, as in on=[("{name}", value)].',
            )
        labels = column.labels()
        most = int(codes[np.argmax(self.expected(name)[codes])])
        terms = [self._indicator(name, code, len(codes)) for code in codes.tolist() if code != most]
        return terms, {name: labels[most]}

    def _of_value(self, named: tuple[str, str]) -> Term:
        name, value = named
        labels = self._column(name).labels()
        codes = {labels[code]: code for code in self.compression.possible(name).tolist()}
        if value not in codes:
            raise ParameterError(
                f"column {name!r} has no records with that value.",
                hint=f"one of {', '.join(list(codes)[:10])}.",
            )
        return self._indicator(name, codes[value], 1)

    def _indicator(self, name: str, code: int, choices: int) -> Term:
        column = self._column(name)
        found = np.full(column.size, np.nan)
        found[self.compression.possible(name)] = 0.0
        found[code] = 1.0
        return Term(f"{name} = {column.labels()[code]}", name, found, found, choices=choices)

    def _column(self, name: str) -> Column:
        if name not in self.domain:
            raise ParameterError(
                f"column {name!r} is not in the release, or is worked out or made up.",
                hint=f"one of {', '.join(self.domain)}.",
            )
        column = self.schema.columns[name]
        if isinstance(column, Difference):
            raise ParameterError(
                f"column {name!r} is modelled by how far it lies after another.", hint="use other columns."
            )
        return column
