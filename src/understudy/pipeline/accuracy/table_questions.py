"""Questions to a release, in values: counts, shares, means and quantiles, each with an interval.

What is asked is answered by the model. The interval is about the real table, and holds by what was measured of it: by
how far off the check says the model is on these columns, and by the columns' own noisy counts where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
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
from understudy.pipeline.accuracy.direct_counts import DirectCounts
from understudy.pipeline.accuracy.interval import Estimate, quantile
from understudy.pipeline.accuracy.sampled_answers import SampledAnswers
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.pipeline.accuracy.worst_case import NOTHING_KNOWN, Reach, least_ratio
from understudy.transforms.compress import Compression

WHAT = ("count", "share", "mean", "median", "quantile")
MOST_CELLS = 1 << 22  # of the table of all columns that a question is about
MOST_ROWS = 10_000  # of an answer by columns
GAP_SHARE = 0.1  # of the chance that an interval fails: what the number of records may take
NOTHING = "nothing: these columns were neither checked nor measured together"
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
        between, covers = self._between(sure, may)
        low, high = max(0.0, between[0]), between[1]
        if not math.isfinite(high):
            high, covers = max(total, value), NOTHING
        if not share:
            return _estimate(value, low, high, self.level, covers)
        least, most = self._total(1 - (1 - self.level) * GAP_SHARE)
        return _estimate(
            value / total,
            min(1.0, low / max(most, 1.0)),
            min(1.0, high / max(least, 1.0)),
            self.level,
            covers,
        )

    def _between(self, sure: Mask, may: Mask) -> tuple[tuple[float, float], str]:
        """Between what the real count lies: by the columns' own noisy counts, by the check, the narrower of both."""
        if not self.clique:
            return self._total(self.level), "the noise of the measured columns"
        pairs = self._pairs
        fails = (1 - self.level) * (1 - GAP_SHARE) / (1 + bool(pairs))
        direct = self._direct.count(self.clique, sure, may, 1 - fails)
        found = [] if direct is None else [direct]
        for pair in pairs:
            reach = self._reach(pair, fails / len(pairs))
            axes = tuple(axis for axis, name in enumerate(self.clique) if name not in pair)
            within, touched = sure.all(axis=axes).ravel(), may.any(axis=axes).ravel()
            # Of a pair's cell all records count, or some, or none.
            expected = self._table.sum(axis=axes).ravel()
            found.append(
                (
                    reach.least(*_grouped(expected, within.astype(np.float64))),
                    -reach.least(*_grouped(expected, -touched.astype(np.float64))),
                )
            )
        everyone = self._total(1 - (1 - self.level) * GAP_SHARE)[1]
        low, high = max([0.0, *(f[0] for f in found)]), min([everyone, *(f[1] for f in found)])
        if not low <= high:  # one of them failed; the widest says most
            low = min((f[0] for f in found), default=0.0)
            high = max((f[1] for f in found), default=0.0)  # of a total below zero
        return (low, high), self._covers(direct is not None, pairs)

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
        least, most = float(lows.min()), float(highs.max())
        direct = None
        if q is None and len(self.clique) == 1 and self.where is None and not self.by:
            direct = self._direct.mean(self.column, *self._numbers, 1 - (1 - self.level) / 2)
        pairs = self._pairs if len(self.clique) <= 2 else []
        reach = self._reach(pairs[0], (1 - self.level) / (2 if direct else 1)) if pairs else NOTHING_KNOWN
        if not math.isfinite(most - least) or not (pairs or direct):
            return _estimate(value, least, most, self.level, NOTHING)
        expected = np.concatenate(masses)

        def holds(bound: float, sign: float) -> bool:
            """Whether no table within reach has a mean, or quantile, below the bound (above it, for a sign of -1)."""
            ends = lows if sign > 0 else highs
            weights = sign * (ends - bound) if q is None else _below(ends, bound, q, sign)
            return reach.least(expected, np.concatenate([weights, np.minimum(weights, 0.0)])) >= 0

        low, high = least, most
        if math.isfinite(reach.distance):
            low = least_ratio(lambda bound: holds(bound, 1.0), least, most)
            high = -least_ratio(lambda bound: holds(-bound, -1.0), -most, -least)
        if direct is not None and max(low, direct[0]) <= min(high, direct[1]):
            low, high = max(low, direct[0]), min(high, direct[1])
        return _estimate(value, low, high, self.level, self._covers(direct is not None, pairs))

    # --- what is known of the real table -----------------------------------------------------------------------

    @cached_property
    def _direct(self) -> DirectCounts:
        return DirectCounts(self.release.measurements, self.release.compression, self.release.domain)

    @cached_property
    def _sampled(self) -> SampledAnswers:
        return SampledAnswers(self.release.schema, self.release.field, self.release.compression)

    @cached_property
    def _pairs(self) -> list[Clique]:
        """The checked pairs that say something of the columns: those among them; of one alone, its smallest pair."""
        errors = self.release.errors
        if errors is None or not self.clique:
            return []
        if len(self.clique) == 1:
            holding = [pair for pair in errors.pairs if self.clique[0] in pair]
            return sorted(holding, key=self.release.domain.size)[:1]
        among = {frozenset(pair) for pair in combinations(self.clique, 2)}
        return [pair for pair in errors.pairs if frozenset(pair) in among]

    def _reach(self, pair: Clique, fails: float) -> Reach:
        """How far the real counts of a pair are from the model's, but for a chance of `fails`."""
        errors = self.release.errors
        assert errors is not None
        # Only that it is not further is of use: so the whole chance is for that side.
        found = errors.distance(pair, 1 - 2 * fails * (1 - GAP_SHARE))
        assert found is not None
        least, most = self._total(1 - fails * GAP_SHARE)
        total = self.release.field.total
        return Reach(found.high, max(abs(total - least), abs(most - total)))

    def _total(self, level: float) -> tuple[float, float]:
        found = self._direct.total(level)
        return (0.0, math.inf) if found is None else (max(0.0, found[0]), found[1])

    def _covers(self, direct: bool, pairs: Sequence[Clique]) -> str:
        if not direct and not pairs:
            return NOTHING
        known = ["their own noisy counts"] if direct else []
        known += (
            ["the check of their pairs" if len(self.clique) > 1 else "the check of a pair"] if pairs else []
        )
        return f"noise, and what the model leaves out: by {' and '.join(known)}"


def _grouped(expected: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Cells of one weight together: what they expect in all, and their weight."""
    kinds, places = np.unique(weights, return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=expected, minlength=len(kinds))
    return sums.astype(np.float64), kinds


def _estimate(value: float, low: float, high: float, level: float, covers: str) -> Estimate:
    return Estimate(min(max(value, low), high), low, high, level, covers)


def _mean(mass: Floats, numbers: Floats) -> float:
    return float(mass @ numbers / mass.sum())


def _at(mass: Floats, numbers: Floats, q: float) -> float:
    """The number up to which a share q of the mass lies."""
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(mass[order])
    return float(numbers[order][min(int(np.searchsorted(ends, q * ends[-1])), len(ends) - 1)])


def _below(ends: Floats, bound: float, q: float, sign: float) -> Floats:
    """Weights whose sum is 0 or more where the quantile is not below a bound (not above it, for a sign of -1)."""
    if sign > 0:  # at most a share q lies below it
        return np.where(ends < bound, q - 1, q)
    return np.where(ends <= bound, 1 - q, -q)  # at least a share q lies up to it
