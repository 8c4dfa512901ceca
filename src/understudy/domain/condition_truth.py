"""What a condition says of records, and of codes: true, false, or unknown where a cell is missing.

One evaluation serves both. A record's cell is a single value; a code stands for a span of values, so that a
condition may be true of some records with that code and false of others. Logic is that of SQL: a comparison with a
missing cell is unknown, `not` unknown is unknown, `and` and `or` are unknown where the rest does not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.arrow_values import plain
from understudy.domain.cell_text import text_of
from understudy.domain.columns.category import OTHER
from understudy.domain.columns.column import Column
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.time import clock_times, time_of_day
from understudy.domain.conditions import (
    And,
    Compares,
    Condition,
    IsMissing,
    Leaf,
    Membership,
    Not,
    Operator,
    Or,
    Reference,
    Value,
    columns_of,
    leaves,
    value_text,
)
from understudy.errors import ParameterError

Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Ids = dict[str, int]  # a number for each text that a comparison may meet
_ORDER = ("<", "<=", ">", ">=")


@dataclass(frozen=True, eq=False)
class Span:
    """For each record or code, the least and the greatest value it may hold, and whether it may hold one, or none."""

    low: Numbers
    high: Numbers
    present: Mask
    missing: Mask


@dataclass(frozen=True, eq=False)
class Truth:
    """For each record or code, whether a condition may be true, may be false, and may be unknown."""

    true: Mask
    false: Mask
    unknown: Mask

    def __and__(self, other: Truth) -> Truth:
        open_self, open_other = (
            self.unknown & ~_only(other.false, other),
            other.unknown & ~_only(self.false, self),
        )
        return Truth(self.true & other.true, self.false | other.false, open_self | open_other)

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)

    def __invert__(self) -> Truth:
        return Truth(self.false, self.true, self.unknown)


def _only(mask: Mask, truth: Truth) -> Mask:
    """Where the mask holds and the condition can have no other truth value."""
    found: Mask = mask & ((truth.true.astype(np.int8) + truth.false + truth.unknown) == 1)
    return found


class Asked(Protocol):
    """Something that a condition can be asked of."""

    columns: Mapping[str, Column]

    def span(self, name: str, ids: Ids) -> Span:
        """What the column may hold, texts as the numbers that `ids` gives them."""
        ...


# --- how values are compared ---------------------------------------------------------------------------------


def _truths(array: pa.Array) -> tuple[Numbers, Mask | None]:
    return arrays.by_text(array, _truth)


def _truth(text: str) -> int | None:
    found = grammar.truth(text)
    return None if found is None else int(found)


def _numbers(array: pa.Array) -> tuple[Numbers, Mask | None]:
    if pa.types.is_integer(array.type):
        return arrays.integers(array)
    found = arrays.floats(array)
    return found, np.isnan(found)


# By what a column is compared as (`Column.compared_as`): what a text in a condition means, and each cell of a column.
_MEANINGS: dict[str, Callable[[str], float | int | None]] = {
    "number": grammar.number,
    "moment": grammar.moment,
    "time": time_of_day,
    "boolean": _truth,
}
_READINGS: dict[str, Callable[[pa.Array], tuple[Numbers, Mask | None]]] = {
    "number": _numbers,
    "moment": arrays.moments,
    "time": clock_times,
    "boolean": _truths,
}
_SHOWN = {
    "number": "a number",
    "moment": "an ISO date such as '2026-12-31', or with a time '2026-12-31 08:30'",
    "time": "a time such as '08:30'",
    "boolean": "true or false",
}


def meaning(column: Column, value: Value, ids: Ids) -> float | int | None:
    """The number by which a value of a condition is compared; None where the column can hold no such value."""
    if column.compared_as == "text":
        return ids.setdefault(text_of(value), len(ids))
    if column.compared_as == "number" and isinstance(value, int | float):
        return value
    return _MEANINGS[column.compared_as](column.plain_text(text_of(value)))


class RecordValues:
    """The records of a table of values, in the types in which codecs give them."""

    def __init__(self, columns: Mapping[str, Column], table: pa.Table) -> None:
        self.columns = columns
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def span(self, name: str, ids: Ids) -> Span:
        column, array = self.columns[name], plain(self._table.column(name))
        if column.compared_as == "text":
            values: Numbers = arrays.by_distinct(
                array, lambda value: ids.setdefault(text_of(value), len(ids)), -1, np.int64
            )
            missing = values < 0
        else:
            values, unread = _READINGS[column.compared_as](column.plain_values(array))
            missing = np.zeros(len(values), np.bool_) if unread is None else unread
        return Span(values, values, ~missing, missing)


class CodeCells:
    """The cells of a marginal over some columns: axis i is that of the codes of the i-th."""

    def __init__(self, columns: Mapping[str, Column], clique: Sequence[str]) -> None:
        self.columns = columns
        self.clique = tuple(clique)
        self.shape = tuple(columns[name].size for name in clique)

    def span(self, name: str, ids: Ids) -> Span:
        column = self.columns[name]
        if isinstance(column, Difference) and column.after in self.clique:
            return self._after(name, column)
        low, high = np.full(column.size, -np.inf), np.full(column.size, np.inf)
        missing = np.zeros(column.size, np.bool_)
        missing[column.count :] = True
        if column.compared_as == "text" and column.words is not None:
            words = [*column.words, *([OTHER] if column.other_code is not None else [])]
            low[: len(words)] = high[: len(words)] = [ids.setdefault(word, len(ids)) for word in words]
            missing[: len(words)] = [word == "" for word in words]  # the value of a column that has none
        elif (known := column.spans()) is not None:
            low, high = (np.append(end, np.zeros(column.size - column.count, end.dtype)) for end in known)
        return Span(*(self._along(part, name) for part in (low, high, ~missing, missing)))

    def _along(self, part: Numbers, *names: str) -> Numbers:
        """An array over the codes of some columns, as cells have them."""
        order = sorted(range(len(names)), key=lambda axis: self.clique.index(names[axis]))
        shape = [size if name in names else 1 for name, size in zip(self.clique, self.shape, strict=True)]
        return part.transpose(order).reshape(shape)

    def _after(self, name: str, column: Difference) -> Span:
        """What a column that is coded by its difference from another may hold beside each code of that one."""
        low, high = column.spans_after(self.columns[column.after])
        missing = np.zeros(low.shape, np.bool_)
        missing[:, column.count :] = True
        parts = (low, high, ~missing, missing)
        return Span(*(self._along(part, column.after, name) for part in parts))


# --- asking --------------------------------------------------------------------------------------------------


def truth(condition: Condition, view: Asked) -> Truth:
    """What a condition, once checked, says of every record or code of a view."""
    if isinstance(condition, And | Or):
        found = truth(condition.parts[0], view)
        for part in condition.parts[1:]:
            other = truth(part, view)
            found = found & other if isinstance(condition, And) else found | other
        return found
    return ~truth(condition.part, view) if isinstance(condition, Not) else _leaf_truth(condition, view)


def _leaf_truth(leaf: Leaf, view: Asked) -> Truth:
    column = view.columns[leaf.column]
    ids: Ids = {word: place for place, word in enumerate(column.words or ())}
    listed = len(ids)
    span = view.span(leaf.column, ids)
    if isinstance(leaf, IsMissing):
        return Truth(span.missing, span.present, np.zeros_like(span.missing))
    if isinstance(leaf, Membership):
        meant = [number for value in leaf.values if (number := meaning(column, value, ids)) is not None]
        if span.low is span.high:  # one value each: all are looked up at once
            inside = np.isin(span.low, meant) & span.present
            return Truth(inside, span.present & ~inside, span.missing)
        found = Truth(np.zeros_like(span.present), span.present, span.missing)
        for number in meant:
            found = found | compare(span, "=", _single(number))
        return found
    if isinstance(leaf.value, Reference):
        other = view.span(leaf.value.column, ids)
    else:
        other = _single(meaning(column, leaf.value, ids))
    if column.compared_as == "text" and leaf.operator in _ORDER:  # a text that is not listed has no place
        span, other = _ranked(span, listed), _ranked(other, listed)
    return compare(span, leaf.operator, other)


def _single(value: float | int | None) -> Span:
    held = np.array(value is not None)
    number = np.array(0 if value is None else value)
    return Span(number, number, held, ~held)


def _ranked(span: Span, listed: int) -> Span:
    apart = span.high >= listed
    return Span(span.low, span.high, span.present & ~apart, span.missing | apart)


def compare(left: Span, operator: Operator, right: Span) -> Truth:
    """What a comparison says of two spans."""
    if operator in (">", ">="):
        return compare(right, "<" if operator == ">" else "<=", left)
    if operator == "!=":
        return ~compare(left, "=", right)
    present, missing = left.present & right.present, left.missing | right.missing
    if operator == "=":
        may = (left.low <= right.high) & (right.low <= left.high)
        may_not = (left.low < right.high) | (right.low < left.high)
        may_not |= (left.low > right.high) | (right.low > left.high)
    elif operator == "<":
        may, may_not = left.low < right.high, left.high >= right.low
    else:
        may, may_not = left.low <= right.high, left.high > right.low
    return Truth(may & present, may_not & present, missing)


# --- checking ------------------------------------------------------------------------------------------------


def check(condition: Condition, columns: Mapping[str, Column]) -> None:
    """Refuse (ParameterError) a condition that names a column that is not there, or compares what cannot be."""
    for name in columns_of(condition):
        if name not in columns:
            folded = {known.casefold(): known for known in columns}
            near = get_close_matches(name.casefold(), list(folded), n=1)
            close = [folded[found] for found in near]
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ParameterError(
                f"condition: column {name!r} is not known.",
                hint=f"{hint}texts stand in 'single quotes'." if hint else "texts stand in 'single quotes'.",
            )
        if not columns[name].modelled:
            raise ParameterError(
                f"condition: column {name!r} is made up, and has nothing to do with the others.",
                hint="leave it out of the condition.",
            )
        if columns[name].compared_as not in (*_READINGS, "text"):
            raise ParameterError(
                f"condition: column {name!r} is {columns[name].type}, and cannot be compared.",
                hint="say its type in the schema.",
            )
    for leaf in leaves(condition):
        if isinstance(leaf, Compares) and isinstance(leaf.value, Reference):
            _check_pair(leaf, columns[leaf.column], columns[leaf.value.column])
        elif not isinstance(leaf, IsMissing):
            values = leaf.values if isinstance(leaf, Membership) else (leaf.value,)
            for value in values:
                assert not isinstance(value, Reference)
                _check_value(leaf, columns[leaf.column], value)


def _check_value(leaf: Compares | Membership, column: Column, value: Value) -> None:
    kind = column.compared_as
    if kind != "text":
        if meaning(column, value, {}) is None:
            raise ParameterError(
                f"condition: column {leaf.column!r} cannot be compared with {value_text(value)}.",
                hint=f"write {_SHOWN[kind]}.",
            )
        return
    if isinstance(leaf, Compares) and leaf.operator in _ORDER and not column.ordered:
        raise ParameterError(
            f"condition: column {leaf.column!r} has no order, so {leaf.operator} has no meaning.",
            hint="use = or in, or list its values in order and write ordered = true.",
        )
    words = column.words
    text = text_of(value)
    if words is not None and text not in words and not (text == OTHER and column.other_code is not None):
        close = get_close_matches(text, words, n=1)
        raise ParameterError(
            f"condition: column {leaf.column!r} has no value {value_text(value)}.",
            hint=f"did you mean {value_text(close[0])}?" if close else "write one of its listed values.",
        )


def _check_pair(leaf: Compares, left: Column, right: Column) -> None:
    if left.compared_as != right.compared_as:
        raise ParameterError(
            f"condition: {leaf} compares {_kind(left)} with {_kind(right)}.",
            hint="compare numbers with numbers, dates with dates; texts stand in 'single quotes'.",
        )
    ranked = left.ordered and right.ordered and left.words is not None and left.words == right.words
    if left.compared_as == "text" and leaf.operator in _ORDER and not ranked:
        raise ParameterError(
            f"condition: {leaf} compares texts that have no order in common.",
            hint="use = or !=, or give both the same list of values and ordered = true.",
        )


def _kind(column: Column) -> str:
    return {"moment": "dates", "time": "times of day"}.get(column.compared_as, f"{column.compared_as}s")
