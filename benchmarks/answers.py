"""Questions of many kinds to one release, whose true answers are known here: how often their intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import understudy as us

Codes = Mapping[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]
FEW = 3  # values from which on a column has a mean or a quantile worth asking for
LEAST = 20  # records that a mean or a quantile is asked of, at the least


@dataclass(frozen=True)
class Held:
    """One question's interval beside the truth. Widths and misses are shares of records, or of a column's range."""

    kind: str
    holds: bool
    half_width: float
    miss: float  # how far off the answer itself was


def asked(release: us.Release, records: Codes, each: int, seed: int) -> list[Held]:
    """So many questions of each kind, drawn by a seed. Codes of the records are their values."""
    ask = _Asker(release, records, np.random.default_rng(seed))
    return [found for kind in KINDS for _ in range(each) if (found := ask.one(kind)) is not None]


class _Asker:
    def __init__(self, release: us.Release, records: Codes, draw: np.random.Generator) -> None:
        self._release, self._records, self._draw = release, records, draw
        self._names = release.domain.names
        self._rows = len(next(iter(records.values())))
        together = {frozenset(pair) for clique in release.cliques for pair in _pairs(clique)}
        every = [frozenset(pair) for pair in _pairs(self._names)]
        self._measured = [tuple(sorted(pair)) for pair in every if pair in together]
        self._unmeasured = [tuple(sorted(pair)) for pair in every if pair not in together]

    def one(self, kind: str) -> Held | None:
        """A question of this kind; None where the release has none."""
        return KINDS[kind](self, kind)

    def count(self, kind: str, names: tuple[str, ...] | None, what: str = "count") -> Held | None:
        """How many records have some codes of each of these columns."""
        if names is None:
            return None
        where, chosen = self._where(names)
        found, true = self._release.query(what, where=where), float(chosen.sum())
        by = 1.0 if what == "share" else float(self._rows)
        true = true / self._rows if what == "share" else true
        return _held(kind, found, true, by)

    def number(self, kind: str, q: float | None, conditions: int) -> Held | None:
        """The mean of a column, or a quantile, of all records or of those with some codes of other columns."""
        named = self._some(1, lambda name: len(np.unique(self._records[name])) >= FEW)
        if named is None:
            return None
        others = tuple(name for name in self._names if name != named[0])
        where, chosen = None, np.ones(self._rows, np.bool_)
        if conditions:
            where, chosen = self._where(tuple(self._draw.choice(others, conditions, replace=False).tolist()))
        values = self._records[named[0]][chosen]
        if len(values) < LEAST:
            return None
        true = float(values.mean() if q is None else np.quantile(values, q, method="inverted_cdf"))
        what = {"what": "mean"} if q is None else {"what": "quantile", "q": q}
        found = self._release.query(column=named[0], where=where, **what)
        return _held(kind, found, true, float(np.ptp(self._records[named[0]])))

    def regression(self, kind: str, count: int) -> Held | None:
        """A regression of a column on so many others: holds where all coefficients do; as wide as the widest slope.

        Slopes are in ranges of the column on the left, as the other goes from one end of its range to the other.
        """
        named = self._some(count + 1, lambda name: float(np.ptp(self._records[name])) > 0)
        if named is None:
            return None
        left, *on = named
        found = self._release.regress(left, on=on)
        matrix = np.column_stack([np.ones(self._rows), *(self._records[name] for name in on)])
        true = np.linalg.lstsq(matrix, self._records[left].astype(float), rcond=None)[0].tolist()
        each = [_held(kind, e, x, 1.0) for (_, e), x in zip(found, true, strict=True)]
        whole = float(np.ptp(self._records[left]))
        scales = [float(np.ptp(self._records[name])) / whole for name in on]
        slopes = list(zip(each[1:], scales, strict=True))
        return Held(
            kind,
            all(one.holds for one in each),
            max(one.half_width * scale for one, scale in slopes),
            max(one.miss * scale for one, scale in slopes),
        )

    def some(self, count: int) -> tuple[str, ...] | None:
        """So many columns."""
        return self._some(count, lambda name: True)

    def pair(self, *, measured: bool) -> tuple[str, ...] | None:
        """Two columns that were measured together, or were not."""
        pairs = self._measured if measured else self._unmeasured
        return pairs[int(self._draw.integers(len(pairs)))] if pairs else None

    def _some(self, count: int, fits: Callable[[str], bool]) -> tuple[str, ...] | None:
        names = [name for name in self._names if fits(name)]
        return tuple(self._draw.choice(names, count, replace=False).tolist()) if len(names) >= count else None

    def _where(self, names: tuple[str, ...]) -> tuple[str, Mask]:
        """A condition on these columns, and which records fulfil it: a range of codes, or a few of them."""
        parts, chosen = [], np.ones(self._rows, np.bool_)
        for name in names:
            column = self._records[name]
            seen = np.unique(column)
            if len(seen) > FEW and self._draw.random() < 0.5:
                low, high = np.sort(self._draw.choice(seen, 2, replace=False)).tolist()
                parts.append(f'"{name}" >= {low} and "{name}" <= {high}')
                chosen &= (column >= low) & (column <= high)
            else:
                some = self._draw.choice(
                    seen, 1 + int(self._draw.integers(max(1, len(seen) // 2))), replace=False
                )
                parts.append(f'"{name}" in ({", ".join(map(str, some.tolist()))})')
                chosen &= np.isin(column, some)
        return " and ".join(parts), chosen


KINDS: dict[str, Callable[[_Asker, str], Held | None]] = {
    "counts of one column": lambda ask, kind: ask.count(kind, ask.some(1)),
    "counts of two, measured together": lambda ask, kind: ask.count(kind, ask.pair(measured=True)),
    "counts of two, not measured": lambda ask, kind: ask.count(kind, ask.pair(measured=False)),
    "counts of three columns": lambda ask, kind: ask.count(kind, ask.some(3)),
    "shares of two columns": lambda ask, kind: ask.count(kind, ask.some(2), "share"),
    "means": lambda ask, kind: ask.number(kind, None, 0),
    "means under a condition": lambda ask, kind: ask.number(kind, None, 1),
    "medians": lambda ask, kind: ask.number(kind, 0.5, 0),
    "quantiles .9 under a condition": lambda ask, kind: ask.number(kind, 0.9, 1),
    "means under two conditions": lambda ask, kind: ask.number(kind, None, 2),
    "regressions on one column": lambda ask, kind: ask.regression(kind, 1),
    "regressions on two": lambda ask, kind: ask.regression(kind, 2),
}


def _held(kind: str, found: us.Estimate, true: float, whole: float) -> Held:
    near = 1e-9 * max(1.0, abs(true))
    holds = found.low - near <= true <= found.high + near
    return Held(kind, holds, (found.high - found.low) / 2 / whole, abs(found.value - true) / whole)


def _pairs(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
