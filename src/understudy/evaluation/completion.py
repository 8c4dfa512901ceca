"""What a schema leaves out, read from the real records themselves: for a page that stays inside.

`fit` learns the same privately. Here nothing is protected, so bounds are those of the records, categories all
that occur, and bins hold about as many records each.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Category, Column, Date, Datetime, Integer, Number, Schema, Untyped
from understudy.domain.arrow_values import plain
from understudy.domain.cell_text import text_of
from understudy.domain.moment import period
from understudy.domain.untyped import KINDS, Votes
from understudy.errors import SchemaError
from understudy.transforms import arrays, grammar
from understudy.transforms.kinds import VotesCodec

BINS = 64
MOST_VALUES = 100_000  # of a category; rarer ones are taken together
MOST_PERIODS = 1_000  # codes of a column of time whose periods nobody named
NO_VALUE = "(none)"  # the one value of a category in which every cell is empty
_FINEST = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_DAWN, _DUSK = (np.datetime64(end, "us").astype(np.int64) for end in ("0001-01-02", "9999-12-30"))


def completed(schema: Schema, real: pa.Table) -> Schema:
    """The schema with nothing left out, once these records have been looked at."""
    found = {}
    for name in schema.unlearned:
        try:
            found[name] = _complete(schema.columns[name], plain(real[name]))
        except SchemaError:  # its message may show a value, so it goes no further
            raise SchemaError(
                f"column {name!r}: its records do not say what its codes should be.",
                hint="describe it in a schema: values, or bounds and bins.",
            ) from None
    return schema.with_columns(found)


def _complete(column: Column, array: pa.Array) -> Column:
    if isinstance(column, Untyped):
        votes = np.bincount(VotesCodec(Votes()).encode(array), minlength=len(KINDS))
        typed = column.decided(votes.tolist(), 0.0)[0]
        return _complete(typed, array) if typed.unlearned else typed
    if isinstance(column, Category):
        return replace(column, values=_values(column, array), discover=False)
    if isinstance(column, Integer):
        return _whole_numbers(column, array)
    if isinstance(column, Number):
        return _numbers(column, array)
    assert isinstance(column, Date | Datetime)
    return _moments(column, array)


def _values(column: Category, array: pa.Array) -> tuple[str, ...]:
    order: dict[str, int] = {}
    places = arrays.by_distinct(
        array, lambda value: order.setdefault(text_of(value), len(order)), -1, np.int64
    )
    counts = np.bincount(places[places >= 0], minlength=len(order))
    texts = list(order)
    empty = {"", *column.missing_texts}
    frequent = np.argsort(-counts, kind="stable")[: MOST_VALUES + len(empty)].tolist()
    kept = [texts[place] for place in frequent if texts[place] not in empty][:MOST_VALUES]
    return tuple(sorted(kept)) or (NO_VALUE,)


def _whole_numbers(column: Integer, array: pa.Array) -> Column:
    values, unread = arrays.integers(array)
    meant = [number for text in column.missing_texts if (number := grammar.whole(text)) is not None]
    seen = np.sort(_seen(values, unread, [*column.special, *meant]))
    low, high = _bounds(column, seen, column.step)
    high = min(int(high), 2**63 - 1)
    low = min(int(low), high - column.step)  # where every value is the largest that there is
    bounded = replace(column, min=low, max=high, bins=None)
    if column.bins is not None:
        return replace(bounded, bins=min(column.bins, bounded.values))
    if not bounded.unlearned:
        return bounded
    if column.step > 1:
        return replace(bounded, bins=min(BINS, bounded.values))
    edges, heavy = _quantiles(seen, low, high)
    return replace(bounded, edges=edges, special=(*column.special, *heavy))


def _numbers(column: Number, array: pa.Array) -> Column:
    numbers = arrays.floats(array)
    meant = [number for text in column.missing_texts if (number := grammar.number(text)) is not None]
    seen = np.sort(_seen(numbers, ~np.isfinite(numbers), [*column.special, *meant]))
    low, high = _bounds(column, seen, 1.0)
    bounded = replace(column, min=low, max=high)
    if column.bins is not None:
        return bounded
    edges, heavy = _quantiles(seen, low, high)
    return replace(bounded, edges=edges, special=(*column.special, *heavy))


def _seen(values: npt.NDArray[Any], unread: npt.NDArray[np.bool_] | None, apart: list[Any]) -> Any:
    """The values that are neither unread nor codes of their own."""
    left_out = np.isin(values, apart)
    return values[~left_out if unread is None else ~(left_out | unread)]


def _bounds(column: Integer | Number, seen: npt.NDArray[Any], step: Any) -> tuple[Any, Any]:
    """The bounds that are given, and for the others those of the records; the lower below the upper."""
    first, last = (seen[0].item(), seen[-1].item()) if len(seen) else (step * 0, step)
    if column.min is not None:
        return column.min, column.max if column.max is not None else max(last, _after(column.min, step))
    if column.max is not None:
        return min(first, -_after(-column.max, step)), column.max
    return first, last if last > first else _after(first, step)


def _after(number: Any, step: Any) -> Any:
    """The number and one step, or for a large float the next that differs."""
    moved = number + step
    return moved if moved > number else float(np.nextafter(number, np.inf))


def _quantiles(seen: npt.NDArray[Any], low: Any, high: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Edges of bins that hold about as many records each, and values that fill a bin by themselves."""
    seen = seen[(seen >= low) & (seen <= high)]
    values, counts = np.unique(seen, return_counts=True)
    heavy = values[counts * BINS > len(seen)]
    rest = seen[~np.isin(seen, heavy)]
    inner = rest[np.arange(1, BINS) * (len(rest) - 1) // BINS].tolist() if len(rest) else []
    return tuple(sorted({low, high, *inner})), tuple(heavy.tolist())


def _moments(column: Date | Datetime, array: pa.Array) -> Column:
    micros, unread = arrays.moments(array)
    meant = [moment for text in column.missing_texts if (moment := grammar.moment(text)) is not None]
    seen = np.clip(_seen(micros, unread, meant), _DAWN, _DUSK)
    ends = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
    kind = "D" if isinstance(column, Date) else "s"
    low, high = (np.datetime64(end, "us").astype(f"datetime64[{kind}]") for end in ends)
    zone = next((end.tzinfo for end in (column.min, column.max) if getattr(end, "tzinfo", None)), None)
    first, last = (end.item() if zone is None else end.item().replace(tzinfo=zone) for end in (low, high + 1))
    first = column.min or (min(first, column.max) if column.max else first)
    last = column.max or max(last, first)
    if not first < last:  # all that was seen lies beyond the bound that was given
        beyond = timedelta(days=1) if isinstance(column, Date) else timedelta(seconds=1)
        first, last = (first, first + beyond) if column.min else (last - beyond, last)
    return replace(column, min=first, max=last, every=column.every or _every(column, first, last))


def _every(column: Date | Datetime, first: Any, last: Any) -> str:
    """The finest period of which there are not too many between the bounds."""
    usable = [every for every in _FINEST if every in column.periods]
    few = (every for every in usable if period(last, every) - period(first, every) < MOST_PERIODS)
    return next(few, usable[-1])
