"""The ranking as a picture: every system's overall error at three epsilons, the paper's beside ours."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from benchmarks.contest import paper

Overall = Callable[[str, float], float | None]
_LEFT, _PANEL, _GAP, _TOP, _ROW = 92, 214, 26, 54, 24


def ranking_svg(overall: Overall) -> str:
    """One panel an epsilon, one row a system; a full dot is ours, a ring the paper's, and left is better."""
    largest = max(
        (
            error
            for system in paper.ORDER
            for epsilon in paper.EPSILONS
            for error in (overall(system, epsilon), paper.ERRORS[system, epsilon][3])
            if error is not None
        ),
        default=0.5,
    )
    top = max(0.1, -(-largest // 0.1) / 10 + 0.02)
    width = _LEFT + 3 * _PANEL + 2 * _GAP + 20
    height = _TOP + len(paper.ORDER) * _ROW + 34
    parts = [_name(row, system) for row, system in enumerate(paper.ORDER)]
    parts += [_panel(place, epsilon, overall, top) for place, epsilon in enumerate(paper.EPSILONS)]
    parts.append(_legend(width))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#123">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _y(row: int) -> float:
    return _TOP + (row + 0.5) * _ROW


def _name(row: int, system: str) -> str:
    return f'<text x="{_LEFT - 10}" y="{_y(row) + 4:.1f}" text-anchor="end">{escape(system)}</text>'


def _panel(place: int, epsilon: float, overall: Overall, top: float) -> str:
    left = _LEFT + place * (_PANEL + _GAP)
    bottom = _TOP + len(paper.ORDER) * _ROW

    def x(error: float) -> float:
        return left + error / top * _PANEL

    parts = [f'<text x="{left}" y="{_TOP - 12}" font-weight="600">epsilon {epsilon:g}</text>']
    for tenth in range(int(top * 10) + 1):
        at = x(tenth / 10)
        parts.append(f'<path d="M{at:.1f} {_TOP}V{bottom}" stroke="#ccd6dd"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{tenth / 10:.1f}</text>')
    for row, system in enumerate(paper.ORDER):
        theirs, ours = paper.ERRORS[system, epsilon][3], overall(system, epsilon)
        parts.append(
            f'<circle cx="{x(theirs):.1f}" cy="{_y(row)}" r="5" fill="#fff" stroke="#8795a1" stroke-width="2"/>'
        )
        if ours is not None:
            parts.append(f'<circle cx="{x(ours):.1f}" cy="{_y(row)}" r="5" fill="#0b6e99"/>')
    return "".join(parts)


def _legend(width: int) -> str:
    return (
        f'<circle cx="{width - 262}" cy="16" r="5" fill="#0b6e99"/>'
        f'<text x="{width - 250}" y="20">overall error here</text>'
        f'<circle cx="{width - 128}" cy="16" r="5" fill="#fff" stroke="#8795a1" stroke-width="2"/>'
        f'<text x="{width - 116}" y="20">the paper</text>'
    )
