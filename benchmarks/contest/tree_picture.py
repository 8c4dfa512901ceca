"""A picture of which columns were measured together: the paper's figure of the selected marginals, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]

STROKES = {
    "tree": 'stroke="#222" stroke-width="1.4"',
    "forced": 'stroke="#1a8a3a" stroke-width="2.4"',
    "extra": 'stroke="#c62828" stroke-width="1.2" stroke-dasharray="4 3"',
}
LEGEND = {"tree": "spanning tree", "forced": "forced", "extra": "extra triangles"}


def layout(nodes: Sequence[str], edges: Sequence[tuple[str, str]], rounds: int = 400) -> Points:
    """Places in the unit square: neighbours attract, all repel (Fruchterman and Reingold's method)."""
    place = {node: i for i, node in enumerate(nodes)}
    angle = 2 * np.pi * np.arange(len(nodes)) / max(1, len(nodes))
    points: Points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = np.array([[place[a], place[b]] for a, b in edges], dtype=np.int64).reshape(-1, 2)
    ideal = 1.6 / np.sqrt(max(1, len(nodes)))
    for step in range(rounds):
        apart = points[:, None] - points[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-6)
        push = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        along = points[ends[:, 0]] - points[ends[:, 1]]
        pull = along * (np.hypot(along[:, 0], along[:, 1]) / ideal)[:, None]
        np.add.at(push, ends[:, 0], -pull)
        np.add.at(push, ends[:, 1], pull)
        push -= 0.4 * points  # keeps components that nothing joins in sight
        length = np.maximum(np.hypot(push[:, 0], push[:, 1]), 1e-9)
        points = points + push / length[:, None] * np.minimum(length, 0.15 * (1 - step / rounds))[:, None]
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    return np.asarray((points - low) / np.where(span > 0, span, 1.0))


def graph_svg(
    nodes: Sequence[str],
    edges: Mapping[tuple[str, str], str],
    *,
    labels: Mapping[str, str] | None = None,
    legend: Mapping[str, str] = LEGEND,
    width: int = 900,
    height: int = 620,
) -> str:
    """The graph as one SVG element; an edge's kind (tree, forced, extra) decides its stroke."""
    points = layout(nodes, list(edges))
    margin = 46
    x = margin + points[:, 0] * (width - 2 * margin)
    y = margin + points[:, 1] * (height - 2 * margin)
    at = {node: (x[i], y[i]) for i, node in enumerate(nodes)}
    lines = [
        f'<line x1="{at[a][0]:.1f}" y1="{at[a][1]:.1f}" x2="{at[b][0]:.1f}" y2="{at[b][1]:.1f}" {STROKES[kind]}/>'
        for (a, b), kind in edges.items()
    ]
    green = {node for edge, kind in edges.items() if kind == "forced" for node in edge}
    many = len(nodes) > 40
    for node in nodes:
        text = escape((labels or {}).get(node, node))
        fill = "#d8f0dd" if node in green else "#eef2fb"
        lines.append(
            f'<g><title>{escape(node)}</title><circle cx="{at[node][0]:.1f}" cy="{at[node][1]:.1f}" '
            f'r="{9 if many else 12}" fill="{fill}" stroke="#456"/>'
            f'<text x="{at[node][0]:.1f}" y="{at[node][1] + (3 if labels else 22):.1f}" text-anchor="middle" '
            f'font-size="{9 if many else 11}">{text}</text></g>'
        )
    kinds = [kind for kind in STROKES if kind in edges.values()]
    if len(kinds) > 1:
        for number, kind in enumerate(kinds):
            top = 16 + 16 * number
            lines.append(f'<line x1="10" y1="{top}" x2="44" y2="{top}" {STROKES[kind]}/>')
            lines.append(f'<text x="50" y="{top + 4}" font-size="11">{legend[kind]}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" fill="#123">{"".join(lines)}</svg>'
    )
