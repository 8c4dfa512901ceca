"""Fit fields to measurements, beside mbi on the same measurements in the same run.

    python -m benchmarks.estimation [iterations]

Four tables: the 98-column benchmark, Adult, a model of ten million cells against the machine's memory bandwidth, and
the all-3-way error of the converged estimate on trees of real tables beside mbi's after its iterations (5,000).
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.peers import python_with

import understudy
from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.model import estimate

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
GOAL = 222_000.0
TABLES = ("titanic", "nltcs", "adult", "salary")

PEER = """
import json, sys, time
from importlib.metadata import version
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import mbi
from mbi import Domain, LinearMeasurement
from mbi.estimation import MirrorDescent

folder, iterations, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
header = json.load(open(folder + "/measurements.json"))
arrays = np.load(folder + "/arrays.npz")
domain = Domain([n for n, _ in header["domain"]], [s for _, s in header["domain"]])
def ask(weight):
    return lambda factor: weight * factor.datavector()
measured, parts = [], []
for i, clique in enumerate(header["cliques"]):
    scale = float(arrays[f"s{i}"].min())
    weight = scale / arrays[f"s{i}"]  # one stddev a measurement: other scales become weights
    y = arrays[f"y{i}"] * weight
    measured.append(LinearMeasurement(y, tuple(clique), scale, query=ask(weight)))
    parts.append((tuple(clique), y, scale, weight))
answer = {"version": version("mbi"), "jax": version("jax"), "seconds": []}
for run in range(runs):
    start = time.perf_counter()
    model = MirrorDescent().estimate(domain, measured, known_total=header["total"], iters=iterations)
    tables = [np.asarray(model.project(c).datavector()) for c, *_ in parts]
    answer["seconds"].append(time.perf_counter() - start)
answer["loss"] = float(sum(0.5 * (((w * t - y) / s) ** 2).sum() for t, (_, y, s, w) in zip(tables, parts)))
for number, clique in enumerate(header["wanted"]):
    arrays_out = answer.setdefault("triples", {})
    arrays_out[str(number)] = np.asarray(model.project(tuple(clique)).datavector()).tolist()
json.dump(answer, open(folder + "/answer.json", "w"))
"""

FRESH = """
import sys, time
start = time.perf_counter()
import numpy as np, json, resource
from benchmarks.estimation import load
from understudy.model import estimate
domain, measured = load(sys.argv[1])
begun, seen = time.perf_counter(), []
field = estimate(domain, measured, callback=lambda c: seen.append((time.perf_counter() - start, c.loss, c.gap)))
print(json.dumps({"seen": seen, "seconds": time.perf_counter() - start, "loss": field.fit.loss, "gap": field.fit.gap,
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}))
"""


@dataclass(frozen=True)
class Problem:
    """Measurements to fit, and cliques whose marginals are wanted afterwards."""

    domain: Domain
    measured: list[Measurement]
    wanted: tuple[Clique, ...] = ()

    def save(self, folder: str, total: float) -> None:
        arrays = {f"y{i}": m.values for i, m in enumerate(self.measured)}
        arrays |= {f"s{i}": np.broadcast_to(m.stddev, m.values.shape) for i, m in enumerate(self.measured)}
        np.savez(f"{folder}/arrays.npz", **arrays)
        header = {"domain": list(self.domain.items()), "cliques": [m.clique for m in self.measured]}
        header |= {"total": total, "wanted": self.wanted}
        Path(folder, "measurements.json").write_text(json.dumps(header))


def load(folder: str) -> tuple[Domain, list[Measurement]]:
    """A saved problem: its domain and measurements."""
    header = json.loads(Path(folder, "measurements.json").read_text())
    arrays = np.load(f"{folder}/arrays.npz")
    cliques = [tuple(clique) for clique in header["cliques"]]
    measured = [Measurement(c, arrays[f"y{i}"], arrays[f"s{i}"]) for i, c in enumerate(cliques)]
    return Domain(header["domain"]), measured


def main() -> None:
    """Print the four tables."""
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(
        f"understudy {understudy.__version__}, numpy {np.__version__}, Python {platform.python_version()}, ",
        end="",
    )
    print(f"{os.cpu_count()} cores")
    with python_with("mbi") as peer:
        _wide98(peer, iterations)
        _adult()
        _bandwidth()
        _accuracy(peer, iterations)


# --- the 98-column benchmark -----------------------------------------------------------------------------------


def _wide98(peer: str | None, iterations: int) -> None:
    folder = SHARED / "bench" / "wide98"
    if not folder.exists():
        print("wide98: SKIPPED, its measurements are not there")
        return
    problem = wide98(folder)
    seen: list[tuple[float, float, float]] = []
    estimate(problem.domain, problem.measured)  # compiled kernels into the cache
    begun = time.perf_counter()
    field = estimate(
        problem.domain,
        problem.measured,
        callback=lambda c: seen.append((time.perf_counter() - begun, c.loss, c.gap)),
    )
    warm = next(seconds for seconds, loss, _ in seen if loss <= GOAL)
    certified = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as place:
        problem.save(place, field.total)
        fresh = _fresh(place)
        theirs = _peer(peer, place, iterations, runs=2) if peer else None
    print(
        f"\nwide98: {len(problem.measured)} measurements, {field.fit.measured_cells:,} cells, goal loss {GOAL:,.0f}"
    )
    cold = next(seconds for seconds, loss, _ in fresh["seen"] if loss <= GOAL)
    print(
        f"  to the goal, fresh process {cold:8.2f} s   warm {warm:8.3f} s   loss {fresh['seen'][0][1]:,.0f}"
    )
    print(f"  to a certified optimum     {fresh['seconds']:8.2f} s   warm {certified:8.3f} s   {field.fit}")
    print(f"  peak memory {fresh['peak']:.2f} GB")
    if theirs:
        first, second = theirs["seconds"]
        print(
            f"  mbi {theirs['version']} (jax {theirs['jax']}, float64), {iterations} iterations, in a process that is"
        )
        print(
            f"  fresh {first:.1f} s   warm {second:.1f} s   loss {theirs['loss']:,.0f}   peak {theirs['peak']:.2f} GB"
        )
        print(f"  to the goal {first / cold:.0f} times faster fresh, {second / warm:.0f} times warm")


def wide98(folder: Path) -> Problem:
    """The shared measurements: 98 one-ways and 97 pairs over the compressed domain."""
    meta = json.loads((folder / "measurements.json").read_text())
    arrays = np.load(folder / "measurements.npz")
    measured = []
    for name in meta["attrs"]:
        weight = arrays[f"w1__{name}"]
        measured.append(Measurement(name, arrays[f"y1__{name}"] / weight, meta["sigma1"] / weight))
    for i, edge in enumerate(meta["edges"]):
        measured.append(Measurement(tuple(edge), arrays[f"y2__{i}"], meta["sigma2"]))
    return Problem(Domain(meta["compressed_domain"]), measured)


def _fresh(place: str) -> dict[str, Any]:
    """The same fit in a new process, timed from its first line (kernels cached, imports counted)."""
    root = str(Path(__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, "-c", FRESH, place], check=True, capture_output=True, text=True, cwd=root
    )
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def _peer(peer: str, place: str, iterations: int, runs: int) -> dict[str, Any] | None:
    command = [peer, "-W", "ignore", "-c", PEER, place, str(iterations), str(runs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        print(f"mbi: SKIPPED, it failed: {run.stderr.strip().splitlines()[-1:]}")
        return None
    answer: dict[str, Any] = json.loads(Path(place, "answer.json").read_text())
    answer["peak"] = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e6
    return answer


# --- Adult, and trees of real tables ---------------------------------------------------------------------------


def _adult() -> None:
    problem = tree_of("adult", seed=0)
    if problem is None:
        print("\nadult: SKIPPED, its table is not there")
        return
    estimate(problem.domain, problem.measured)
    times = []
    for _ in range(9):
        begun = time.perf_counter()
        field = estimate(problem.domain, problem.measured)
        times.append(time.perf_counter() - begun)
    with tempfile.TemporaryDirectory() as place:
        problem.save(place, field.total)
        fresh = _fresh(place)
    print(f"\nadult, one-ways and a spanning tree, epsilon 1: {field.tree.cells:,} cells")
    print(f"  warm {1e3 * median(times):.1f} ms   fresh process {fresh['seconds']:.2f} s   {field.fit}")


def _accuracy(peer: str | None, iterations: int) -> None:
    print(f"\nall-3-way mean L1 error on trees, epsilon 1; mbi after {iterations} iterations")
    for name in TABLES:
        problem = tree_of(name, seed=1)
        if problem is None:
            print(f"  {name}: SKIPPED, its table is not there")
            continue
        truth = _triples(name, problem)
        field = estimate(problem.domain, problem.measured)
        ours = _error(truth, [np.asarray(field.marginal(c).counts).reshape(-1) for c in problem.wanted])
        line = f"  {name:8} ours {ours:.5f}   loss {field.fit.loss:,.1f}   gap {field.fit.gap:.2g}"
        with tempfile.TemporaryDirectory() as place:
            problem.save(place, field.total)
            theirs = _peer(peer, place, iterations, runs=1) if peer else None
        if theirs:
            error = _error(truth, [np.array(theirs["triples"][str(i)]) for i in range(len(problem.wanted))])
            line += f"   mbi {error:.5f}   loss {theirs['loss']:,.1f}   in {theirs['seconds'][0]:.0f} s"
        print(line, flush=True)


def tree_of(name: str, seed: int) -> Problem | None:
    """Noisy one-ways and the pairs of a maximum-information tree at epsilon 1 (about): what MST would measure."""
    folder = SHARED / "data" / name
    if not folder.exists():
        return None
    sizes, codes = coded_table(name)
    names = list(sizes)
    rows = len(codes[names[0]])
    random = np.random.default_rng(seed)
    domain = Domain(sizes)

    def count(clique: Clique) -> npt.NDArray[np.float64]:
        index = np.zeros(rows, np.int64)
        for column in clique:
            index = index * sizes[column] + codes[column]
        return np.bincount(index, minlength=domain.size(clique)).astype(np.float64)

    scores = {pair: information(count(pair).reshape(domain.shape(pair))) for pair in combinations(names, 2)}
    joined = {column: {column} for column in names}
    edges = []
    for pair in sorted(scores, key=lambda pair: -scores[pair]):
        if joined[pair[0]] is not joined[pair[1]]:
            edges.append(pair)
            group = joined[pair[0]] | joined[pair[1]]
            joined |= dict.fromkeys(group, group)
    cliques: list[Clique] = [(column,) for column in names] + edges
    sigma = float(
        np.sqrt(len(cliques) / (2 * 0.0075))
    )  # rho about what epsilon 1, delta 1e-9 leaves for measuring
    measured = [Measurement(c, count(c) + sigma * random.normal(size=domain.size(c)), sigma) for c in cliques]
    triples = tuple(c for c in combinations(names, 3) if domain.size(c) <= 2_000_000)
    return Problem(domain, measured, triples[:: max(1, len(triples) // 60)])


def coded_table(name: str) -> tuple[dict[str, int], dict[str, npt.NDArray[np.int64]]]:
    """The columns of a shared table of codes, wide ones cut to 100 codes (as bins would)."""
    import pandas as pd

    folder = SHARED / "data" / name
    raw = json.loads((folder / f"{name}-domain.json").read_text())
    frame = pd.read_csv(folder / f"{name}.csv")
    sizes, codes = {}, {}
    for column in raw:
        size = int(raw[column])
        bins = min(size, 100)
        codes[column] = np.clip(frame[column].to_numpy(), 0, size - 1).astype(np.int64) * bins // size
        sizes[column] = bins
    return sizes, codes


def _triples(name: str, problem: Problem) -> list[npt.NDArray[np.float64]]:
    sizes, codes = coded_table(name)
    found = []
    for clique in problem.wanted:
        index = np.zeros(len(codes[clique[0]]), np.int64)
        for column in clique:
            index = index * sizes[column] + codes[column]
        found.append(np.bincount(index, minlength=problem.domain.size(clique)).astype(np.float64))
    return found


def _error(truth: list[npt.NDArray[np.float64]], found: list[npt.NDArray[np.float64]]) -> float:
    return float(
        np.mean([np.abs(t / t.sum() - f / f.sum()).sum() for t, f in zip(truth, found, strict=True)])
    )


def information(table: npt.NDArray[np.float64]) -> float:
    share = table / table.sum()
    expected = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
    return float(np.sum(share[share > 0] * np.log(share[share > 0] / expected[share > 0])))


# --- ten million cells ------------------------------------------------------------------------------------------


def _bandwidth() -> None:
    """Polishing steps of a large model against the time to move 32 bytes a cell through memory."""
    domain = Domain({f"c{i}": 100 for i in range(12)})
    random = np.random.default_rng(0)
    measured = []
    for i in range(10):
        cells = random.gamma(0.05, size=1_000_000)
        cells *= 1e7 / cells.sum()
        measured.append(
            Measurement(
                (f"c{i}", f"c{i + 1}", f"c{i + 2}"), cells + 20 * random.normal(size=cells.size), 20.0
            )
        )
    marks: list[tuple[float, int]] = []
    field = estimate(
        domain,
        measured,
        tolerance=0.0,
        max_steps=100,
        callback=lambda c: marks.append((time.perf_counter(), c.steps)),
    )
    seconds, steps = marks[-1][0] - marks[0][0], marks[-1][1] - marks[0][1]
    speed = _copy_speed()
    bound = field.tree.cells * 32 / speed
    print(
        f"\n{field.tree.cells:,} cells: {steps} steps in {seconds:.2f} s, {1e3 * seconds / steps:.1f} ms a step"
    )
    print(
        f"  bound {1e3 * bound:.1f} ms: 32 bytes a cell at {speed / 1e9:.1f} GB/s, read and written by all cores"
    )
    print(f"  copying two 320 MB arrays; ratio {seconds / steps / bound:.2f}")


def _copy_speed() -> float:
    """Bytes a second that all cores together read and write while copying, the best of five."""
    cores = os.cpu_count() or 1
    source = [np.ones(40_000_000) for _ in range(cores)]
    target = [np.empty(40_000_000) for _ in range(cores)]
    best = 0.0
    with ThreadPoolExecutor(cores) as pool:
        for _ in range(5):
            begun = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            best = max(best, cores * 2 * 8 * 40_000_000 / (time.perf_counter() - begun))
    return best


if __name__ == "__main__":
    main()
