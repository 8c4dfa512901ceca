"""Generate 661,000 x 98 records from one field, beside mbi on the same field in the same run.

    python -m benchmarks.generation [rows]

For every measured pair the total-variation distance between sample and field is compared with mbi's; for
unmeasured ones with independent draws, which shows whether generation couples siblings.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.peers import python_with

import understudy
from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.model import Field, Sample, estimate

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "bench" / "wide98"
ROWS = 661_000
RUNS = 3

PEER = """
import json, sys, time
from importlib.metadata import version
import numpy as np
import mbi
from mbi import CliqueVector, Domain, Factor, MarkovRandomField

folder, rows, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
header = json.load(open(folder + "/field.json"))
tables = np.load(folder + "/tables.npz")
domain = Domain([n for n, _ in header["domain"]], [s for _, s in header["domain"]])
cliques = [tuple(c) for c in header["cliques"]]
potentials, marginals = {}, {}
for i, clique in enumerate(cliques):
    small = domain.project(clique)
    potentials[clique] = Factor(small, np.log(np.maximum(tables[f"conditional_{i}"], 1e-300)))
    marginals[clique] = Factor(small, tables[f"table_{i}"] * header["total"])
model = MarkovRandomField(
    potentials=CliqueVector(domain, cliques, potentials),
    marginals=CliqueVector(domain, cliques, marginals),
    total=header["total"],
)
answer = {"version": version("mbi"), "seconds": []}
for run in range(runs):
    np.random.seed(run)
    start = time.perf_counter()
    data = model.synthetic_data(rows)
    answer["seconds"].append(time.perf_counter() - start)
    codes = data.to_dict() if hasattr(data, "to_dict") else {c: data.df[c].to_numpy() for c in domain}
    np.savez(folder + f"/codes_{run}.npz", **{n: np.asarray(v) for n, v in codes.items()})
print(json.dumps(answer))
"""


def fitted() -> tuple[Field, list[Clique]]:
    """The field of the wide98 measurements, and the measured pairs."""
    stored = np.load(DATA / "measurements.npz")
    meta = json.loads((DATA / "measurements.json").read_text())
    domain = Domain({name: len(stored[f"y1__{name}"]) for name in meta["attrs"]})
    edges = [tuple(edge) for edge in meta["edges"]]
    measured = [Measurement(e, stored[f"y2__{i}"], meta["sigma2"]) for i, e in enumerate(edges)]
    for name in domain:
        weight = stored[f"w1__{name}"]
        scaled = (lambda x, w=weight: w * x, lambda r, w=weight: w * r)
        measured.append(Measurement(name, stored[f"y1__{name}"], meta["sigma1"], query=scaled))
    return estimate(domain, measured), edges


def distances(
    field: Field, codes: Mapping[str, npt.NDArray[Any]], rows: int, pairs: Sequence[Clique]
) -> npt.NDArray[np.float64]:
    """For every pair the total-variation distance between sample and field."""
    sample = Sample(field.domain, {name: np.array(codes[name]) for name in field.domain}, rows)
    return np.array(
        [
            np.abs(sample.counts(pair).counts / rows - answer.counts / answer.counts.sum()).sum() / 2
            for pair, answer in zip(pairs, field.marginals(pairs), strict=True)
        ]
    )


def peer(field: Field, rows: int, pairs: Sequence[Clique]) -> tuple[str, list[float], Any] | None:
    """mbi's generator on the same field: its name, seconds of every run (the first is cold), distances."""
    with python_with("mbi") as python, tempfile.TemporaryDirectory() as folder:
        if python is None:
            return None
        header, arrays = field.to_arrays()
        (Path(folder) / "field.json").write_text(json.dumps(header))
        tables = {}
        for i, clique in enumerate(field.cliques):
            table = arrays[f"clique_{i}"]
            above = field.tree.separator(i)
            axes = tuple(k for k, name in enumerate(clique) if name not in above)
            mass = table.sum(axis=axes, keepdims=True) if above else np.ones(1)
            tables[f"table_{i}"] = table
            tables[f"conditional_{i}"] = np.divide(table, mass, out=np.zeros_like(table), where=mass > 0)
        np.savez(Path(folder) / "tables.npz", **tables)
        done = subprocess.run(
            [python, "-c", PEER, folder, str(rows), str(RUNS)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "JAX_ENABLE_X64": "1"},
        )
        if done.returncode:
            print("mbi: SKIPPED, it failed:", done.stderr.strip().splitlines()[-1:])
            return None
        answer = json.loads(done.stdout.splitlines()[-1])
        far = []
        for run in range(RUNS):
            with np.load(Path(folder) / f"codes_{run}.npz") as codes:
                far.append(distances(field, codes, rows, pairs))
        return f"mbi {answer['version']}", answer["seconds"], np.array(far)


def ours(field: Field, rows: int, method: str, pairs: Sequence[Clique]) -> tuple[list[float], Any]:
    """Seconds of every run after one to warm up, and distances by run and pair."""
    field.sample(1000, method=method)
    seconds, far = [], []
    for run in range(RUNS):
        start = time.perf_counter()
        sample = field.sample(rows, seed=run, method=method)
        seconds.append(time.perf_counter() - start)
        far.append(distances(field, dict(sample.items()), rows, pairs))
    return seconds, np.array(far)


def unmeasured(field: Field, pairs: Sequence[Clique], count: int = 300) -> list[Clique]:
    """Some pairs that were not measured, among them every pair of siblings met first."""
    names, known = field.domain.names, {frozenset(pair) for pair in pairs}
    others = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if frozenset((a, b)) not in known]
    chosen = np.random.default_rng(0).permutation(len(others))[:count]
    return [others[k] for k in chosen]


def line(name: str, seconds: Sequence[float], far: Any, best: Any | None) -> None:
    """Print one row: time, distances, and how often each pair is at most the rival's."""
    share = "" if best is None else f"{100 * np.mean(far.mean(axis=0) <= best.mean(axis=0)):>13.0f}%"
    print(f"{name:<24}{min(seconds):>9.2f}{far.mean():>13.6f}{far.max():>11.6f}{share}")


def main() -> None:
    """Print the table."""
    if not DATA.exists():
        print("generation: SKIPPED, the wide98 benchmark data is not beside the repository")
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    field, pairs = fitted()
    print(f"understudy {understudy.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    print(
        f"{rows:,} x {len(field.domain)} records, {field.tree.cells:,} cells, {len(pairs)} measured pairs\n"
    )
    rival = peer(field, rows, pairs)
    print(f"{'':<24}{'best s':>9}{'mean TV':>13}{'worst TV':>11}{'pairs <= mbi':>14}")
    if rival:
        line(rival[0], rival[1][1:], rival[2], None)
    for method in ("synthetic", "paper", "iid"):
        seconds, far = ours(field, rows, method, pairs)
        line(f"understudy {method}", seconds, far, rival[2] if rival else None)
        if rival and method == "synthetic":
            ratio = min(rival[1][1:]) / min(seconds)
            print(
                f"  {ratio:.0f} times faster than mbi warm (at least 10 wanted); mbi cold {rival[1][0]:.1f} s"
            )
            worst = (far.mean(axis=0) / rival[2].mean(axis=0)).max()
            print(f"  largest ratio of a pair's distance to mbi's, means of {RUNS} runs: {worst:.3f}")
    others = unmeasured(field, pairs)
    means = {method: ours(field, rows, method, others)[1].mean() for method in ("synthetic", "iid")}
    print(
        f"\n{len(others)} unmeasured pairs, mean TV: " + ", ".join(f"{k} {v:.6f}" for k, v in means.items())
    )


if __name__ == "__main__":
    main()
