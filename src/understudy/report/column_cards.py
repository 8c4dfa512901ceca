"""Each column of a report: bars of the model, whiskers of what was measured, hatching where codes were merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from markupsafe import Markup

from understudy.domain import Column
from understudy.report.code_groups import CodeGroup
from understudy.report.measured_codes import NoisyTable, code_groups, noisy_table
from understudy.report.plots.bar_rows import BarRow, bar_rows
from understudy.report.plots.line_plot import spark_text
from understudy.report.released import Released

BARS = 24
WIDTH = NormalDist().inv_cdf(0.975)  # standard deviations that a whisker has on either side: 95%


@dataclass(frozen=True)
class ColumnCard:
    """What is said and drawn of one column; `id` names its place on the page."""

    id: str
    name: str
    type: str
    description: str
    picture: Markup
    rows: tuple[tuple[str, ...], ...]  # the figures of the picture: value, records, share, measured, noise
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    spark: str
    merged: int


def column_cards(release: Released, warnings: dict[str, list[str]]) -> list[ColumnCard]:
    """A card for every column, in the table's order."""
    return [_card(release, name, place, warnings.get(name, [])) for place, name in enumerate(release.domain)]


def card_id(place: int) -> str:
    """What a column's card is called in links."""
    return f"column-{place + 1}"


def _card(release: Released, name: str, place: int, warnings: Sequence[str]) -> ColumnCard:
    column = release.schema.columns[name]
    groups = code_groups(release, name, BARS)
    counts = np.asarray(release.field.marginal((name,)).counts, np.float64)
    measured = noisy_table(release, (name,))
    known = None if measured is None else measured.grouped(0, groups)
    total = max(float(counts.sum()), 1.0)
    bars, rows = [], []
    for row, group in enumerate(groups):
        about = float(counts[list(group.codes)].sum())
        found = None if known is None else (float(known.values[row]), WIDTH * float(known.stddev[row]))
        bars.append(_bar(group, about, total, found))
        rows.append(_figures(group, about, total, found))
    largest = max(bars, key=lambda bar: bar.value, default=None)
    said = f"{len(bars)} bars; the longest is {largest.text}, {largest.said}" if largest else "no values"
    return ColumnCard(
        card_id(place),
        name,
        column.type,
        column.description,
        bar_rows(bars, title=f"Column {name}", description=said),
        tuple(rows),
        tuple(_notes(release, column, name, groups, measured, total)),
        tuple(warnings),
        spark_text([bar.value for bar in bars]),
        sum(group.merged for group in groups),
    )


def _bar(group: CodeGroup, about: float, total: float, found: tuple[float, float] | None) -> BarRow:
    said = f"about {about:,.0f} records ({about / total:.1%})"
    low = high = None
    if found is not None:
        value, width = found
        low, high = value - width, value + width
        said += f"; measured {value:,.0f}, give or take {width:,.0f}"
    if group.spread:
        said += f"; {group.merged:,} values measured as one"
    return BarRow(group.text, about, said, low, high, "hatch" if group.spread else "data")


def _figures(
    group: CodeGroup, about: float, total: float, found: tuple[float, float] | None
) -> tuple[str, ...]:
    measured = ("", "") if found is None else (f"{found[0]:,.0f}", f"\N{PLUS-MINUS SIGN}{found[1]:,.0f}")
    return (group.text, f"{about:,.0f}", f"{about / total:.1%}", *measured)


def _notes(
    release: Released,
    column: Column,
    name: str,
    groups: Sequence[CodeGroup],
    measured: NoisyTable | None,
    total: float,
) -> list[str]:
    said = []
    behind = release.compression.behind(name)
    merged = int(behind[behind > 1].sum())
    if merged:
        cells = int((behind > 1).sum())
        shared = "by what noise let see of each" if name in release.compression.weights else "evenly"
        said.append(
            f"{merged:,} of its {int(behind.sum()):,} values were too rare to be measured apart: they were measured "
            f"as {cells:,} number{'s' if cells > 1 else ''}, and records are spread over them {shared}. Do not read "
            "anything into differences between them."
        )
    if measured is None:
        said.append("It was not measured on its own, so its noise is not known here.")
    else:
        noise = WIDTH * float(np.median(measured.stddev))
        said.append(
            f"Noise: give or take {noise:,.0f} records in a typical count, {noise / total:.2%} of the table."
        )
    others = next((group for group in groups if group.text.endswith("other values")), None)
    if others is not None:
        said.append(
            f"The {len(groups) - 1} most frequent are drawn, and the other {others.values:,} values as one bar."
        )
    return said
