"""Draws a second of exact noise, beside OpenDP's exact integer Gaussian in the same run; time of a choice.

    python -m benchmarks.noise

OpenDP is no dependency: UNDERSTUDY_PEERS_PYTHON names a Python that has it. Without one, a virtual
environment is made in a temporary folder; when that fails, the comparison is skipped, and said to be.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import understudy
from understudy.privacy.noise.discrete_noise import discrete_gaussian, discrete_laplace, table_error
from understudy.privacy.noise.exponential_mechanism import choose
from understudy.privacy.noise.randomness import OperatingSystem

SCALES = (1.0, 10.0, 100.0, 1000.0, 1e6)
COMPARED = 10.0
CANDIDATES = 4753

PEER = """
import json, sys, time
from importlib.metadata import version
import opendp.prelude as dp
dp.enable_features("contrib")
scale, size = float(sys.argv[1]), int(sys.argv[2])
space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
measure = dp.m.make_gaussian(*space, scale=scale)
zeros = [0] * size
measure(zeros[:100])
best = 0.0
for _ in range(3):
    start = time.perf_counter()
    measure(zeros)
    best = max(best, size / (time.perf_counter() - start))
print(json.dumps({"version": version("opendp"), "rate": best}))
"""


def rate(draw: Callable[[int], object], size: int) -> float:
    """The best draws a second of three runs, after one to warm up."""
    draw(1000)
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        draw(size)
        best = max(best, size / (time.perf_counter() - start))
    return best


def peer(scale: float, size: int) -> tuple[str, float] | str:
    """OpenDP's version and draws a second, or why there are none."""
    named = os.environ.get("UNDERSTUDY_PEERS_PYTHON")
    if named:
        return _ask(named, scale, size)
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
            python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", "opendp"], check=True, capture_output=True
            )
        except (OSError, subprocess.CalledProcessError) as fault:
            return f"no environment with opendp could be made ({type(fault).__name__})"
        return _ask(python, scale, size)


def _ask(python: str, scale: float, size: int) -> tuple[str, float] | str:
    try:
        done = subprocess.run(
            [python, "-c", PEER, str(scale), str(size)], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as fault:
        return f"the peers' Python cannot run opendp ({type(fault).__name__})"
    answer = json.loads(done.stdout)
    return str(answer["version"]), float(answer["rate"])


def choice_times(runs: int = 200) -> tuple[float, float]:
    """The median and the 95th percentile of many choices among 4,753 candidates, in milliseconds."""
    scores = np.random.default_rng(0).integers(0, 10**6, CANDIDATES)
    times = []
    choose(scores, 1.0, 1, OperatingSystem())
    for epsilon in np.geomspace(1e-6, 20, runs):
        start = time.perf_counter()
        choose(scores, float(epsilon), 1, OperatingSystem())
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times)), float(np.quantile(times, 0.95))


def main() -> None:
    """Print the table."""
    source = OperatingSystem()
    print(f"understudy {understudy.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    print(f"{'scale':>10} {'Gaussian M/s':>13} {'Laplace M/s':>12} {'table ms':>9} {'error a draw':>13}")
    for scale in SCALES:
        start = time.perf_counter()
        error = float(table_error(scale))
        built = 1e3 * (time.perf_counter() - start)
        gauss = rate(lambda size, s=scale: discrete_gaussian(s, size, source), 3_000_000)
        laplace = rate(lambda size, s=scale: discrete_laplace(s, size, source), 3_000_000)
        print(f"{scale:>10g} {gauss / 1e6:>13.1f} {laplace / 1e6:>12.1f} {built:>9.1f} {error:>13.1e}")
    ours = rate(lambda size: discrete_gaussian(COMPARED, size, source), 5_000_000)
    print(f"\nat scale {COMPARED:g}: {ours / 1e6:.1f} million draws a second (at least 5 wanted)")
    answer = peer(COMPARED, 100_000)
    if isinstance(answer, str):
        print(f"opendp: SKIPPED, {answer}; set UNDERSTUDY_PEERS_PYTHON to a Python that has it")
    else:
        version, theirs = answer
        print(f"opendp {version}: {theirs / 1e6:.3f} million; {ours / theirs:.0f} times (at least 50 wanted)")
    typical, slow = choice_times()
    print(f"choice among {CANDIDATES:,}: median {typical:.2f} ms, 95% within {slow:.2f} ms (under 5 wanted)")


if __name__ == "__main__":
    main()
