"""How the cost of MST grows with rows and with columns; writes the picture that docs/performance.md shows.

    python -m benchmarks.scaling [docs/scaling.svg]
    python -m benchmarks.scaling --stages 500      what each stage takes, of so many columns

Made-up records, each column leaning on the one before. Times are processor seconds of `fit` and `sample` in this
process once kernels are compiled, so that a busy machine does not bend the lines.
"""

from __future__ import annotations

import math
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import understudy as us
from understudy.domain import Category, Schema

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (10, 20, 50, 100, 200, 500, 1000)
CODES = 10

Points = list[tuple[float, float]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables; draw them where a file is named."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    print(
        f"understudy {us.__version__}, Python {platform.python_version()}; MST, epsilon 1, {CODES} codes a column"
    )
    once(1000, 3)  # compiles
    if words[:1] == ["--stages"]:
        print(f"{once(100_000, int(words[1]), Stages()):.2f} processor seconds in all")
        return
    by_rows = measured([(rows, 10) for rows in ROWS], "rows", 0)
    by_columns = measured([(100_000, columns) for columns in COLUMNS], "columns", 1)
    if words:
        Path(words[0]).write_text(picture(by_rows, by_columns))


def measured(sizes: Sequence[tuple[int, int]], axis: str, place: int) -> Points:
    """Processor seconds at each size, printed as they are found, with the growth from one to the next."""
    print(f"\n{axis:>12}  processor seconds  growth (1: linear, 2: quadratic)")
    points: Points = []
    for size in sizes:
        seconds = once(*size)
        growth = ""
        if points:
            before = points[-1]
            growth = f"{math.log(seconds / before[1]) / math.log(size[place] / before[0]):.2f}"
        points.append((float(size[place]), seconds))
        print(f"{size[place]:>12,}  {seconds:>17.2f}  {growth}", flush=True)
    return points


class Stages:
    """Says what each stage took when the next begins; choices, which are many, together."""

    def __init__(self) -> None:
        self._now, self._since = "starting", time.process_time()

    def __call__(self, stage: str) -> None:
        if stage.startswith("choosing") and self._now.startswith("choosing") and " 2 of " not in stage:
            return
        seconds = time.process_time() - self._since
        print(f"{seconds:>9.2f}  {self._now}", flush=True)
        self._now, self._since = stage, time.process_time()


def once(rows: int, columns: int, stage: Callable[[str], None] = lambda _: None) -> float:
    """Processor seconds of one fit and one sample as large as the table; `stage` is told what is being done."""
    rng = np.random.default_rng(0)
    codes, before = {}, rng.integers(0, CODES, rows, dtype=np.int8)
    for number in range(columns):
        before = np.where(
            rng.random(rows, dtype=np.float32) < 0.7, before, rng.integers(0, CODES, rows, dtype=np.int8)
        )
        codes[f"c{number}"] = before
    schema = Schema({name: Category(tuple(range(CODES))) for name in codes}, name="made up")
    table = pa.table(codes)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        release = us.fit(
            table,
            schema,
            epsilon=1.0,
            delta=1e-9,
            mechanism="mst",
            ledger=Path(folder) / "ledger.db",
            stage=stage,
        )
        stage("generating")
        for _ in release.sample_chunks(rows, seed=0):
            pass
        stage("done")
        return time.process_time() - start


def picture(by_rows: Points, by_columns: Points) -> str:
    """Both lines on logarithmic axes, as SVG."""
    left = _panel(by_rows, "rows (10 columns)", slope=1, x=60)
    right = _panel(by_columns, "columns (100,000 rows)", slope=2, x=440)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 330" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="#123"><rect width="780" height="330" fill="#fff"/>{left}{right}</svg>\n'
    )


def _panel(points: Points, title: str, *, slope: int, x: int) -> str:
    width, height, top = 290, 230, 40
    lows = [math.floor(math.log10(min(p[i] for p in points))) for i in (0, 1)]
    highs = [math.ceil(math.log10(max(p[i] for p in points))) for i in (0, 1)]

    def place(point: tuple[float, float]) -> tuple[float, float]:
        shares = [(math.log10(point[i]) - lows[i]) / max(1, highs[i] - lows[i]) for i in (0, 1)]
        return x + width * shares[0], top + height * (1 - shares[1])

    parts = [
        f'<rect x="{x}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#cdd6e4"/>',
        f'<text x="{x + width / 2}" y="{top - 14}" text-anchor="middle" font-weight="600">processor seconds</text>',
        f'<text x="{x + width / 2}" y="{top + height + 40}" text-anchor="middle">{title}</text>',
    ]
    for power in range(lows[0], highs[0] + 1):
        at = place((10.0**power, 10.0 ** lows[1]))
        parts.append(f'<text x="{at[0]:.0f}" y="{at[1] + 18:.0f}" text-anchor="middle">{10**power:,}</text>')
    for power in range(lows[1], highs[1] + 1):
        at = place((10.0 ** lows[0], 10.0**power))
        parts.append(
            f'<text x="{at[0] - 8:.0f}" y="{at[1] + 4:.0f}" text-anchor="end">{10.0**power:g}</text>'
        )
    last = points[-1]
    first = (points[0][0], last[1] * (points[0][0] / last[0]) ** slope)
    if first[1] < 10.0 ** lows[1]:  # the guide begins where it enters the picture
        first = (last[0] * (10.0 ** lows[1] / last[1]) ** (1 / slope), 10.0 ** lows[1])
    guide = " ".join(f"{a:.1f},{b:.1f}" for a, b in map(place, (first, last)))
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in map(place, points))
    parts.append(f'<polyline points="{guide}" fill="none" stroke="#999" stroke-dasharray="4 4"/>')
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2b59c3" stroke-width="2"/>')
    parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="#2b59c3"/>' for a, b in map(place, points)]
    word = {1: "linear", 2: "quadratic"}[slope]
    parts.append(f'<text x="{x + 10}" y="{top + 18}" fill="#777">dashed: {word}</text>')
    return "".join(parts)


if __name__ == "__main__":
    main()
