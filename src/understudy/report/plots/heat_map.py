"""A table of numbers as shades: one path a shade, so that a hundred of them stay small; what cells hold is data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from understudy.report.plots.svg import fitted, picture, tag, words

Floats = npt.NDArray[np.float64]
SHADES = 7  # above the one for nothing
SHADES_BELOW = 5  # of the other colour


def heat_map(
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    description: str = "",
    muted: npt.NDArray[np.bool_] | None = None,
    top: float | None = None,
    unit: str = "",
    said: Callable[[float], str] = lambda value: f"{value:,.0f}",
    width: float = 272,
    root: bool = True,
) -> Markup:
    """Shades from nothing to `top` (the largest value); values below 0 in the other colour.

    `muted` cells stand back, crossed out by a dot. With `root` shades follow the square root, by which small counts
    are seen, and none that is not 0 is blank. NaN is no cell at all.
    """
    labelled = max(len(rows), len(columns)) <= 40
    left = min(100.0, 8 + 6.4 * max(map(len, rows), default=0)) if labelled else 2.0
    foot = min(84.0, 8 + 6.4 * max(map(len, columns), default=0)) if labelled else 2.0
    cell = min((width - left - 2) / max(1, len(columns)), 26.0)
    height = cell * len(rows) + foot
    inside: list[Markup] = []
    inside.append(tag("rect", x=left, y=0, width=cell * len(columns), height=cell * len(rows), class_="h0"))
    for name, runs in _shades(values, top, root=root).items():
        path = "".join(
            f"M{left + cell * x:.1f} {cell * y:.1f}h{cell * n:.1f}v{cell:.1f}h-{cell * n:.1f}z"
            for y, x, n in runs
        )
        inside.append(tag("path", d=path, class_=name))
    if muted is not None and muted.any():
        inside += _muted(muted, left, cell)
    if labelled:
        for y, text in enumerate(rows):
            if cell >= 11 or y % 2 == 0:
                inside.append(words(left - 5, cell * (y + 0.5) + 4, fitted(text, left - 6), "t-end"))
        for x, text in enumerate(columns):
            if cell >= 13 or x % 2 == 0:
                at = f"translate({left + cell * (x + 0.5) + 4:.1f} {cell * len(rows) + 6:.1f}) rotate(-90)"
                inside.append(words(0, 0, fitted(text, foot - 8), "t-end", transform=at))
    inside.append(
        tag("rect", x=left, y=0, width=cell * len(columns), height=cell * len(rows), class_="s-line")
    )
    texts = " ".join("" if np.isnan(value) else said(float(value)) for value in values.reshape(-1))
    return picture(
        inside,
        width,
        height,
        title=title,
        description=description,
        class_="heat",
        data_left=left,
        data_top=0,
        data_cell=f"{cell:.3f}",
        data_rows=json.dumps(list(rows), ensure_ascii=False),
        data_columns=json.dumps(list(columns), ensure_ascii=False),
        data_values=texts,
        data_unit=unit,
    )


def _shades(values: Floats, top: float | None, *, root: bool) -> dict[str, list[tuple[int, int, int]]]:
    """The cells of every shade but the first, in runs: a row, a column, and how many there are."""
    known = np.nan_to_num(values)
    most = top or float(np.abs(known).max(initial=0.0)) or 1.0
    level = np.clip(np.abs(known) / most, 0.0, 1.0)
    level = np.sqrt(level) if root else level
    below = known < 0
    steps = level * np.where(below, SHADES_BELOW, SHADES)
    shade = (np.ceil(steps - 1e-9) if root else np.round(steps)).astype(int)
    signed = np.where(below, -shade, shade)
    found: dict[str, list[tuple[int, int, int]]] = {}
    for y, row in enumerate(signed.tolist()):
        x = 0
        for kind, run in groupby(row):
            many = len(list(run))
            if kind:
                found.setdefault(f"n{-kind}" if kind < 0 else f"h{kind}", []).append((y, x, many))
            x += many
    return found


def _muted(muted: npt.NDArray[np.bool_], left: float, cell: float) -> list[Markup]:
    """Cells that cannot be told from noise: nearly blank, with a dot."""
    size, dot = cell * 0.98, min(max(cell * 0.08, 0.8), 1.4)
    blank, dots = [], []
    for y, x in np.argwhere(muted).tolist():
        blank.append(f"M{left + cell * x:.1f} {cell * y:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z")
        dots.append(f"M{left + cell * (x + 0.5):.1f} {cell * (y + 0.5):.1f}h0")
    return [
        tag("path", d="".join(blank), class_="f-card", fill_opacity=0.8),
        tag("path", d="".join(dots), class_="s-edge", stroke_width=2 * dot, stroke_linecap="round"),
    ]
