"""Which columns were measured together, how far each pair stands above its noise, and the pairs as heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from markupsafe import Markup

from understudy.report.column_cards import WIDTH, card_id
from understudy.report.completed_pairs import CompletedPair
from understudy.report.measured_codes import NoisyTable, code_groups, pair_table
from understudy.report.plots.heat_map import heat_map
from understudy.report.plots.network import Edge, network
from understudy.report.released import Released
from understudy.report.signal import UNKNOWN, Signal, signal_to_noise

CELLS = 14  # rows and columns of a heat map at most
MAPS = 120  # heat maps on a page at most; the strongest
STRONG, CLEAR = 2.0, 0.5  # ratios of signal to noise
Strength = Literal["strong", "clear", "faint"]


@dataclass(frozen=True)
class MeasuredPair:
    """Two columns that were measured together, perhaps with others, and how far they stand above noise."""

    first: str
    second: str
    signal: Signal
    within: int  # columns of the smallest measured set that has both

    @property
    def ratio(self) -> float:
        """Its signal to noise; NaN where it is not known."""
        return self.signal.ratio

    @property
    def strength(self) -> Strength:
        """Whether it stands far above its noise, or at all: above what noise alone may well do."""
        if math.isnan(self.ratio):
            return "clear"
        if self.ratio < max(CLEAR, self.signal.by_chance):
            return "faint"
        return "strong" if self.ratio >= STRONG else "clear"

    @property
    def line(self) -> float | None:
        """How wide its line in the graph is: a step for every doubling; None where it is lost in noise."""
        if math.isnan(self.ratio):
            return 1.5
        return None if self.strength == "faint" else min(1.5 + 0.75 * math.log2(self.ratio / CLEAR), 8.0)

    @property
    def word(self) -> str:
        """Its strength, for a person."""
        if math.isnan(self.ratio):
            return "not known"
        return {"strong": "strong", "clear": "clear", "faint": "lost in noise"}[self.strength]

    @property
    def figure(self) -> str:
        """Its ratio of signal to noise, as text."""
        return "" if math.isnan(self.ratio) else f"{self.ratio:.1f}"


@dataclass(frozen=True)
class PairMap:
    """A measured pair as a picture, and what is said below it."""

    pair: MeasuredPair
    picture: Markup
    note: str


def measured_pairs(release: Released) -> list[MeasuredPair]:
    """Every pair of columns that some measured set has, the strongest first."""
    within: dict[tuple[str, str], int] = {}
    for clique in release.cliques:
        for one, other in combinations(clique, 2):
            pair = (one, other) if (other, one) not in within else (other, one)
            within[pair] = min(within.get(pair, len(clique)), len(clique))
    found = [MeasuredPair(*pair, _signal(release, pair), size) for pair, size in within.items()]
    return sorted(found, key=lambda pair: -math.inf if math.isnan(pair.ratio) else -pair.ratio)


def _signal(release: Released, pair: tuple[str, str]) -> Signal:
    """How far the pair's noisy counts lie from those of independent columns, beside noise."""
    table = pair_table(release, pair)
    if table is None:
        return UNKNOWN
    alone = [np.asarray(release.field.marginal((name,)).counts, np.float64) for name in pair]
    expected = np.outer(*alone) / max(float(alone[0].sum()), 1.0)
    if isinstance(table, CompletedPair):
        return table.signal_to_noise(expected)
    return signal_to_noise(table.values - expected, table.stddev**2)


def graph_of(release: Released, pairs: Sequence[MeasuredPair]) -> Markup:
    """Columns as names that lead to their cards, joined where they were measured together."""
    names = list(release.domain)
    place = {name: i for i, name in enumerate(names)}
    edges = [
        Edge(
            place[p.first],
            place[p.second],
            p.line,
            f"{p.first} and {p.second}: {p.word} {p.figure}".strip(),
        )
        for p in reversed(pairs)
    ]
    strong = [f"{pair.first} and {pair.second}" for pair in pairs[:5]]
    said = f"{len(names)} columns, {len(pairs)} pairs measured together"
    return network(
        names,
        edges,
        [f"#{card_id(i)}" for i in range(len(names))],
        title="Graph of what was measured",
        description=f"{said}. The strongest: {', '.join(strong)}. The list has them all." if strong else said,
    )


def pair_maps(release: Released, pairs: Sequence[MeasuredPair]) -> list[PairMap]:
    """The strongest pairs whose counts were measured, as heat maps."""
    found: list[PairMap] = []
    for pair in pairs:
        table = pair_table(release, (pair.first, pair.second)) if len(found) < MAPS else None
        if table is not None:
            found.append(_map(release, pair, table))
    return found


def _map(release: Released, pair: MeasuredPair, table: NoisyTable | CompletedPair) -> PairMap:
    groups = [code_groups(release, name, CELLS) for name in (pair.first, pair.second)]
    drawn = table.grouped(0, groups[0]).grouped(1, groups[1])
    below = drawn.values < WIDTH * drawn.stddev
    rows, columns = ([group.text for group in some] for some in groups)
    kept = int((~below).sum())
    y, x = np.unravel_index(int(np.argmax(drawn.values)), drawn.values.shape)
    return PairMap(
        pair,
        heat_map(
            np.maximum(drawn.values, 0.0),
            rows,
            columns,
            title=f"{pair.first} by {pair.second}, as measured",
            description=f"Most records: {rows[y]} and {columns[x]}, about {drawn.values[y, x]:,.0f}",
            muted=below,
            unit=" records",
        ),
        f"{kept} of {below.size} cells are more than noise (give or take "
        f"{WIDTH * float(np.median(drawn.stddev)):,.0f} records).",
    )
