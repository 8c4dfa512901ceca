"""What was asked of records that no record can be, found before any is drawn: by itself, or by the schema's rules.

Only what is certain is refused; all else is left to drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from understudy.domain import Schema
from understudy.domain.condition_truth import CodeCells, RecordValues, meaning, truth
from understudy.domain.conditions import Compares, Condition, Reference, columns_of, conjuncts
from understudy.errors import ParameterError

MOST_CELLS = 1 << 22  # that are looked at


def refuse_conflict(where: Condition, schema: Schema) -> None:
    """Refuse a condition that contradicts itself, or the constraints that every record holds."""
    _refuse_empty_range(where, schema)
    names = set(columns_of(where))
    linked = [rule for rule in schema.rules if names & set(rule.columns) and rule.conditions()]
    for rules in [*([rule] for rule in linked), linked]:
        if rules and not _possible(where, [part for rule in rules for part in rule.conditions()], schema):
            raise ParameterError(
                f"where: no record is so, since every one holds: {'; '.join(map(str, rules))}.",
                hint="ask for something that the constraints leave room for.",
            )


def _possible(where: Condition, rules: Sequence[Condition], schema: Schema) -> bool:
    """Whether some cell of codes may hold a record that is wanted and breaks no rule; True where nobody can tell."""
    names = tuple(dict.fromkeys(name for part in (where, *rules) for name in columns_of(part)))
    columns = schema.columns
    if any(columns[name].unlearned for name in names):
        return True
    cells = CodeCells(columns, names)
    if math.prod(cells.shape) > MOST_CELLS:
        return True
    wanted = np.broadcast_to(truth(where, cells).true, cells.shape)
    for rule in rules:
        found = truth(rule, cells)
        wanted = wanted & (found.true | found.unknown)
    return bool(wanted.any())


def _refuse_empty_range(where: Condition, schema: Schema) -> None:
    """Refuse a number or a moment that is to lie above one value and below another that is no greater."""
    low: dict[str, tuple[float, bool]] = {}
    high: dict[str, tuple[float, bool]] = {}
    for part in conjuncts(where):
        if not isinstance(part, Compares) or isinstance(part.value, Reference) or part.operator == "!=":
            continue
        column = schema.columns[part.column]
        value = None if column.compared_as == "text" else meaning(column, part.value, {})
        if value is None:
            continue
        if part.operator in (">", ">=", "="):
            low[part.column] = max(low.get(part.column, (-math.inf, False)), (value, part.operator == ">"))
        if part.operator in ("<", "<=", "="):
            high[part.column] = min(high.get(part.column, (math.inf, True)), (value, part.operator != "<"))
    for name in low.keys() & high.keys():
        (bottom, above), (top, included) = low[name], high[name]
        if bottom > top or (bottom == top and (above or not included)):
            raise ParameterError(
                f"where: no value of column {name!r} is as it is asked to be.",
                hint="ask for a range that ends above where it begins.",
            )


def refuse_broken(given: pa.Table, schema: Schema) -> None:
    """Refuse partial records that break a constraint by what is given of them alone."""
    rows = given.num_rows
    cells = {
        name: given[name] if name in given.column_names else pa.nulls(rows, pa.string())
        for name in schema.columns
        if name not in schema.made
    }
    view = RecordValues(schema.columns, pa.table(cells))
    for rule in schema.rules:
        bad = np.zeros(rows, np.bool_)
        for condition in rule.conditions():
            bad |= truth(condition, view).false
        if bad.any():
            raise ParameterError(
                f"given: {int(bad.sum())} records break the constraint {rule}.",
                hint="correct them, or leave more of their cells empty to be drawn.",
            )
