"""Bars in rows, with a text beside each: whiskers where the noise is known, hatching where nothing was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from understudy.report.plots.svg import fitted, picture, tag, words

Fill = Literal["data", "other", "faint", "hatch"]
ROW, THICK = 18.0, 11.0


@dataclass(frozen=True)
class BarRow:
    """A value, and what its noise leaves open (`low` to `high`, None where nobody knows); `said` is its figure."""

    text: str
    value: float
    said: str
    low: float | None = None
    high: float | None = None
    fill: Fill = "data"
    mark: float | None = None  # where something else stands that it is compared with


def bar_rows(
    bars: Sequence[BarRow],
    *,
    title: str,
    description: str = "",
    width: float = 272,
    label: float = 106,
    class_: str = "",
) -> Markup:
    """One row a bar; the longest bar, whisker or mark fills the width."""
    room = width - label - 8
    top = max([0.0, *(max(b.value, b.high or 0.0, b.mark or 0.0) for b in bars)]) or 1.0
    inside = [tag("line", x1=label, y1=0, x2=label, y2=ROW * len(bars), class_="s-line")]
    for row, bar in enumerate(bars):
        y = ROW * row
        inside.append(tag("g", tag("title", f"{bar.text}: {bar.said}"), *_row(bar, y, label, room / top)))
    return picture(
        inside, width, max(ROW * len(bars), 1.0), title=title, description=description, class_=class_
    )


def _row(bar: BarRow, y: float, left: float, unit: float) -> list[Markup]:
    middle, long = y + ROW / 2, max(bar.value, 0.0) * unit
    drawn = [
        words(left - 6, middle + 4, fitted(bar.text, left - 8), "t-end"),
        tag("rect", x=0, y=y, width=left + 1, height=ROW, fill_opacity=0),  # to be pointed at
    ]
    if long > 0:
        outlined = "f-hatch o-data" if bar.fill == "hatch" else f"f-{bar.fill}"
        drawn.append(
            tag(
                "rect",
                x=left,
                y=y + (ROW - THICK) / 2,
                width=max(long, 1.0),
                height=THICK,
                class_=outlined,
                rx=1,
            )
        )
    if bar.low is not None and bar.high is not None:
        low, high = left + max(bar.low, 0.0) * unit, left + max(bar.high, 0.0) * unit
        path = (
            f"M{low:.1f} {middle - 4:.1f}v8M{low:.1f} {middle:.1f}H{high:.1f}M{high:.1f} {middle - 4:.1f}v8"
        )
        drawn.append(tag("path", d=path, class_="s-ink"))
    if bar.mark is not None:
        drawn.append(
            tag("path", d=f"M{left + bar.mark * unit:.1f} {y + 2:.1f}v{ROW - 4:.1f}", class_="s-other wide")
        )
    return drawn


@dataclass(frozen=True)
class TwoBars:
    """Two values of one thing, one above the other."""

    text: str
    first: float
    second: float
    said: str


def paired_rows(
    bars: Sequence[TwoBars], *, title: str, description: str = "", width: float = 272, label: float = 100
) -> Markup:
    """Two thin bars a row: the first in the colour of what it is compared with, hatched; the second plain."""
    room, row = width - label - 8, 22.0
    top = max([0.0, *(max(b.first, b.second) for b in bars)]) or 1.0
    inside = [tag("line", x1=label, y1=0, x2=label, y2=row * len(bars), class_="s-line")]
    for place, bar in enumerate(bars):
        y = row * place
        inside.append(
            tag(
                "g",
                tag("title", f"{bar.text}: {bar.said}"),
                words(label - 6, y + row / 2 + 4, fitted(bar.text, label - 8), "t-end"),
                tag("rect", x=0, y=y, width=label + 1, height=row, fill_opacity=0),
                tag("rect", x=label, y=y + 3, width=room * bar.first / top, height=8, class_="f-other"),
                tag("rect", x=label, y=y + 11, width=room * bar.second / top, height=8, class_="f-data"),
            )
        )
    return picture(inside, width, max(row * len(bars), 1.0), title=title, description=description)
