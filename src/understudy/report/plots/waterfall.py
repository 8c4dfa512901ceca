"""What a whole was spent on, step by step: each bar begins where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.report.plots.svg import picture, tag, words

ROW, THICK = 40.0, 14.0


@dataclass(frozen=True)
class Step:
    """A part of the whole (0 to 1), and a figure beside it."""

    text: str
    part: float
    said: str


def waterfall(
    steps: Sequence[Step], *, title: str, description: str = "", whole: str = "all of it"
) -> Markup:
    """The steps from the left to the right, then the whole below them."""
    at, inside = 0.0, []
    for row, step in enumerate(steps):
        y, begin = ROW * row, at
        at = min(at + step.part, 1.0)
        inside += [
            *_line(y, step.text, step.said, ""),
            tag("rect", x=0, y=y + 18, width="100%", height=THICK, class_="f-well", rx=3),
            tag(
                "g",
                tag("title", f"{step.text}: {step.said}"),
                tag(
                    "rect",
                    x=_per_cent(begin),
                    y=y + 18,
                    width=_per_cent(at - begin),
                    height=THICK,
                    class_="f-data",
                ),
            ),
        ]
    y = ROW * len(steps)
    inside += [
        *_line(y, "together", whole, " t-bold"),
        tag("rect", x=0, y=y + 18, width="100%", height=THICK, class_="f-data", rx=3),
    ]
    return picture(inside, 0, y + ROW, title=title, description=description, size="fluid")


def _line(y: float, text: str, said: str, class_: str) -> list[Markup]:
    return [
        words(0, y + 12, text, class_.strip() or None),
        tag("text", said, x="100%", y=y + 12, class_="t-end" + class_),
    ]


def _per_cent(part: float) -> str:
    return f"{100 * part:.2f}%"
