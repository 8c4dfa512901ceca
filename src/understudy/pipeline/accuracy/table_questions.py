"""Questions to a release, in values: counts, shares, means and quantiles, each with an interval.

What is asked is answered by the model. The interval is about the real table, and holds by what was measured of it: by
how far off the check says the model is on these columns, and by the columns' own noisy counts where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from understudy.display import html_table
from understudy.domain import Clique, Column, Domain, Schema
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.condition_truth import CodeCells, check, truth
from understudy.domain.conditions import Condition, columns_of, parse
from understudy.errors import ParameterError
from understudy.marginals import Marginal, Measurement
from understudy.mechanisms import Generator
from understudy.pipeline.accuracy.interval import Estimate, quantile
from understudy.pipeline.accuracy.known_of_table import GAP_SHARE, NOTHING, KnownOfTable
from understudy.pipeline.accuracy.sampled_answers import SampledAnswers
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.transforms.compress import Compression

WHAT = ("count", "share", "mean", "median", "quantile")
MOST_CELLS = 1 << 22  # of the table of all columns that a question is about
MOST_ROWS = 10_000  # of an answer by columns
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Queried(Protocol):
    """What a question needs of a release."""

    @property
    def schema(self) -> Schema: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def field(self) -> Generator: ...
    @property
    def compression(self) -> Compression: ...
    @property
    def measurements(self) -> tuple[Measurement, ...]: ...
    @property
    def errors(self) -> StatedErrors | None: ...

    def marginal(self, columns: Sequence[str] | str) -> Marginal: ...


@dataclass(frozen=True)
class QueryAnswers:
    """An estimate for each value, or each two values, of the columns that a question was asked by.

    Attributes:
        columns: those columns.
        rows: the values, and their estimate.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], Estimate], ...]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_(self) -> str:
        """The estimates, for a notebook."""
        shown = [[*values, f"{e.value:,.6g}", f"{e.low:,.6g}", f"{e.high:,.6g}"] for values, e in self.rows]
        return html_table("Answers", [*self.columns, "value", "low", "high"], shown)

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain JSON values."""
        return {
            "by": list(self.columns),
            "answers": [{"values": list(values), **found.to_dict()} for values, found in self.rows],
        }


def query(
    release: Queried,
    what: str,
    column: str | None,
    where: str | None,
    by: str | Sequence[str] | None,
    q: float,
    level: float,
) -> Estimate | QueryAnswers:
    """The answer to a question; see `Release.query`."""
    quantile(level)
    if what not in WHAT:
        raise ParameterError(f"what {what!r} is not known.", hint=f"write one of {', '.join(WHAT)}.")
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 < q < 1:
        raise ParameterError(f"q {q!r} is not between 0 and 1.", hint="0.5 is the median.")
    if (column is None) != (what in ("count", "share")):
        raise ParameterError(
            f"{what} {'takes no column' if column is not None else 'is of a column, and none was given'}.",
            hint="count and share are of records; mean, median and quantile of a column.",
        )
    condition = None if where is None else parse(where)
    names = () if by is None else ((by,) if isinstance(by, str) else tuple(by))
    asked, q = _Asked(release, column, condition, names, float(level)), 0.5 if what == "median" else q
    if names:
        found = ((labels, asked.answer(what, q, codes)) for codes, labels in asked.rows())
        return QueryAnswers(names, tuple((labels, answer) for labels, answer in found if answer is not None))
    answer = asked.answer(what, q, ())
    if answer is None:
        raise ParameterError("no record of this release has a number there.", hint="ask more widely.")
    return answer


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question about some columns of a release: a number's column, a condition's, and those it is asked by."""

    release: Queried
    column: str | None
    where: Condition | None
    by: tuple[str, ...]
    level: float

    def __post_init__(self) -> None:
        columns = {name: self.release.schema.columns[name] for name in self.release.domain}
        if self.where is not None:
            check(self.where, columns)
        for name in (*self.by, *([] if self.column is None else [self.column])):
            if name not in columns:
                raise ParameterError(
                    f"column {name!r} is not in the release, or is worked out or made up.",
                    hint=f"one of {', '.join(columns)}.",
                )
        if self.column is not None and self._numbers is None:
            raise ParameterError(
                f"column {self.column!r} holds no numbers.", hint="ask for a count or a share by it."
            )
        cells = math.prod(self.release.domain[name] for name in self.clique)
        if cells > MOST_CELLS:
            raise ParameterError(
                f"columns {', '.join(self.clique)} have {cells:,} cells together, more than {MOST_CELLS:,}.",
                hint="ask about fewer columns, or of a sample.",
            )

    @cached_property
    def clique(self) -> Clique:
        """All columns, each once, in the release's order."""
        wanted = {*self.by, *(() if self.where is None else columns_of(self.where))}
        wanted |= set() if self.column is None else {self.column}
        if self.where is not None:  # what a column that is modelled by a difference holds, two columns tell
            known = (self.release.schema.columns[name] for name in columns_of(self.where))
            wanted |= {column.after for column in known if isinstance(column, Difference)}
        return tuple(name for name in self.release.domain if name in wanted)

    @cached_property
    def _numbers(self) -> tuple[Floats, Floats] | None:
        """The least and the greatest number of each code of the number's column; NaN where it stands for none."""
        assert self.column is not None
        column: Column = self.release.schema.columns[self.column]
        spans = column.spans() if column.compared_as == "number" else None
        if spans is None:
            return None
        low, high = (np.append(end, np.full(column.size - len(end), np.nan)) for end in spans)
        return low.astype(np.float64), high.astype(np.float64)

    def rows(self) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
        """The codes of the columns it is asked by, but for slots that nobody is in, and their labels."""
        codes = [np.sort(self.release.compression.possible(name)).tolist() for name in self.by]
        count = math.prod(map(len, codes))
        if len(set(self.by)) < len(self.by) or count > MOST_ROWS:
            raise ParameterError(
                f"by {', '.join(self.by)}: {count:,} rows, or a column twice.",
                hint=f"ask by columns with {MOST_ROWS:,} values together at most.",
            )
        labels = [self.release.schema.columns[name].labels() for name in self.by]
        grid = np.indices([len(c) for c in codes]).reshape(len(codes), -1).T.tolist()
        return [
            (
                tuple(codes[i][place] for i, place in enumerate(places)),
                tuple(labels[i][codes[i][place]] for i, place in enumerate(places)),
            )
            for places in grid
        ]

    @cached_property
    def _table(self) -> Floats:
        if not self.clique:
            return np.array(self.release.field.total)
        return np.asarray(self.release.marginal(self.clique).counts, np.float64)

    @cached_property
    def _fulfilled(self) -> tuple[Mask, Mask]:
        """The cells whose records surely fulfil the condition, and those of which some may."""
        shape = self._table.shape
        if self.where is None:
            return np.ones(shape, np.bool_), np.ones(shape, np.bool_)
        columns = {name: self.release.schema.columns[name] for name in self.clique}
        found = truth(self.where, CodeCells(columns, self.clique))
        sure = found.true & ~found.false & ~found.unknown
        return np.broadcast_to(sure, shape), np.broadcast_to(found.true, shape)

    def _cells(self, codes: tuple[int, ...]) -> tuple[Mask, Mask]:
        """The same of records with these codes in the columns it is asked by."""
        if not codes:
            return self._fulfilled
        wanted = np.ones(self._table.shape, np.bool_)
        for name, code in zip(self.by, codes, strict=True):
            shape = [1] * wanted.ndim
            axis = self.clique.index(name)
            shape[axis] = wanted.shape[axis]
            wanted &= (np.arange(wanted.shape[axis]) == code).reshape(shape)
        sure, may = self._fulfilled
        return sure & wanted, may & wanted

    # --- answers ---------------------------------------------------------------------------------------------

    def answer(self, what: str, q: float, codes: tuple[int, ...]) -> Estimate | None:
        """The estimate of records with these codes in the columns it is asked by; None where none has a number."""
        sure, may = self._cells(codes)
        named = dict(zip(self.by, codes, strict=True)) if codes else {}
        if what in ("count", "share"):
            return self._count(sure, may, named, share=what == "share")
        return self._number(sure, may, named, None if what == "mean" else q)

    def _count(self, sure: Mask, may: Mask, codes: Mapping[str, int], *, share: bool) -> Estimate:
        table, total = self._table, max(self.release.field.total, 1.0)
        value, unclear = float(table[sure].sum()), float(table[may & ~sure].sum())
        if unclear > 0:  # as many as of the records that are drawn
            drawn = self._sampled.chosen(self.where, codes).mean() * self.release.field.total
            value = min(max(float(drawn), value), value + unclear)
        (low, high), covers = self._known.count(sure, may, self._table, self.level)
        if not math.isfinite(high):
            high, covers = max(total, value), NOTHING
        if not share:
            return _estimate(value, low, high, self.level, covers)
        least, most = self._known.total(1 - (1 - self.level) * GAP_SHARE)
        return _estimate(
            value / total,
            min(1.0, low / max(most, 1.0)),
            min(1.0, high / max(least, 1.0)),
            self.level,
            covers,
        )

    def _number(self, sure: Mask, may: Mask, codes: Mapping[str, int], q: float | None) -> Estimate | None:
        assert self.column is not None and self._numbers is not None
        axis = self.clique.index(self.column)
        others = tuple(other for other in range(self._table.ndim) if other != axis)
        masses = [np.where(cells, self._table, 0.0).sum(axis=others) for cells in (sure, may & ~sure)]
        lows, highs = self._numbers
        held = ~np.isnan(lows)
        masses = [mass[held] for mass in masses]
        lows, highs = lows[held], highs[held]
        whole = masses[0] + masses[1] / 2
        middle = (lows + highs) / 2
        if not float(whole.sum()) > 0:
            return None
        value = _mean(whole, middle) if q is None else _at(whole, middle, q)
        if (masses[1] > 0).any() or (lows < highs)[whole > 0].any():  # codes alone do not tell
            drawn = self._sampled.number(self.column, self._sampled.chosen(self.where, codes), q)
            value = value if drawn is None else drawn
        found, covers = self._known.number(sure, may, self._table, axis, self._numbers, q, self.level)
        return _estimate(value, *found, self.level, covers)

    # --- what is known of the real table -----------------------------------------------------------------------

    @cached_property
    def _known(self) -> KnownOfTable:
        return KnownOfTable(self.release, self.clique)

    @cached_property
    def _sampled(self) -> SampledAnswers:
        return SampledAnswers(self.release.schema, self.release.field, self.release.compression)


def _estimate(value: float, low: float, high: float, level: float, covers: str) -> Estimate:
    return Estimate(min(max(value, low), high), low, high, level, covers)


def _mean(mass: Floats, numbers: Floats) -> float:
    return float(mass @ numbers / mass.sum())


def _at(mass: Floats, numbers: Floats, q: float) -> float:
    """The number up to which a share q of the mass lies."""
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(mass[order])
    return float(numbers[order][min(int(np.searchsorted(ends, q * ends[-1])), len(ends) - 1)])
