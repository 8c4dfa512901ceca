"""Small line charts as SVG: an error by epsilon or by seconds, one panel beside the other, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]
WIDTH, HEIGHT, GAP, LEFT, TOP = 300, 230, 62, 52, 34
# Enough for every system there is; a line keeps its colour over the panels of one picture.
_COLOURS = (
    *("#0b6e99", "#d1495b", "#6a994e", "#8d6a9f", "#e09f3e", "#335c67", "#9e2a2b"),
    *("#3a86ff", "#c77dff", "#2a9d8f", "#b5838d", "#606c38", "#f4845f", "#7a7a7a"),
)


@dataclass(frozen=True)
class Panel:
    """One chart: a title, what the x axis is, and points by the name of their line."""

    title: str
    across: str
    lines: Mapping[str, Sequence[Point]]
    joined: bool = True


def svg(panels: Sequence[Panel], label: str) -> str:
    """The panels side by side with one legend; left and low are better."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    width = LEFT + len(panels) * (WIDTH + GAP) + 130
    height = max(TOP + HEIGHT + 50, TOP + 20 * len(names) + 10)
    parts = [_panel(panel, LEFT + place * (WIDTH + GAP), colours) for place, panel in enumerate(panels)]
    at = LEFT + len(panels) * (WIDTH + GAP) - GAP + 14
    for place, name in enumerate(names):
        y = TOP + 10 + 20 * place
        parts.append(_dot((at, y - 4), name, colours[name]))
        parts.append(f'<text x="{at + 12}" y="{y}">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label, quote=True)}" font-family="system-ui, sans-serif" font-size="12" fill="#123">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _panel(panel: Panel, left: float, colours: Mapping[str, str]) -> str:
    points = [point for line in panel.lines.values() for point in line]
    across, up = _axis([x for x, _ in points]), _axis([y for _, y in points])

    def place(point: Point) -> Point:
        return left + across.share(point[0]) * WIDTH, TOP + (1 - up.share(point[1])) * HEIGHT

    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="600">{escape(panel.title)}</text>']
    for tick in across.ticks:
        x, _ = place((tick, up.low))
        parts.append(f'<path d="M{x:.1f} {TOP}V{TOP + HEIGHT}" stroke="#e3e9ed"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in up.ticks:
        _, y = place((across.low, tick))
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#e3e9ed"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    parts.append(
        f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">{escape(panel.across)}</text>'
    )
    for name, line in panel.lines.items():
        placed = [place(point) for point in sorted(line)]
        if panel.joined and len(placed) > 1:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
            parts.append(f'<path d="M{path}" fill="none" stroke="{colours[name]}" stroke-width="1.6"/>')
        parts += [_dot(point, name, colours[name]) for point in placed]
    return "".join(parts)


def _dot(point: Point, name: str, colour: str) -> str:
    """A dot of ours is full, one of a peer (whose name is two words) a ring."""
    fill = "#fff" if " " in name else colour
    return f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float

    def share(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> list[float]:
        """Round numbers along it, as few as tell where it lies: three, where there are so many."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found: list[float] = []
        for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)):
            every = [round(step * 10.0**power, 12) for power in powers for step in steps]
            found = [tick for tick in every if self.low <= tick <= self.high]
            if len(found) > 2:
                break
        return found


def _axis(values: Sequence[float]) -> _Axis:
    """An axis that holds the values, with some room; a zero, which has no logarithm, is left at its edge."""
    above = [value for value in values if value > 0] or [1.0]
    return _Axis(min(above) / 1.3, max(above) * 1.3)
