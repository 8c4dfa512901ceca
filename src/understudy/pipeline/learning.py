"""What a schema leaves out, learned privately: values of open categories, bounds, bins.

Each step is a question to the curator about the same records, coded on a grid that is fixed in advance and
so says nothing about them. Column names and types are taken as public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Schema
from understudy.domain.category import Category
from understudy.domain.column import Column
from understudy.domain.moment import Date, Datetime
from understudy.domain.number import Integer, Number
from understudy.marginals import Counter, Measurement
from understudy.privacy import Curator, Discovery, Group, Loss

SHARES = {"values": Fraction(1, 20), "bounds": Fraction(1, 20), "bins": Fraction(1, 20)}
FINE = 512  # cells of the histogram that bins are made from
MOST_BINS = 64
SURE = 4.0  # standard deviations above which a noisy count is taken for more than noise
FULL = 8.0  # standard deviations that a learned bin should hold, so that later noise does not drown it

Counts = npt.NDArray[np.float64]
Encode = Callable[[Schema], Counter]  # the records, coded by a schema


def groups(schema: Schema) -> tuple[Group, ...]:
    """The questions that learning the schema will take, with their shares of the whole budget."""
    found = []
    for step, columns in steps(schema).items():
        if columns:
            found.append(Group(step, "measure", SHARES[step], weights=(1.0,) * len(columns)))
    return tuple(found)


def steps(schema: Schema) -> dict[str, list[str]]:
    """The columns that each step learns something of; decided from the schema alone."""
    open_ = schema.unlearned
    bounds = [name for name, fields in open_.items() if {"min", "max"} & set(fields)]
    return {
        "values": [name for name, fields in open_.items() if "values" in fields],
        "bounds": bounds,
        "bins": [
            name
            for name, fields in open_.items()
            if "bins" in fields or (name in bounds and isinstance(schema.columns[name], Integer | Number))
        ],
    }


def learn(schema: Schema, curator: Curator, encode: Encode, losses: Mapping[str, Loss]) -> Schema:
    """The schema with nothing left out."""
    todo = steps(schema)
    coarse: dict[str, tuple[Column, Measurement]] = {}
    schema = schema.with_columns(
        {
            name: _with_values(schema.columns[name], curator.discover(name, losses["values"]))
            for name in todo["values"]
        }
    )
    if todo["bounds"]:
        grids = {name: _grid(schema.columns[name]) for name in todo["bounds"]}
        log = _measure(curator, encode(replace(schema, columns=grids)), losses["bounds"])
        coarse = {name: (grids[name], log[name]) for name in grids}
        schema = schema.with_columns({name: _bounded(schema.columns[name], *coarse[name]) for name in grids})
    if todo["bins"]:
        fine = {name: _fine(schema.columns[name], coarse.get(name)) for name in todo["bins"]}
        log = _measure(curator, encode(replace(schema, columns=fine)), losses["bins"])
        schema = schema.with_columns({name: _binned(column, log[name]) for name, column in fine.items()})
    return schema


def _with_values(column: Column, found: Discovery) -> Column:
    """The category with the values that were found; one with none keeps a value that no record has."""
    assert isinstance(column, Category)
    return replace(column, values=found.values or ("",), discover=False)


def _measure(curator: Curator, records: Counter, loss: Loss) -> dict[str, Measurement]:
    """One-way measurements of the same records under another coding."""
    view = curator.over(records)
    return {m.clique[0]: m for m in view.measure([(name,) for name in records.domain], budget=loss)}


# --- bounds ------------------------------------------------------------------------------------------------

_LADDER = [factor * 10**power for power in range(13) for factor in (1, 2, 5)]
_FRACTIONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def _grid(column: Column) -> Column:
    """The column on a public grid: 1-2-5 steps for numbers, years for time."""
    if isinstance(column, Date):
        low, high = column.min or date(1800, 1, 1), column.max or date(2199, 12, 31)
        return replace(column, min=low, max=high, every="year")
    if isinstance(column, Datetime):
        zone = (column.min or column.max or datetime(1800, 1, 1)).tzinfo
        first, last = datetime(1800, 1, 1, tzinfo=zone), datetime(2199, 12, 31, 23, 59, 59, tzinfo=zone)
        return replace(column, min=column.min or first, max=column.max or last, every="year")
    assert isinstance(column, Integer | Number)
    edges = _ladder(column.min, column.max, whole=isinstance(column, Integer))
    return replace(column, min=None, max=None, bins=None, edges=edges)


def _ladder(low: float | None, high: float | None, *, whole: bool) -> tuple[Any, ...]:
    """1-2-5 steps between the bounds that are known; where these lie beyond the steps, a few decades past them."""
    steps = _LADDER if whole else [*_FRACTIONS, *_LADDER]
    edges = {*(-step for step in steps), 0, *steps, *(end for end in (low, high) if end is not None)}
    if low is not None:
        edges |= {low + step for step in steps}
    if high is not None:
        edges |= {high - step for step in steps}
    inside = [e for e in edges if (low is None or e >= low) and (high is None or e <= high)]
    return tuple(sorted({int(edge) if whole else float(edge) for edge in inside}))


def _bounded(column: Column, grid: Column, measured: Measurement) -> Column:
    """The column with bounds around every cell of the grid that holds more than noise."""
    values = measured.values[: _ranges(grid)]
    sure = np.flatnonzero(values > SURE * float(measured.stddev))
    first, last = (int(sure[0]), int(sure[-1])) if sure.size else (int(values.argmax()),) * 2
    if isinstance(column, Date | Datetime):
        assert isinstance(grid, Date | Datetime)
        low = column.min or grid.min.replace(year=grid.min.year + first, month=1, day=1)
        high = column.max or grid.max.replace(year=grid.min.year + last, month=12, day=31)
        return replace(column, min=low, max=high)
    assert isinstance(column, Integer | Number)
    assert isinstance(grid, Integer | Number)
    assert grid.edges is not None
    bottom: Any = grid.edges[first] if column.min is None else column.min
    top: Any = grid.edges[last + 1]
    if isinstance(column, Integer) and last + 2 < len(grid.edges):
        top = max(top - 1, bottom + 1)  # a bin of whole numbers ends one before the next begins
    top = top if column.max is None else column.max
    return replace(column, min=bottom, max=top)


def _ranges(column: Column) -> int:
    """How many of the column's codes stand for ranges of values: neither special values nor slots."""
    return column.count - len(getattr(column, "special", ()))


# --- bins --------------------------------------------------------------------------------------------------


def _fine(column: Column, coarse: tuple[Column, Measurement] | None) -> Column:
    """The column cut into many cells: evenly, or more finely where a coarse histogram saw more records."""
    assert isinstance(column, Integer | Number) and column.min is not None and column.max is not None
    cuts = np.array([column.min, column.max], dtype=np.float64)
    mass = np.ones(1)
    if coarse is not None and isinstance(coarse[0], Integer | Number) and coarse[0].edges is not None:
        edges = np.array(coarse[0].edges, dtype=np.float64)
        inside = (edges[:-1] >= column.min) & (edges[1:] <= column.max + 1)
        if inside.any():
            cuts = np.append(edges[:-1][inside], edges[1:][inside][-1])
            mass = np.maximum(coarse[1].values[: len(edges) - 1][inside], float(coarse[1].stddev))
    parts = np.maximum(1, np.round(FINE * mass / mass.sum())).astype(int)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(cuts, cuts[1:], parts, strict=False)]
    return _with_edges(column, np.append(np.concatenate(pieces), column.max))


def _binned(column: Column, measured: Measurement) -> Column:
    """The column with neighbouring cells joined until each bin holds a fair share and more than noise."""
    assert isinstance(column, Integer | Number) and column.edges is not None
    if isinstance(column, Integer) and column.values <= 1000:
        return replace(column, edges=None)  # few enough to be kept one by one
    values = measured.values[: _ranges(column)]
    total = float(values.sum())
    bins = int(np.clip(total / (FULL * float(measured.stddev)), 1, MOST_BINS))
    running = np.maximum.accumulate(np.cumsum(values))
    ends = np.searchsorted(running, total * np.arange(1, bins) / bins) + 1
    heavy = np.flatnonzero(values > max(total / bins, FULL * float(measured.stddev)))
    keep = np.unique(np.concatenate([[0], ends, heavy, heavy + 1, [len(values)]]))
    return _with_edges(column, np.array(column.edges)[keep[keep <= len(values)]])


def _with_edges(column: Integer | Number, edges: npt.NDArray[Any]) -> Column:
    """The column cut at these places, rounded to whole numbers where it has only those."""
    assert column.min is not None and column.max is not None
    if isinstance(column, Integer):
        whole = sorted(
            {int(edge) for edge in np.ceil(edges[:-1]).tolist() if column.min <= edge < column.max}
        )
        return replace(column, bins=None, edges=tuple(sorted({column.min, *whole, column.max})))
    exact = {float(edge) for edge in edges.tolist() if column.min < edge < column.max}
    return replace(column, bins=None, edges=tuple(sorted({column.min, *exact, column.max})))
