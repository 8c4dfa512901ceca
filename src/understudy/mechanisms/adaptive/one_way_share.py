"""How much of the budget the columns alone are worth, forecast from a first, cheap look at them.

Columns of many codes need more: noise in them is noise in every pair. Columns of few codes need nothing beyond what
pairs say of them. Where pairs would be noise through and through, the columns get everything: independence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from understudy.domain import Clique
from understudy.mechanisms.tables.noise_price import OF_CELL, OF_NOISE, Cells, noise_price

SHARES = tuple(Fraction(step, 20) for step in range(17))
LOOKED_AT = 80  # pairs, the same for every table of so many columns
PAIRS_A_COLUMN = 1.5  # that are likely to be measured in the end
BINS_A_TENFOLD = 8  # of codes that are taken to hold alike: a column of thousands has some tens of them
LEAST = 1e-3  # of a record: codes that hold less are alike
PLENTY = 0.15  # of what pairs tell: where noise hides less, records are plenty
# Of the share forecast, which does not see that noise of a pair is passed on to others; and where noise hides more of
# what pairs tell, columns are what counts.
LESS, TELLING = Fraction(17, 20), 0.75
HOPELESS = 0.995  # of what pairs can lose at most: where noise takes this much, they are not worth measuring

Codes = tuple[Cells, Cells]  # what codes hold, and how many hold it


@dataclass(frozen=True)
class OneWayShare:
    """The share of what is left of the budget that goes to the columns alone; all of it where pairs are hopeless."""

    share: Fraction
    independent: bool
    hidden: float = 1.0  # about what part of the pairs noise would hide
    hidden_of_all: float = 1.0  # the same, were all pairs measured


ALONE = OneWayShare(Fraction(1), True)


def rounds_worth(hidden: float) -> int:
    """How many rounds pay where noise would hide such a part of a tree's pairs: few where it hides much.

    More rounds see more, and leave less of the budget for each.
    """
    return max(1, math.floor(1.7 * math.pow(max(hidden, 1e-6), -0.3) + 0.5))


def one_way_share(
    columns: Mapping[str, Cells], records: float, first: float, whole: float, counts: Sequence[int] = ()
) -> OneWayShare:
    """The share of least forecast error.

    Parameters:
        columns: what is thought to be in each column's codes.
        records: how many records there are.
        first: the scale of the noise that the columns were looked at with.
        whole: the scale of one marginal's noise if all that is left were spent on it.
        counts: how many cliques each round would choose, if there were as many.
    """
    pairs = _some_pairs(tuple(columns))
    if not pairs:
        return ALONE
    records = max(records, 1.0)
    columns = {name: _adding_up(cells, records) for name, cells in columns.items()}
    paired = {name: columns[name] for name in dict.fromkeys(itertools.chain.from_iterable(pairs))}
    alike = {name: _alike(cells) for name, cells in paired.items()}
    expected = [_expected(alike[a], alike[b], records) for a, b in pairs]
    filled = {
        name: max(2.0, float(np.minimum(cells / (OF_NOISE * first), 1).sum()))
        for name, cells in paired.items()
    }
    # A pair is asked for what its columns do not say alone (`beyond_known`).
    parts = [math.sqrt((1 - 1 / filled[a]) * (1 - 1 / filled[b])) for a, b in pairs]
    # All columns' codes in one array, and all pairs' cells: a sum over them is the same as one of each one's sums.
    codes = np.concatenate(list(columns.values()))
    cells = np.concatenate([held for held, _ in expected])
    times = np.concatenate([several for _, several in expected])
    of_noise = np.repeat(parts, [held.size for held, _ in expected])

    @cache
    def of_columns(share: Fraction) -> float:
        scale = (first**-2 + float(share) * whole**-2 / len(columns)) ** -0.5
        return float(np.minimum(codes, OF_NOISE * scale).sum()) / len(columns)

    def forecast(share: Fraction, measured: float) -> tuple[float, float]:
        """The error of columns, and of pairs of which so many are measured, in records."""
        scale = whole * math.sqrt(measured / (1 - float(share)))
        return of_columns(share), noise_price(cells, scale * of_noise, times) / len(pairs)

    def hides(measured: float) -> float:
        """About what part of the pairs noise would hide, at the best share."""
        found = (forecast(share, measured) for share in SHARES)
        return min((alone + pair / 2, pair) for alone, pair in found)[1] / (OF_CELL * records)

    few = PAIRS_A_COLUMN * (len(columns) - 1)
    hidden = hides(few)
    if hidden > HOPELESS:
        return OneWayShare(Fraction(1), True, hidden)
    # Where records are plenty for their noise, what no marginal tells is the larger error: more of them is better.
    weight = min(1.0, math.pow(hidden / PLENTY, 0.25))
    many = max(few, float(sum(counts[: rounds_worth(hidden)])))

    def error(share: Fraction) -> float:
        alone, pair = forecast(share, many)
        return weight * alone + pair / 2

    least = min(SHARES, key=error)
    of_all = hides(math.comb(len(columns), 2))
    return OneWayShare(LESS * least if hidden < TELLING else least, False, hidden, of_all)


def _adding_up(cells: Cells, records: float) -> Cells:
    """What a column's codes hold if they hold all records together: of few records, noise says any sum."""
    held = np.maximum(cells, 0.0)
    total = float(held.sum())
    return held * (records / total) if total > LEAST else np.full(held.size, records / held.size)


def _alike(cells: Cells) -> Codes:
    """A column's codes in bins of about as many records each: what one holds in the mean, and how many there are."""
    held = np.maximum(cells, 0.0)
    place = np.round(BINS_A_TENFOLD * np.log10(np.maximum(held, LEAST))).astype(np.int64)
    _, bins = np.unique(place, return_inverse=True)
    codes = np.bincount(bins).astype(np.float64)
    return np.bincount(bins, weights=held) / codes, codes


def _expected(first: Codes, second: Codes, records: float) -> Codes:
    """The cells of a pair whose columns do not depend on each other, those alike together."""
    held = np.multiply.outer(first[0], second[0]).reshape(-1) / records
    return held, np.multiply.outer(first[1], second[1]).reshape(-1)


def _some_pairs(names: Clique) -> list[tuple[str, str]]:
    """All pairs of columns, or some of them where they are many: decided by their number alone."""
    number = math.comb(len(names), 2)
    if number <= LOOKED_AT:
        return list(itertools.combinations(names, 2))
    places = np.random.default_rng(0).choice(number, LOOKED_AT, replace=False)
    # Of all pairs in the order of `combinations`: where those begin that have this column first.
    begin = np.cumsum([0, *range(len(names) - 1, 1, -1)])
    one = np.searchsorted(begin, places, side="right") - 1
    two = places - begin[one] + one + 1
    return [(names[a], names[b]) for a, b in zip(one.tolist(), two.tolist(), strict=True)]
