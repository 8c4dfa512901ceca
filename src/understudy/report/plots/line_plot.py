"""Lines: of one thing over another with axes, and small ones of text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from understudy.report.plots.svg import picture, tag, words

BLOCKS = "▁▂▃▄▅▆▇█"


def spark_text(values: Sequence[float]) -> str:
    """Numbers as blocks of text, the largest a full one: for terminals."""
    top = max(values, default=0.0)
    if top <= 0:
        return BLOCKS[0] * len(values)
    return "".join(BLOCKS[min(int(max(value, 0.0) / top * len(BLOCKS)), len(BLOCKS) - 1)] for value in values)


def line_plot(
    across: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    across_said: str,
    up_said: str,
    description: str = "",
    width: float = 640,
    height: float = 300,
) -> Markup:
    """One line or two of numbers over others, both axes named and with their ends written out."""
    left, foot, head = 56.0, 40.0, 22.0
    every = [value for _, values in lines for value in values]
    low, high = min([0.0, *every]), max(every, default=1.0) or 1.0
    room, tall = width - left - 12, height - foot - head
    inside = [
        words(0, 12, up_said, "t-soft"),
        words(width - 12, height - 4, across_said, "t-soft t-end"),
        tag("path", d=f"M{left:.1f} {head:.1f}v{tall:.1f}h{room:.1f}", class_="s-edge"),
        words(left - 6, head + 8, f"{high:,.3g}", "t-end"),
        words(left - 6, head + tall, f"{low:,.3g}", "t-end"),
        words(left, height - foot + 16, f"{min(across, default=0):,.3g}", "t-mid"),
        words(left + room, height - foot + 16, f"{max(across, default=1):,.3g}", "t-end"),
    ]
    for place, (text, values) in enumerate(lines):
        kind = ("s-data wide", "s-other wide dashed")[min(place, 1)]
        path = _points(across, values, left, head, room, tall, low, high)
        inside += [
            tag("path", d=path, class_=kind),
            tag("path", d=f"M{left + 120 * place + 10:.1f} {height - 8:.1f}h20", class_=kind),
            words(left + 120 * place + 36, height - 4, text),
        ]
    return picture(inside, width, height, title=title, description=description)


def _points(
    across: Sequence[float],
    up: Sequence[float],
    left: float,
    head: float,
    room: float,
    tall: float,
    low: float | None = None,
    high: float | None = None,
) -> str:
    if not up:
        return ""
    bottom, top = min(up) if low is None else low, max(up) if high is None else high
    begin, span = min(across), (max(across) - min(across)) or 1.0
    rise = (top - bottom) or 1.0
    places = (
        f"{left + room * (x - begin) / span:.1f} {head + tall * (1 - (y - bottom) / rise):.1f}"
        for x, y in zip(across, up, strict=True)
    )
    return "M" + "L".join(places)
