"""How counting, fitting, generation and noise use the cores of a machine; and what a GPU would do to the first two.

    python -m benchmarks.cores [docs/cores.svg]

Each row is a fresh process bound to the first 1, 2, 4, 8, ... cores, so that threads are what the process may use.
Seconds are by the clock, the best of three: run it on a quiet machine. Where PyTorch sees a GPU, the same counts and
the same tree are timed there: messages up and down the tree and every marginal, which is the least that one step of a
fit has to do.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import understudy
from understudy.data import Table
from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.model import estimate
from understudy.privacy.noise.discrete_noise import discrete_gaussian
from understudy.privacy.noise.randomness import OperatingSystem

ROWS, COLUMNS, CODES = 10_000_000, 20, 16
CLIQUES, SIZE, STEPS = 10, 100, 30
DRAWN = 4_000_000
NOISE = 20_000_000
WORK = ("counting", "fitting", "generation", "noise")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print seconds and speed-ups for every number of cores; draw them where a file is named."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["--one"]:
        print(json.dumps(one()))
        return
    whole = os.cpu_count() or 1
    numbers = [cores for cores in (1, 2, 4, 8, 16, 32, 64) if cores <= whole]
    print(f"understudy {understudy.__version__}, Python {platform.python_version()}, {whole} cores")
    print(
        f"counting: {ROWS:,} records, all pairs of {COLUMNS} columns; fitting: {STEPS} steps at "
        f"{CLIQUES * SIZE**3:,} cells; generation: {DRAWN:,} records of {CLIQUES + 2} columns; noise: {NOISE:,} draws"
    )
    print(f"{'cores':>6}" + "".join(f"{name + ', s':>16}{'faster':>8}" for name in WORK))
    found: dict[int, Mapping[str, float]] = {}
    for cores in numbers:
        found[cores] = _bound(cores)
        row = "".join(
            f"{found[cores][name]:>16.2f}{found[1][name] / found[cores][name]:>8.2f}" for name in WORK
        )
        print(f"{cores:>6}{row}", flush=True)
    on_gpu(found[numbers[-1]])
    if words:
        Path(words[0]).write_text(picture(found))


def _bound(cores: int) -> Mapping[str, float]:
    """What one process takes that may use so many cores."""
    command = ["taskset", "-c", f"0-{cores - 1}", sys.executable, "-m", "benchmarks.cores", "--one"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: Mapping[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one() -> dict[str, float]:
    """Seconds of each kind of work in this process."""
    table, pairs = _records()
    measured = _measured()
    steps: list[tuple[float, int]] = []

    def fit() -> Any:
        steps.clear()
        return estimate(
            _domain(),
            measured,
            tolerance=0.0,
            max_steps=STEPS,
            callback=lambda state: steps.append((time.perf_counter(), state.steps)),
        )

    field = fit()
    a_step = (steps[-1][0] - steps[0][0]) / max(1, steps[-1][1] - steps[0][1])
    source = OperatingSystem()
    return {
        "counting": _best(lambda: table.count(pairs)),
        "fitting": a_step * STEPS,
        "generation": _best(lambda: field.sample(DRAWN, seed=0)),
        "noise": _best(lambda: discrete_gaussian(10.0, NOISE, source)),
    }


def on_gpu(ours: Mapping[str, float]) -> None:
    """The same counts and the least of a step on a GPU, if there is one."""
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    table, pairs = _records()
    columns = {name: torch.from_numpy(np.array(codes)) for name, codes in table.columns.items()}

    def moved() -> Mapping[str, Any]:
        there = {name: codes.cuda().long() for name, codes in columns.items()}
        torch.cuda.synchronize()
        return there

    there = moved()

    def count() -> None:
        for first, second in pairs:
            torch.bincount(there[first] * CODES + there[second], minlength=CODES * CODES)
        torch.cuda.synchronize()

    tables = [torch.randn(SIZE, SIZE, SIZE, dtype=torch.float64, device="cuda") for _ in range(CLIQUES)]

    def step() -> None:
        up = [torch.zeros(SIZE, SIZE, dtype=torch.float64, device="cuda")]
        for potential in tables[:-1]:
            up.append(torch.logsumexp(potential + up[-1][:, :, None], 0))
        down = torch.zeros(SIZE, SIZE, dtype=torch.float64, device="cuda")
        for potential, message in zip(reversed(tables), reversed(up), strict=True):
            belief = potential + message[:, :, None] + down[None]
            belief.sub_(belief.max()).exp_()
            down = torch.logsumexp(potential + down[None], 2)
        torch.cuda.synchronize()

    name = torch.cuda.get_device_name()
    carried, counted, stepped = _best(moved), _best(count), _best(step)
    print(
        f"{name}, PyTorch {torch.__version__}: the counts {counted:.2f} s and {carried:.2f} s to bring the codes, "
        f"all cores {ours['counting']:.2f} s; a step of at least {1e3 * stepped:.1f} ms, all cores "
        f"{1e3 * ours['fitting'] / STEPS:.1f} ms"
    )


def _best(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def _records() -> tuple[Table, list[tuple[str, str]]]:
    random = np.random.default_rng(0)
    names = [f"c{i}" for i in range(COLUMNS)]
    codes = {name: random.integers(0, CODES, ROWS, dtype=np.uint8) for name in names}
    return Table(Domain(dict.fromkeys(names, CODES)), codes), list(combinations(names, 2))


def _domain() -> Domain:
    return Domain({f"c{i}": SIZE for i in range(CLIQUES + 2)})


def _measured() -> list[Measurement]:
    """Noisy triples along a chain of columns."""
    random = np.random.default_rng(0)
    measured = []
    for i in range(CLIQUES):
        cells = random.gamma(0.05, size=SIZE**3)
        cells *= 1e7 / cells.sum()
        noisy = cells + 20 * random.normal(size=cells.size)
        measured.append(Measurement((f"c{i}", f"c{i + 1}", f"c{i + 2}"), noisy, 20.0))
    return measured


def picture(found: Mapping[int, Mapping[str, float]]) -> str:
    """How many times faster each kind of work is by the number of cores, on logarithmic axes, as SVG."""
    width, height, left, top = 420, 260, 60, 30
    most = max(found)
    span = max(1.0, np.log2(most))
    colours = dict(zip(WORK, ("#0072b2", "#d55e00", "#009e73", "#7a5195"), strict=True))

    def place(cores: float, times: float) -> str:
        right, down = np.log2(cores) / span, 1 - np.log2(max(times, 0.5)) / span
        return f"{left + width * right:.1f},{top + height * down:.1f}"

    parts = [
        f'<line x1="{left}" y1="{top + height}" x2="{left + width}" y2="{top}" stroke="#999" stroke-dasharray="4 4"/>'
    ]
    for cores in found:
        x, y = (float(at) for at in place(cores, cores).split(","))
        parts.append(f'<text x="{x}" y="{top + height + 20}" text-anchor="middle">{cores}</text>')
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{cores}x</text>')
    for number, name in enumerate(WORK):
        line = " ".join(place(cores, found[1][name] / found[cores][name]) for cores in found)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(
            f'<text x="{left + width + 12}" y="{top + 16 + 20 * number}" fill="{colours[name]}">{name}</text>'
        )
    title = "Times faster than on one core, by the number of cores"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 330" role="img" aria-label="{title}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="#123"><title>{title}</title>'
        f'<rect width="600" height="330" fill="#fff"/>{"".join(parts)}'
        f'<text x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">cores (dashed: as many times)'
        "</text></svg>\n"
    )


if __name__ == "__main__":
    main()
