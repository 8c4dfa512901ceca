"""Constraints held in the records: columns worked out, and records that break a rule drawn again until none does.

First the same codes are given other values: two dates in the same month come in order that way, as often as their
month allows. Then other codes are drawn. So what is kept has the distribution of what was drawn, given that it holds
the rules. Nothing here has seen a record of anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import Column, Schema
from understudy.domain.arrow_values import plain
from understudy.domain.codes import CodedColumns
from understudy.domain.condition_truth import Ids, RecordValues, meaning, truth
from understudy.domain.constraints import Derived, Determines, Rules
from understudy.errors import ParameterError

SAME_CODES = 8  # times that the same codes are given other values
FRESH = 24  # times that other codes are drawn, the later ones more at once
MOST_DRAWN = 200_000  # records at once
LEAST_DRAWN = 64
MOST_TRIES = 1_000  # times that partial records are completed, fewer where there are many
GIVEN_RECORDS = 1_000_000

ROUNDING = 1e-9  # of a number that was worked out in floats
PROBES = (1 / 3, 0.123456789, 2 / 3)

Settle = Callable[[pa.Table], pa.Table]
Decode = Callable[[CodedColumns], pa.Table]
Redraw = Callable[[int], CodedColumns]
Mask = npt.NDArray[np.bool_]


def hold(
    schema: Schema, table: pa.Table, codes: CodedColumns, decode: Decode, redraw: Redraw, settle: Settle
) -> pa.Table:
    """The records of drawn codes, with others in place of those that do not hold every rule of the schema.

    `decode` gives codes values, other ones each time; `redraw` draws codes of so many records. `settle`
    takes off what the declared type of a column could not hold, so that what holds here holds in the end.

    Raises:
        ParameterError: none that holds them was drawn in a very long time.
    """
    if not schema.rules:
        return table
    made = _Made(table, schema, settle)
    for _ in range(SAME_CODES):
        if not len(made.left):
            break
        again = {name: np.asarray(column)[made.left] for name, column in codes.items()}
        made.take(decode(again), one_by_one=True)
    wanted = LEAST_DRAWN
    for _ in range(FRESH):
        if not len(made.left):
            break
        wanted = min(MOST_DRAWN, max(len(made.left), 2 * wanted))
        made.take(decode(redraw(wanted)))
    return made.table()


def hold_given(schema: Schema, table: pa.Table, again: Callable[[], pa.Table], settle: Settle) -> pa.Table:
    """Completed records that hold every rule; `again` completes all of them in another way.

    Raises:
        ParameterError: what was given of some leaves no way to complete them.
    """
    if not schema.rules:
        return table
    made = _Made(table, schema, settle, given=True)
    for _ in range(min(MOST_TRIES, max(FRESH, GIVEN_RECORDS // max(1, table.num_rows)))):
        if not len(made.left):
            break
        made.take(again().take(pa.array(made.left)), one_by_one=True)
    if len(made.left):
        raise ParameterError(
            f"given: {len(made.left)} records break a constraint, however they were completed.",
            hint="correct them, or leave more of their cells empty to be drawn.",
        )
    return made.table()


class _Made:
    """Records, and places that still wait for one that holds the rules."""

    def __init__(self, table: pa.Table, schema: Schema, settle: Settle, *, given: bool = False) -> None:
        self._schema, self._settle, self._given = schema, settle, given
        self._close = {
            rule: self._closeness(rule.computed) for rule in schema.rules if isinstance(rule, Derived)
        }
        table = self._worked_out(table)
        self._pieces, self._rows = [table], table.num_rows
        self._order = np.arange(table.num_rows)
        self.left: npt.NDArray[np.intp] = np.flatnonzero(self._broken(table))

    def _worked_out(self, table: pa.Table) -> pa.Table:
        return self._settle(worked_out(table, self._schema))

    def _broken(self, table: pa.Table) -> Mask:
        bad = broken(table, self._schema.rules, self._schema.columns, looked_up=not self._given)
        view = RecordValues(self._schema.columns, table)
        for rule, close in self._close.items():
            exact, _ = rule.equation[1].value(view)
            span = view.span(rule.computed, {})
            bad |= span.present & ~(np.abs(span.low - exact) <= close + ROUNDING * np.abs(exact))
        return bad

    def _closeness(self, name: str) -> float:
        """How far from a number the nearest may be that a column can show, in its format and its declared type."""
        column = self._schema.columns[name]
        if column.type == "integer":
            return 0.0
        table = self._settle(pa.table({name: column.written(pa.array(PROBES))}))
        span = RecordValues(self._schema.columns, table).span(name, {})
        return float(2 * np.abs(span.low - np.array(PROBES)).max()) if span.present.all() else 1.0

    def take(self, tried: pa.Table, *, one_by_one: bool = False) -> None:
        """Fill places with those that hold the rules: in order, or `one_by_one` each its own."""
        tried = self._worked_out(tried)
        good = np.flatnonzero(~self._broken(tried))
        places = self.left[good] if one_by_one else self.left[: len(good)]
        good = good[: len(places)]
        if not len(good):
            return
        self._pieces.append(tried.take(pa.array(good)))
        self._order[places] = self._rows + np.arange(len(good))
        self._rows += len(good)
        self.left = np.setdiff1d(self.left, places)

    def table(self) -> pa.Table:
        """All records; the last resort for one that could not be drawn is a copy of another that could."""
        if len(self._pieces) == 1 and not len(self.left):
            return self._pieces[0]
        good = np.setdiff1d(np.arange(len(self._order)), self.left)
        if len(self.left):
            if not len(good):
                raise ParameterError(
                    "no record that holds the constraints was drawn in a very long time.",
                    hint="ask for more rows at once; else the constraints leave next to nothing of what was learned.",
                )
            self._order[self.left] = self._order[np.resize(good, len(self.left))]
        return pa.concat_tables(self._pieces).take(pa.array(self._order))


def worked_out(table: pa.Table, schema: Schema) -> pa.Table:
    """The table with every column that a rule says the value of, in the schema's order."""
    for rule in schema.rules.assignments:
        view = RecordValues(schema.columns, table)
        if isinstance(rule, Derived):
            name, formula = rule.equation
            values, missing = formula.value(view)
            column = schema.columns[name]
            kind = pa.int64() if column.type == "integer" else pa.float64()
            found = pa.array(values.astype(kind.to_pandas_dtype()), kind, mask=missing)
            table = _with(table, name, column.written(found))
        elif isinstance(rule, Determines) and rule.values is not None:
            table = _with(table, rule.determines, _determined(rule, table, view))
    return table.select([name for name in schema.columns if name in table.column_names])


def broken(table: pa.Table, rules: Rules, columns: Mapping[str, Column], *, looked_up: bool) -> Mask:
    """Which records break a rule, or have a value worked out that its column does not allow.

    Where what another column determines was `looked_up` in every record, that needs no second look.
    """
    view = RecordValues(columns, table)
    bad = np.zeros(table.num_rows, np.bool_)
    for rule in rules:
        if isinstance(rule, Derived):
            bad |= _outside(columns[rule.computed], view, rule.computed)
        elif not (looked_up and isinstance(rule, Determines)):
            for condition in rule.conditions():
                bad |= truth(condition, view).false
    return bad


def _outside(column: Column, view: RecordValues, name: str) -> Mask:
    """Where a value that was worked out lies outside the bounds that the schema gives its column."""
    span = view.span(name, {})
    low, high = getattr(column, "min", None), getattr(column, "max", None)
    bad = np.zeros(len(span.low), np.bool_)
    if low is not None:
        bad |= span.low < low
    if high is not None:
        bad |= span.low > high
    allowed = np.isin(span.low, getattr(column, "special", ()))
    return bad & span.present & ~allowed


def _determined(rule: Determines, table: pa.Table, view: RecordValues) -> pa.Array:
    """The second column with the value that goes with the first, where the rule lists it."""
    ids: Ids = {}
    span = view.span(rule.column, ids)
    source = view.columns[rule.column]
    places: dict[float | int, int] = {}
    for place, (value, _) in enumerate(rule.pairs):
        known = meaning(source, value, ids)
        if known is not None:
            places[known] = place
    old = plain(table.column(rule.determines))
    keys = np.array(sorted(places), dtype=np.float64)
    if not len(keys):
        return old
    numbers = span.low.astype(np.float64)
    spot = np.searchsorted(keys, numbers).clip(max=len(keys) - 1)
    listed = (keys[spot] == numbers) & span.present
    order = np.array([places[key] for key in sorted(places)])
    target = view.columns[rule.determines]
    chosen = target.written(pa.array([goes_with for _, goes_with in rule.pairs]))
    return pc.if_else(pa.array(listed), chosen.cast(old.type).take(pa.array(order[spot])), old)


def _with(table: pa.Table, name: str, array: pa.Array) -> pa.Table:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, array)
    return table.append_column(name, array)
