"""Where something stands between two ends that mean something: a lane a measure, a shape a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.report.plots.svg import fitted, picture, tag, words

LANE = 40.0


@dataclass(frozen=True)
class Lane:
    """A measure: where it stands (0 at the left end, 1 at the right; beyond, at the rim), and a figure."""

    text: str
    at: float
    said: str


def lanes(
    rows: Sequence[Lane],
    left: str,
    right: str,
    *,
    title: str,
    description: str = "",
    width: float = 640,
    beyond: float = 0.15,
) -> Markup:
    """Every measure on its own line between the two ends; what is left of the left end stands on red ground."""
    margin, room = 6.0, width - 12
    zero, one = margin + room * beyond, margin + room * (1 - beyond / 3)
    inside = [
        words(zero, 14, left, "t-soft"),
        words(one, 14, right, "t-soft t-end"),
        tag("path", d=f"M{zero:.1f} 20V{24 + LANE * len(rows):.1f}", class_="s-edge dashed"),
        tag("path", d=f"M{one:.1f} 20V{24 + LANE * len(rows):.1f}", class_="s-edge dashed"),
    ]
    for row, lane in enumerate(rows):
        y = 24 + LANE * row
        place = min(max(zero + (one - zero) * lane.at, margin + 7), width - margin - 7)
        line = y + 27
        bad = lane.at < 0
        reach = f"M{zero:.1f} {line:.1f}H{place:.1f}"
        inside += [
            words(margin, y + 14, fitted(lane.text, width - 150), "t-bold"),
            words(width - margin, y + 14, lane.said, "t-end t-soft"),
            tag("line", x1=margin, y1=line, x2=width - margin, y2=line, class_="s-line", stroke_width=6),
            tag("path", d=reach, class_="s-other" if bad else "s-data", stroke_width=6),
            tag(
                "circle",
                cx=place,
                cy=line,
                r=7,
                class_="f-bad s-card" if bad else "f-data s-card",
                stroke_width=2,
            ),
        ]
    return picture(inside, width, 28 + LANE * len(rows), title=title, description=description)
