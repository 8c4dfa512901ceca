"""Columns that another determines: which value goes with which in the model, and codes that agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from understudy.domain import Column, Schema
from understudy.domain.columns.category import OTHER
from understudy.domain.condition_truth import meaning
from understudy.domain.conditions import Value
from understudy.domain.constraints import Determines, Rules
from understudy.mechanisms import Fit
from understudy.transforms.compress import Compression

MOST_CELLS = 1 << 25  # of the marginal of two columns
NONE = -1  # the code that goes with a value that is not listed

Whole = npt.NDArray[np.int64]


def with_values(schema: Schema, fit: Fit) -> Schema:
    """The schema whose rules list what goes with what: where they did not, as the fitted model has it most often.

    Codes that were merged for being rare look alike to the model: they are dealt out in proportion.
    """
    rules = Rules(
        replace(rule, values=_found(rule, schema, fit))
        if isinstance(rule, Determines) and rule.values is None
        else rule
        for rule in schema.rules
    )
    return replace(schema, constraints=rules)


def guessed(schema: Schema, fit: Fit) -> list[str]:
    """What to know of rules that list nothing, where no measurement has both of their columns."""
    return [
        f"column {rule.determines!r}: {rule.column!r} determines it, but noise left no room to measure the two "
        "together, so that which goes with which is a guess. List it in the constraint: values = [...]."
        for rule in schema.rules
        if isinstance(rule, Determines)
        and rule.values is None
        and not any({rule.column, rule.determines} <= {*measured.clique} for measured in fit.measurements)
    ]


def _found(rule: Determines, schema: Schema, fit: Fit) -> tuple[tuple[Value, Value], ...]:
    first, second = schema.columns[rule.column], schema.columns[rule.determines]
    keys, values = _listed(first), _listed(second)[: second.count]
    if first.size * second.size > MOST_CELLS:
        alone = fit.compression.spread(fit.field.marginal(rule.determines), schema.domain()).counts
        counts = np.broadcast_to(alone, (first.size, second.size))
    else:
        joint = fit.field.marginal((rule.column, rule.determines))
        counts = np.asarray(fit.compression.spread(joint, schema.domain()).counts)
    counts = np.maximum(counts[: len(keys), : len(values)], 0.0)
    whole = counts.sum(axis=0)
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, whole if whole.any() else 1.0)
    best = counts.argmax(axis=1)
    groups, shares = fit.compression.maps[rule.column][: len(keys)], fit.compression.shares(rule.column)
    for group in np.flatnonzero(np.bincount(groups) > 1).tolist():
        alike = np.flatnonzero(groups == group)
        best[alike] = _dealt(counts[alike].sum(axis=0), shares[alike])
    return tuple((key, values[code]) for key, code in zip(keys, best.tolist(), strict=True))


def _dealt(counts: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]) -> Whole:
    """For each of some merged codes the code that goes with it, so that together they have these shares."""
    own = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
    ends = np.cumsum(counts) / counts.sum()
    return np.searchsorted(ends, np.cumsum(own) - own / 2).clip(max=len(counts) - 1)


def agreeing(
    codes: Mapping[str, npt.NDArray[np.generic]],
    schema: Schema,
    compression: Compression,
    rng: np.random.Generator,
) -> dict[str, npt.NDArray[np.generic]]:
    """The codes, where a rare one stands for many: one of those that go with what the other column has.

    A city that is too rare to be learned is drawn among the rare ones of the record's own state.
    """
    found = dict(codes)
    for rule in schema.rules:
        if not isinstance(rule, Determines) or rule.values is None or rule.column not in found:
            continue
        groups, shares = compression.maps[rule.column], compression.shares(rule.column)
        if rule.determines not in found or len(np.unique(groups)) == len(groups):
            continue
        goes_with = _codes_of(rule, schema.columns)
        held = np.asarray(found[rule.column]).astype(np.int64)
        wanted = np.asarray(found[rule.determines]).astype(np.int64)
        astray = np.flatnonzero((goes_with[held] != NONE) & (goes_with[held] != wanted))
        pairs, members = np.unique(
            np.stack([groups[held[astray]], wanted[astray]]), axis=1, return_inverse=True
        )
        for number, (group, code) in enumerate(pairs.T.tolist()):
            weights = shares * ((groups == group) & (goes_with == code))
            if weights.sum() > 0:
                here = astray[members.reshape(-1) == number]
                held[here] = rng.choice(len(groups), size=len(here), p=weights / weights.sum())
        found[rule.column] = held.astype(np.asarray(found[rule.column]).dtype)
    return found


def _codes_of(rule: Determines, columns: Mapping[str, Column]) -> Whole:
    """For each code of the first column, the code of the second that goes with it."""
    first, second = columns[rule.column], columns[rule.determines]
    rows, places = _places(first), _places(second)
    found = np.full(first.size, NONE)
    for value, goes_with in rule.pairs:
        code, other = rows.get(_key(first, value)), places.get(_key(second, goes_with))
        if code is not None and other is not None:
            found[code] = other
    return found


def _places(column: Column) -> dict[object, int]:
    return {_key(column, value): code for code, value in enumerate(_listed(column))}


def _key(column: Column, value: Value) -> object:
    return str(value) if column.compared_as == "text" else meaning(column, value, {})


def _listed(column: Column) -> list[Value]:
    """The value of each code that stands for a single one: the values, and the word for all others."""
    if column.compared_as == "text":
        return [*(column.words or ()), *([OTHER] if column.other_code is not None else [])]
    spans = column.spans()
    assert spans is not None
    return [bool(value) if column.compared_as == "boolean" else value for value in spans[0].tolist()]
