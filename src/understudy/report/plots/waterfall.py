"""What a whole was spent on, step by step: each bar begins where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.report.plots.svg import fitted, picture, tag, words

ROW = 30.0


@dataclass(frozen=True)
class Step:
    """A part of the whole (0 to 1), and a figure beside it."""

    text: str
    part: float
    said: str


def waterfall(
    steps: Sequence[Step], *, title: str, description: str = "", whole: str = "all of it", width: float = 640
) -> Markup:
    """The steps from the left to the right, then the whole below them."""
    label = min(190.0, 30 + 6.6 * max((len(step.text) for step in steps), default=0))
    figure = 16 + 6.6 * max([len(whole), *(len(step.said) for step in steps)])
    room, at, inside = width - label - figure, 0.0, []
    for row, step in enumerate(steps):
        y, begin = ROW * row, label + room * at
        at = min(at + step.part, 1.0)
        inside += [
            words(label - 10, y + 19, fitted(step.text, label - 12), "t-end"),
            tag(
                "line",
                x1=label,
                y1=y + 15,
                x2=label + room,
                y2=y + 15,
                class_="s-line",
                stroke_dasharray="1 4",
            ),
            tag(
                "g",
                tag("title", f"{step.text}: {step.said}"),
                tag(
                    "rect",
                    x=begin,
                    y=y + 6,
                    width=max(room * step.part, 1.5),
                    height=18,
                    class_="f-data",
                    rx=2,
                ),
            ),
            tag("path", d=f"M{label + room * at:.1f} {y + 24:.1f}v{ROW - 18:.1f}", class_="s-edge dashed"),
            words(width, y + 19, step.said, "t-end"),
        ]
    y = ROW * len(steps)
    inside += [
        words(label - 10, y + 19, "together", "t-end t-bold"),
        tag("rect", x=label, y=y + 6, width=room, height=18, class_="f-faint", rx=2),
        words(width, y + 19, whole, "t-end t-bold"),
    ]
    return picture(inside, width, y + ROW, title=title, description=description)
