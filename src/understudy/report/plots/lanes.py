"""Where something stands between two ends that mean something: a lane a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.report.plots.svg import picture, tag, words

LANE, HEAD = 46.0, 26.0
ZERO, ONE = 20.0, 92.0  # where the two ends stand, in per cent of the width


@dataclass(frozen=True)
class Lane:
    """A measure: where it stands (0 at the left end, 1 at the right; beyond, at the rim), and a figure."""

    text: str
    at: float
    said: str


def lanes(rows: Sequence[Lane], left: str, right: str, *, title: str, description: str = "") -> Markup:
    """Every measure on its own line between the two ends; what is left of the left end is marked as bad."""
    bottom = HEAD + LANE * len(rows)
    inside = [
        tag("text", left, x=f"{ZERO}%", y=12, class_="t-soft"),
        tag("text", right, x=f"{ONE}%", y=12, class_="t-soft t-end"),
    ]
    for row, lane in enumerate(rows):
        y = HEAD + LANE * row
        place = min(max(ZERO + (ONE - ZERO) * lane.at, 1.5), 98.5)
        line, bad = y + 31, lane.at < 0
        inside += [
            words(0, y + 16, lane.text, "t-bold"),
            tag("text", lane.said, x="100%", y=y + 16, class_="t-end t-soft"),
            tag("line", x1="0%", y1=line, x2="100%", y2=line, class_="s-line", stroke_width=6),
            tag(
                "line",
                x1=f"{ZERO}%",
                y1=line,
                x2=f"{place:.1f}%",
                y2=line,
                class_="s-bad" if bad else "s-data",
                stroke_width=6,
            ),
            *(
                tag("line", x1=f"{end}%", x2=f"{end}%", y1=line - 8, y2=line + 8, class_="s-ink wide")
                for end in (ZERO, ONE)
            ),
            tag(
                "circle",
                cx=f"{place:.1f}%",
                cy=line,
                r=8,
                class_=f"{'f-bad' if bad else 'f-data'} s-card",
                stroke_width=2,
            ),
        ]
    return picture(inside, 0, bottom + 4, title=title, description=description, size="fluid")
