"""Columns as names, joined where they were measured together: no name hides another, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from understudy.report.plots.svg import fitted, picture, tag, text_width, words

Points = npt.NDArray[np.float64]
FAINT: dict[str, object] = {"class_": "s-edge", "stroke_width": 1.2, "stroke_dasharray": "4 4"}
LONGEST, TALL = 110.0, 24.0  # of a name's box
ROOMY = 5.0  # how much larger the picture is than all names together
FEW, NARROW, WIDTH = (
    24,
    520.0,
    930.0,
)  # up to so many columns the picture is narrow enough for a list beside it


@dataclass(frozen=True)
class Edge:
    """Two columns by their places, how wide the line between them is (None: faint), and what is said of it."""

    first: int
    second: int
    wide: float | None
    said: str


def network(
    nodes: Sequence[str], edges: Sequence[Edge], links: Sequence[str], *, title: str, description: str = ""
) -> Markup:
    """The graph; each name is a link to what the page says of its column."""
    texts = [fitted(node, LONGEST - 14) for node in nodes]
    wide = np.array([text_width(text) + 18 for text in texts])
    width = WIDTH if len(nodes) > FEW else NARROW
    at, height = placed(wide, [(edge.first, edge.second) for edge in edges], width)
    inside = []
    for edge in edges:
        (x1, y1), (x2, y2) = at[edge.first].tolist(), at[edge.second].tolist()
        line = tag(
            "line",
            tag("title", edge.said),
            x1=x1,
            y1=y1,
            x2=x2,
            y2=y2,
            **(FAINT if edge.wide is None else {"class_": "s-data", "stroke_width": edge.wide}),
            data_ends=f"{edge.first} {edge.second}",
        )
        inside.append(line)
    for place, (node, text) in enumerate(zip(nodes, texts, strict=True)):
        x, y = at[place].tolist()
        box = tag(
            "rect",
            x=x - wide[place] / 2,
            y=y - TALL / 2,
            width=float(wide[place]),
            height=TALL,
            rx=TALL / 2,
            class_="node-back",
        )
        inside.append(
            tag(
                "a",
                tag("title", node),
                box,
                words(x, y + 4, text, "t-mid"),
                href=links[place],
                data_node=place,
            )
        )
    return picture(
        inside,
        width,
        height,
        title=title,
        description=description,
        class_="graph",
        role="group",
        size="own",
    )


def placed(
    wide: Points, edges: Sequence[tuple[int, int]], width: float, rounds: int = 300
) -> tuple[Points, float]:
    """Places for boxes so wide, and how tall a picture they make: those joined near each other, none over another.

    Neighbours attract and all repel (the method of Fruchterman and Reingold); then boxes that overlap move apart.
    """
    count = len(wide)
    height = max(min(320.0, 60.0 * count), float((wide * TALL).sum()) * ROOMY / width)
    points = _sprung(count, edges, rounds)
    low, span = points.min(axis=0, initial=0.0), np.ptp(points, axis=0) if count else np.ones(2)
    points = (points - low) / np.where(span > 0, span, 1.0)
    half = np.stack([wide / 2 + 4, np.full(count, TALL / 2 + 5)], axis=1)
    points = half + points * (np.array([width, height]) - 2 * half)
    for _ in range(200):
        apart = points[:, None] - points[None]
        over = half[:, None] + half[None] - np.abs(apart)
        hit = (over > 0).all(axis=2) & ~np.eye(count, dtype=bool)
        if not hit.any():
            break
        # Along whichever way is shorter; up and down is cheaper to read.
        sideways = over[..., 0] < over[..., 1]
        sign = np.where(apart >= 0, 1.0, -1.0)
        sign[np.tril_indices(count)] = np.where(apart[np.tril_indices(count)] > 0, 1.0, -1.0)
        step = np.where(hit[..., None], over * sign * 0.3, 0.0)
        step[..., 0] *= sideways
        step[..., 1] *= ~sideways
        points = points + step.sum(axis=1)
        points[:, 0] = np.clip(points[:, 0], half[:, 0], width - half[:, 0])
    top = float((points[:, 1] - half[:, 1]).min(initial=0.0))
    points = points - np.array([0.0, top])
    return points, float((points[:, 1] + half[:, 1]).max(initial=40.0)) + 2


def _sprung(count: int, edges: Sequence[tuple[int, int]], rounds: int) -> Points:
    """Places about the origin by forces alone."""
    angle = 2 * np.pi * np.arange(count) / max(1, count)
    points: Points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    ideal = 1.6 / np.sqrt(max(1, count))
    degree = np.bincount(ends.reshape(-1), minlength=count).astype(np.float64)
    ease = 4 / np.maximum(degree[ends].sum(axis=1), 4.0)  # where many are joined, each line pulls less
    for step in range(rounds):
        apart = points[:, None] - points[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-6)
        push = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        along = points[ends[:, 0]] - points[ends[:, 1]]
        pull = along * (ease * np.hypot(along[:, 0], along[:, 1]) / ideal)[:, None]
        np.add.at(push, ends[:, 0], -pull)
        np.add.at(push, ends[:, 1], pull)
        push -= 0.4 * points  # keeps components that nothing joins in sight
        length = np.maximum(np.hypot(push[:, 0], push[:, 1]), 1e-9)
        points = points + push / length[:, None] * np.minimum(length, 0.15 * (1 - step / rounds))[:, None]
    return points
