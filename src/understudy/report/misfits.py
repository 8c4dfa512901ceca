"""Columns that do not fit their description, told from noisy counts that were paid for: a warning each, and free.

A cell that does not fit goes to a slot or to a bound, and stops nothing: an error by a record would be a leak. So a
description that is wrong for a whole column shows in its noisy counts, and nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Category, Column, Domain, Integer, Number, Schema, Untyped
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.parts.ladder import LADDER
from understudy.marginals import Marginal
from understudy.mechanisms.mechanism import Fit

# Shares of a column's records that are worth a word. Cells are often missing for good reasons.
UNSAID = 0.5  # missing, where the schema does not say that cells may be
UNWRITTEN = 0.9  # missing, where nobody wrote a schema
SAID = 0.98  # missing, where it says that cells may be
OTHER = 0.5  # outside the list
AT_END = 0.5  # at a bound; surveys top-code up to a third or so
NONSENSE = 0.01  # at the last of all numbers
IN_ONE = 0.95  # in one bin of many, or in the value that stands for whatever breaks a promise
MANY = 10  # codes in order, below which most records may well share one
SURE = 5.0  # standard deviations that a count must be above noise


class MisfitWarning(UserWarning):
    """Most of a column's records do not fit its description, by its noisy counts.

    `us.fit` warns so; the usual cause is a form of cells that the schema does not name.
    """


@dataclass(frozen=True)
class _Seen:
    """What was seen of a column: its noisy share of records by code, and the share that noise may reach there."""

    shares: npt.NDArray[np.float64]
    noise: npt.NDArray[np.float64]

    def of(self, code: int | None) -> float:
        """The share of a code, if it is one, and more than noise."""
        found = 0.0 if code is None else float(self.shares[code])
        return min(found, 1.0) if code is not None and found > self.noise[code] else 0.0


def misfits(described: Schema, schema: Schema, found: Fit, *, written: bool) -> list[str]:
    """A sentence or two on every column that most of its records do not fit.

    `described` is the schema before anything was learned, and `written` whether a person wrote it.
    """
    said, domain = [], schema.domain()
    for name, column in schema.synthesised.items():
        before = described.columns.get(name, column)
        remark = _remark(column, before, _seen(found, domain, name), written=written)
        if remark:
            said.append(f"column {name!r}: {remark}")
    return said


def warn_of(said: Sequence[str]) -> None:
    """Say them in Python; where warnings are errors, nothing is raised: a release that was paid for is not lost."""
    for text in said:
        with suppress(MisfitWarning):
            warnings.warn(text, MisfitWarning, stacklevel=3)


def _seen(found: Fit, domain: Domain, name: str) -> _Seen:
    """By the column's own measurement, which is unbiased; where there is none, by the fitted counts."""
    alone = next((m for m in found.measurements if m.clique == (name,) and m.query is None), None)
    counts = found.field.marginal((name,)) if alone is None else Marginal((name,), alone.values)
    scales = np.zeros(()) if alone is None else SURE * alone.stddev  # of joined codes, that of their sum
    noise = Marginal((name,), np.broadcast_to(scales, counts.counts.shape))
    total = max(found.field.total, 1.0)
    shares, reach = (found.compression.spread(one, domain).counts / total for one in (counts, noise))
    return _Seen(shares, reach)


def _remark(column: Column, before: Column, seen: _Seen, *, written: bool) -> str:
    """What does not fit, and the likely cause; empty where all may be well."""
    unsaid = UNSAID if written else UNWRITTEN
    expected = unsaid if before.missing is None else SAID
    for slot, code, most in (("missing", column.missing_code, expected), ("other", column.other_code, OTHER)):
        if seen.of(code) >= most:
            return f"{_about(seen.of(code))} of the records count as {slot}. {_cause(column, before, slot)}"
    if isinstance(column, Difference):
        astray = seen.of(column.astray)
        return (
            f"{_about(astray)} of the records lie before column {column.after!r}. Check the order of the two, and "
            "how their cells are written."
            if astray >= OTHER
            else ""
        )
    if column.missing is False and column.count > 1 and column.other_code is None and seen.of(0) >= IN_ONE:
        return (
            f"{_about(seen.of(0))} of the records have its first value, which also stands for cells that break "
            f"missing = false. {column.misfit_cause}"
        )
    if isinstance(column, Integer) and column.high >= LADDER[-1] - 1 and seen.of(column.ranges - 1) >= AT_END:
        return (
            f"{_about(seen.of(column.ranges - 1))} of the records lie at the end of all whole numbers that have a "
            'place. If they are keys, write type = "id"; if codes, list them as the texts of a category.'
        )
    numeric = isinstance(column, Integer | Number) and bool(before.unlearned)
    if numeric and (share := _furthest(column, seen)) >= NONSENSE:
        return (
            f"{_about(share)} of the records lie as far out as numbers can be told apart. If they are infinite, or "
            'stand for missing ones, write missing = ["inf", "-inf"] or whatever they are.'
        )
    return (
        _crowded(column, before, seen) if column.bounded and column.ordered and column.ranges >= MANY else ""
    )


def _furthest(column: Column, seen: _Seen) -> float:
    """The share of the records at ends so far out that they were not chosen, but were the last there are."""
    assert isinstance(column, Integer | Number)
    low, high = column.bounds
    ends = {0: -low, column.ranges - 1: high}
    return sum(seen.of(code) for code, out in ends.items() if out >= LADDER[-1] - 1)


def _cause(column: Column, before: Column, slot: str) -> str:
    if isinstance(before, Category | Untyped) and before.unlearned and isinstance(column, Category):
        written = (
            "Dates and numbers in a form of their own need a schema that says so (`understudy schema` drafts one); "
            if isinstance(before, Untyped)
            else "List them in the schema if they are public; "
        )
        return (
            f"Too few of its values are frequent enough to be learned. {written}"
            'names, identifiers and free text are better made up (type = "id" or "fake") or left out.'
        )
    way_out = "write missing = true" if before.missing is None else "nothing is wrong"
    return column.misfit_cause + (f" If so many are, {way_out}." if slot == "missing" else "")


def _crowded(column: Column, before: Column, seen: _Seen) -> str:
    """Records at a bound, or in one bin of many."""
    labels, last = column.value_labels(), column.ranges - 1
    for code, bound in ((0, "min"), (last, "max")):
        if seen.of(code) >= AT_END and labels[code] not in ("0", "00:00"):  # counts are often zero
            given = getattr(before, bound, None) is not None or not before.unlearned
            way_out = (
                f"Check {bound} and the unit of its values."
                if given
                else "Its bounds were learned: if closer ones are public, write min and max, and more is told apart."
            )
            return (
                f"{_about(seen.of(code))} of the records lie at its {'lower' if code == 0 else 'upper'} end "
                f"({labels[code]}), which also stands for all beyond. {way_out}"
            )
    fullest = int(np.argmax(seen.shares[: column.ranges]))
    if seen.of(fullest) >= IN_ONE and labels[fullest] != "0":
        return (
            f"{_about(seen.of(fullest))} of the records are in one of its {column.ranges} codes "
            f"({labels[fullest]}). Narrow its bounds, or leave them out to be learned."
        )
    return ""


def _about(share: float) -> str:
    return "nearly all" if share >= 0.995 else f"about {share:.0%}"
