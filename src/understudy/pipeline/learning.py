"""What a schema leaves out, learned privately: types, values of open categories, bounds, bins.

Each step is a question to the curator about the same records, coded on a grid that is fixed in advance and
so says nothing about them. Types come first; which columns the other steps are about follows from the noisy
votes, and how much noise they get was fixed before. Column names are taken as public, and types that are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Schema
from understudy.domain.category import Category
from understudy.domain.column import Column
from understudy.domain.moment import Date, Datetime, period
from understudy.domain.number import Integer, Number
from understudy.domain.untyped import Untyped, Votes
from understudy.errors import SchemaError
from understudy.marginals import Counter, Measurement
from understudy.privacy import Curator, Discovery, Gaussian, Group, Loss, Role
from understudy.transforms import grammar

SHARES = {
    "types": Fraction(1, 40),
    "values": Fraction(1, 20),
    "bounds": Fraction(1, 20),
    "bins": Fraction(1, 20),
}
FINE = 512  # cells of the histogram that bins are made from
MOST_BINS = 64
FEW, ONE_BY_ONE = 128, 1000  # whole numbers that are kept one by one in any case, and where records abound
MOST_CODES = 100_000  # of a column whose bounds are learned but not its periods
MOST_PERIODS = 1000  # codes of a column of time whose bounds and periods are both learned
SURE = 5.0  # standard deviations above which a noisy count is more than noise, on a grid of hundreds of cells
FARTHER = 0.1  # standard deviations that a cell must have more for every step that it is farther from zero
LIKELY = 2.0  # and above which it likely is, next to a cell that is sure
FULL = 8.0  # standard deviations that a learned bin should hold, so that later noise does not drown it

Counts = npt.NDArray[np.float64]
Encode = Callable[[Schema], Counter]  # the records, coded by a schema


def groups(schema: Schema) -> tuple[Group, ...]:
    """The questions that learning the schema will take, with their shares of the whole budget.

    Where types are to be learned, nobody knows yet which columns have values, bounds or bins: those batches are
    planned without weights, and may go unasked. A bound that leaves nothing to look for is refused here.
    """
    found = []
    todo = steps(schema)
    for name in todo["bounds"]:
        try:
            _grid(schema.columns[name])
        except (SchemaError, ValueError):
            raise SchemaError(
                f"column {name!r}: the bound that is given leaves no room for the other.", hint="give both."
            ) from None
    for step, columns in todo.items():
        if todo["types"] and step != "types":
            found.append(Group(step, "measure", SHARES[step], role=Role.LEARNING))
        elif columns:
            found.append(
                Group(step, "measure", SHARES[step], weights=(1.0,) * len(columns), role=Role.LEARNING)
            )
    return tuple(found)


def steps(schema: Schema) -> dict[str, list[str]]:
    """The columns that each step learns something of, as far as their types are known."""
    open_ = schema.unlearned
    bounds = [name for name, fields in open_.items() if {"min", "max"} & set(fields)]
    return {
        "types": [name for name, fields in open_.items() if "type" in fields],
        "values": [name for name, fields in open_.items() if "values" in fields],
        "bounds": bounds,
        "bins": [
            name
            for name, fields in open_.items()
            if "bins" in fields or (name in bounds and isinstance(schema.columns[name], Integer | Number))
        ],
    }


def questions(schema: Schema, typed: Schema) -> dict[str, int]:
    """How many questions each step takes for a schema whose types turned out to be those of `typed`."""
    asked = {step: min(1, len(columns)) for step, columns in steps(typed).items()}
    return asked | {"types": min(1, len(steps(schema)["types"])), "values": len(steps(typed)["values"])}


def learn_types(
    schema: Schema,
    curator: Curator,
    encode: Encode,
    losses: Mapping[str, Loss],
) -> tuple[Schema, frozenset[str]]:
    """The schema with a type for every column, and the columns that were found to hold instants."""
    untyped = steps(schema)["types"]
    if not untyped:
        return schema, frozenset()
    votes = replace(schema, columns=dict.fromkeys(untyped, Votes()))
    log = _measure(curator, encode(votes), losses["types"])
    found: dict[str, Column] = {}
    instants = set()
    for name in untyped:
        column = schema.columns[name]
        assert isinstance(column, Untyped)
        found[name], aware = column.decided(log[name].values.tolist(), float(log[name].stddev))
        instants |= {name} if aware else set()
    return schema.with_columns(found), frozenset(instants)


def learn(
    schema: Schema,
    curator: Curator,
    encode: Encode,
    losses: Mapping[str, Loss],
    *,
    instants: Collection[str] = (),
) -> Schema:
    """A schema whose types are known with nothing left out. `instants` are the columns that have a time zone."""
    todo = steps(schema)
    values = _shared(losses.get("values"), len(todo["values"]))
    coarse: dict[str, tuple[Column, Measurement]] = {}
    schema = schema.with_columns(
        {name: _with_values(schema.columns[name], curator.discover(name, values)) for name in todo["values"]}
    )
    if todo["bounds"]:
        grids = {name: _grid(schema.columns[name], name in instants) for name in todo["bounds"]}
        log = _measure(curator, encode(replace(schema, columns=grids)), losses["bounds"])
        coarse = {name: (grids[name], log[name]) for name in grids}
        schema = schema.with_columns({name: _bounded(schema.columns[name], *coarse[name]) for name in grids})
    if todo["bins"]:
        fine = {name: _fine(schema.columns[name], coarse.get(name)) for name in todo["bins"]}
        log = _measure(curator, encode(replace(schema, columns=fine)), losses["bins"])
        schema = schema.with_columns({name: _binned(column, log[name]) for name, column in fine.items()})
    return schema


def _with_values(column: Column, found: Discovery) -> Column:
    """The category with the values that were found; one with none keeps a value that no record has.

    A text that means missing is no value, however often it was found.
    """
    assert isinstance(column, Category)
    meant = {*column.missing_texts, *(grammar.number(text) for text in column.missing_texts)}
    values = tuple(value for value in found.values if value not in meant)
    return replace(column, values=values or ("",), discover=False)


def _shared(loss: Loss | None, columns: int) -> Any:
    """The loss of a batch that is asked one by one; where its weights were left open, shared equally by so many."""
    if isinstance(loss, Gaussian) and loss.weights is None and columns:
        return replace(loss, weights=(1.0,) * columns)
    return loss


def _measure(curator: Curator, records: Counter, loss: Loss) -> dict[str, Measurement]:
    """One-way measurements of the same records under another coding."""
    view = curator.over(records)
    return {m.clique[0]: m for m in view.measure([(name,) for name in records.domain], budget=loss)}


# --- bounds ------------------------------------------------------------------------------------------------

_LADDER = [factor * 10**power for power in range(19) for factor in (1, 2, 5)]
_FRACTIONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def _grid(column: Column, instants: bool = False) -> Column:
    """The column on a public grid: years for time; 1-2-5 steps for numbers, and zero on its own."""
    if isinstance(column, Date | Datetime):
        first, last = _years(column)
        zone = UTC if instants else None
        if isinstance(column, Date):
            low: Any = date(first, 1, 1)
            high: Any = date(last, 12, 31)
        else:
            zone = next((end.tzinfo for end in (column.min, column.max) if end is not None), zone)
            low, high = datetime(first, 1, 1, tzinfo=zone), datetime(last, 12, 31, 23, 59, 59, tzinfo=zone)
        return replace(column, min=column.min or low, max=column.max or high, every="year")
    assert isinstance(column, Integer | Number)
    edges = _ladder(column.min, column.max, whole=isinstance(column, Integer))
    if isinstance(column, Integer):  # the ladder's step from 0 to 1 holds zero alone
        return replace(column, min=None, max=None, bins=None, edges=edges)
    special = column.special or ((0.0,) if edges[0] <= 0 <= edges[-1] else ())
    return replace(column, min=None, max=None, bins=None, edges=edges, special=special)


def _years(column: Date | Datetime) -> tuple[int, int]:
    """The years that a column of time is looked for in: 1800 to 2199, and as far again from a bound that is given."""
    first = 1800 if column.max is None else min(1800, max(1, column.max.year - 400))
    last = 2199 if column.min is None else max(2199, min(9999, column.min.year + 400))
    return first, last


def _ladder(low: float | None, high: float | None, *, whole: bool) -> tuple[Any, ...]:
    """1-2-5 steps between the bounds that are known, from zero and from each bound."""
    steps = _LADDER if whole else [*_FRACTIONS, *_LADDER]
    known = [end for end in (low, high) if end is not None]
    edges: set[float] = {*(-step for step in steps), 0, *steps, *known}
    for end in known:  # steps that a large bound can be told from
        edges |= {end + side * step * size for step in steps for side in (-1, 1) for size in (1, abs(end))}
    inside = [e for e in edges if (low is None or e >= low) and (high is None or e <= high)]
    if whole:
        return tuple(sorted({int(edge) for edge in inside if -(2**63) <= edge < 2**63}))
    return tuple(sorted({float(edge) for edge in inside if abs(edge) < 1e300 or edge in known}))


def _bounded(column: Column, grid: Column, measured: Measurement) -> Column:
    """The column with bounds around every cell of the grid that holds more than noise."""
    values = measured.values[: _ranges(grid)]
    edges = grid.edges or () if isinstance(grid, Integer | Number) else ()
    centre = edges.index(0) if 0 in edges else None
    first, last = _extent(values, float(measured.stddev), centre)
    if isinstance(column, Date | Datetime):
        assert isinstance(grid, Date | Datetime)
        low, high = column.min or _opening(grid, first), column.max or _closing(grid, last)
        if not low < high:  # all that was seen lies at the bound that was given
            low, high = column.min or grid.min, column.max or grid.max
        bins = float(values.sum()) / (FULL * float(measured.stddev))
        return _with_periods(column, low, high, bins)
    assert isinstance(column, Integer | Number)
    assert isinstance(grid, Integer | Number)
    assert grid.edges is not None
    special: Any = column.special
    if special != grid.special and measured.values[len(values)] > SURE * float(measured.stddev):
        special = grid.special  # zero is common enough to have a mass of its own
    bottom: Any = grid.edges[first] if column.min is None else column.min
    top: Any = grid.edges[last + 1]
    if isinstance(column, Integer) and last + 2 < len(grid.edges):
        top = max(top - 1, bottom + 1)  # a bin of whole numbers ends one before the next begins
    top = top if column.max is None else column.max
    return replace(column, min=bottom, max=top, special=special)


def _extent(values: Counts, stddev: float, centre: int | None) -> tuple[int, int]:
    """The first and last cell that hold more than noise, or a guess where none surely does.

    From the outermost sure cells on, neighbours count as filled while they likely are: a tail thins out slowly. A
    guess is the fullest cell, those near `centre` (zero) preferred: far ones are many, and one is high by chance.
    """
    sure = np.flatnonzero(values > SURE * stddev)
    if sure.size:
        first, last = int(sure[0]), int(sure[-1])
    else:
        far = 0.0 if centre is None else np.abs(np.arange(len(values)) - centre)
        first = last = int((values - FARTHER * stddev * far).argmax())
    while first > 0 and values[first - 1] > LIKELY * stddev:
        first -= 1
    while last + 1 < len(values) and values[last + 1] > LIKELY * stddev:
        last += 1
    return first, last


def _opening(grid: Date | Datetime, year: int) -> Any:
    """The first moment of a year of the grid, the grid's own first one for its first year."""
    return grid.min.replace(year=grid.min.year + year, month=1, day=1) if year else grid.min


def _closing(grid: Date | Datetime, year: int) -> Any:
    """The last day of a year of the grid."""
    return min(grid.max, grid.max.replace(year=grid.min.year + year, month=12, day=31))


def _with_periods(column: Date | Datetime, low: Any, high: Any, bins: float) -> Column:
    """The column between these bounds, by the finest period that leaves a fair share of records for each.

    A period that the schema gives is kept, unless the bounds turn out so far apart that no column could hold it.
    """
    given = column.periods.index(column.every) if column.every else len(column.periods) - 1
    most = MOST_CODES if column.every else np.clip(bins, 12, MOST_PERIODS)
    finer = reversed(column.periods[1 : given + 1])
    every = next((e for e in finer if period(high, e) - period(low, e) < most), column.periods[0])
    return replace(column, min=low, max=high, every=every)


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
    ends = zip(cuts.tolist(), cuts[1:].tolist(), parts.tolist(), strict=False)
    pieces = [
        _cut(low, high, n) for low, high, n in ends if low < high
    ]  # floats may not tell large bounds apart
    return _with_edges(column, np.concatenate([cuts[:1], *pieces, cuts[-1:]]))


def _cut(low: float, high: float, parts: int) -> npt.NDArray[np.float64]:
    """The lower edges of so many parts, about equal: rounded to digits that a person would write."""
    edges = np.linspace(low, high, parts, endpoint=False)
    rounded = np.round(edges, _digits((high - low) / parts) + 1)
    return np.where((rounded >= low) & (rounded < high), rounded, edges)


def _digits(width: float) -> int:
    """How many decimals tell numbers so far apart from each other (negative: whole tens, hundreds, ...)."""
    return int(np.clip(np.ceil(-np.log10(width)), -300, 300))


def _binned(column: Column, measured: Measurement) -> Column:
    """The column with neighbouring cells joined until each bin holds a fair share and more than noise."""
    assert isinstance(column, Integer | Number) and column.edges is not None
    values = measured.values[: _ranges(column)]
    total = float(values.sum())
    afford = total / (FULL * float(measured.stddev))
    if isinstance(column, Integer) and column.values <= np.clip(afford, FEW, ONE_BY_ONE):
        return replace(column, edges=None)  # few enough to be kept one by one
    bins = int(np.clip(afford, 1, MOST_BINS))
    running = np.maximum.accumulate(np.cumsum(values))
    ends = np.searchsorted(running, total * np.arange(1, bins) / bins) + 1
    heavy = np.flatnonzero(values > max(total / bins, FULL * float(measured.stddev)))
    edges = np.array(column.edges)
    keep = np.unique(np.concatenate([[0], ends, heavy, heavy + 1, _tail(edges), [len(values)]]))
    return _with_edges(column, edges[keep[keep <= len(values)]])


def _tail(edges: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Places of edges that keep every bin of a long tail within a step of the ladder, however few records it holds.

    Records are taken to lie evenly in a bin: in one from 100 thousand to a million they would be far too rich.
    """
    furthest = float(np.abs(edges).max())
    steps = np.array([step for step in (*_FRACTIONS, *_LADDER) if step >= furthest / 1000])
    steps = np.concatenate([-steps[::-1], steps])
    return np.asarray(np.searchsorted(edges, steps[(steps > edges[0]) & (steps < edges[-1])]), np.int64)


def _with_edges(column: Integer | Number, edges: npt.NDArray[Any]) -> Column:
    """The column cut at these places, rounded to whole numbers where it has only those."""
    assert column.min is not None and column.max is not None
    if isinstance(column, Integer):
        whole = sorted(
            {int(edge) for edge in np.ceil(edges[:-1]).tolist() if column.min <= edge < column.max}
        )
        return replace(column, bins=None, edges=tuple(sorted({column.min, *whole, column.max})))
    exact = sorted(
        {column.min, *(float(e) for e in edges.tolist() if column.min < e < column.max), column.max}
    )
    # Of a number learned from scratch a hundred values a bin are told apart: enough for any use, and readable.
    digits = _digits(min(np.diff(exact))) + 2
    step = column.precision or (10.0**-digits if -15 <= digits <= 15 else None)
    return replace(column, bins=None, edges=tuple(exact), precision=step)
