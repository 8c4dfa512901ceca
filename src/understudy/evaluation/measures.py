"""Many measures of one synthetic table, each with baselines beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from understudy.errors import ParameterError
from understudy.evaluation.baselines import BASELINES
from understudy.evaluation.blas_threads import one_blas_thread
from understudy.evaluation.columns import Columns, read_columns, require_codes, rows_of
from understudy.evaluation.correlation import Correlation
from understudy.evaluation.fidelity import KMarginal, TotalVariation
from understudy.evaluation.learners.prediction import Learning
from understudy.evaluation.learners.propensity import Propensity

SYNTHETIC = "synthetic"
REAL = "real"
CONFIDENTIAL = "CONFIDENTIAL: computed from the private records. Keep it where they are kept."
# Which tables stand beside the synthetic one, in words.
TABLES = {
    SYNTHETIC: "the table that was evaluated",
    "bootstrap": "real records drawn with replacement: as close as a table of this size need come",
    "independent": "every column drawn by itself: right columns, no dependence",
    "uniform": "every value as likely as any other: nothing learned",
    REAL: "the real records themselves, to learn from",
}


class Measure(Protocol):
    """A frozen recipe that compares a candidate table with the real one."""

    @property
    def better(self) -> str:
        """Which way is good: "lower" or "higher"."""
        ...

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """One or more figures by name."""
        ...


@runtime_checkable
class Splits(Protocol):
    """A measure that keeps some real records for testing, and draws baselines from the others."""

    def split(self, real: Columns, randomness: np.random.Generator) -> tuple[Columns, Columns]:
        """The records to test on, and those to train on."""
        ...


@dataclass(frozen=True)
class Figure:
    """One measure's figure for the synthetic table and for every table that stands beside it."""

    name: str
    better: str
    by_table: Mapping[str, float]

    @property
    def synthetic(self) -> float:
        """The figure of the synthetic table."""
        return self.by_table[SYNTHETIC]

    def shown(self, table: str) -> str:
        """A table's figure as a short text; empty where the measure has none."""
        value = self.by_table.get(table)
        if value is None:
            return ""
        return (
            f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.4f}"
        )


@dataclass(frozen=True)
class Evaluation:
    """What was found; it was read from real records and is as confidential as they are."""

    figures: tuple[Figure, ...]
    rows: Mapping[str, int]
    seed: int

    def __getitem__(self, name: str) -> Figure:
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise ParameterError(
            f"no measure {name!r} was taken.", hint=f"taken: {[f.name for f in self.figures]}."
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables compared, synthetic first."""
        return tuple(dict.fromkeys(table for figure in self.figures for table in figure.by_table))

    def to_dict(self) -> dict[str, Any]:
        """Everything, in plain types."""
        figures = [{"name": f.name, "better": f.better, **f.by_table} for f in self.figures]
        return {"rows": dict(self.rows), "seed": self.seed, "measures": figures}

    def to_json(self) -> str:
        """Everything, as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        wide = max([len("measure"), *(len(figure.name) for figure in self.figures)])
        lines = [f"{'measure':{wide}}  better  " + "".join(f"{table:>13}" for table in self.tables)]
        for figure in self.figures:
            cells = (figure.by_table.get(table) for table in self.tables)
            shown = "".join(f"{'':>13}" if cell is None else f"{cell:>13.5g}" for cell in cells)
            lines.append(f"{figure.name:{wide}}  {figure.better:6}  {shown}")
        return "\n".join(lines)


def default_measures(columns: int, targets: Sequence[str] = ()) -> tuple[Measure, ...]:
    """The usual measures for a table of that many columns, and learning of each target."""
    widths = [TotalVariation(k) for k in (1, 2, 3) if k <= columns]
    pairs = [Correlation("pearson"), Correlation("cramer"), Correlation("information")] if columns > 1 else []
    models = [Propensity("logistic"), Propensity("tree")]
    return (*widths, KMarginal(min(3, columns)), *pairs, *models, *(Learning(target) for target in targets))


def evaluate_codes(
    real: Any,
    synthetic: Any,
    *,
    measures: Sequence[Measure] | None = None,
    targets: Sequence[str] = (),
    seed: int = 0,
    stage: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Every measure of `synthetic` against `real`, both tables of integer codes, and of the baselines.

    `targets` are columns to learn (see `Learning`); `measures` replaces the usual ones. The same seed gives
    the same figures. A synthetic value that is missing or not a code matches nothing. `stage` is told of
    every measure that begins.
    """
    mine = require_codes(read_columns(real, "the real table"), "the real table")
    theirs = read_columns(synthetic, "the synthetic table", list(mine))
    if isinstance(targets, str):
        raise ParameterError(f"targets {targets!r} is one text.", hint="give a list of columns.")
    for target in targets:
        if target not in mine:
            raise ParameterError(f"target {target!r} is not a column of the real table.")
    chosen = default_measures(len(mine), targets) if measures is None else tuple(measures)
    said = [
        f"measure {index + 1} of {len(chosen)}: {_title(measure)}" for index, measure in enumerate(chosen)
    ]
    whole = [index for index, measure in enumerate(chosen) if not isinstance(measure, Splits)]
    found: dict[int, dict[str, dict[str, float]]] = {index: {} for index in range(len(chosen))}
    for name, table in _beside({SYNTHETIC: theirs}, mine, [seed]) if whole else ():
        for index in whole:
            stage(f"{said[index]}, of the {name} table")
            found[index][name] = _values(chosen[index], mine, table, [seed, index])
        del table  # before the next is drawn
    for index, measure in enumerate(chosen):
        if isinstance(measure, Splits):
            stage(said[index])
            reference, source = measure.split(mine, np.random.default_rng([seed, index, 1]))
            for name, table in _beside({SYNTHETIC: theirs, REAL: source}, source, [seed, index]):
                found[index][name] = _values(measure, reference, table, [seed, index])
    figures = [
        Figure(name, measure.better, {table: values[name] for table, values in found[index].items()})
        for index, measure in enumerate(chosen)
        for name in found[index][SYNTHETIC]
    ]
    return Evaluation(tuple(figures), {REAL: rows_of(mine), SYNTHETIC: rows_of(theirs)}, seed)


def _title(measure: Measure) -> str:
    """What a measure is called while it runs."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(measure).__name__).lower()


def _beside(given: Mapping[str, Columns], source: Columns, seed: list[int]) -> Iterator[tuple[str, Columns]]:
    """The given tables, and those to stand beside the synthetic one, as large as it: drawn one after the other."""
    yield from given.items()
    rows = rows_of(given[SYNTHETIC])
    for number, (name, draw) in enumerate(BASELINES.items()):
        yield name, draw(source, rows, np.random.default_rng([*seed, 2, number]))


def _values(measure: Measure, real: Columns, table: Columns, seed: list[int]) -> dict[str, float]:
    """A measure's figures of one table; by the same randomness for all: they are asked about the same cliques."""
    with one_blas_thread():
        return measure.values(real, table, np.random.default_rng([*seed, 3]))
