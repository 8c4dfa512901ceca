"""All pairs of 661,000 x 98 and all triples of Adult, beside NumPy multiply-and-bincount on the same columns.

    python -m benchmarks.counting

The 98 columns are compressed as a mechanism would (the maps that come with the table): their raw sizes make
650 million pair cells, which no method would keep. Both methods count the same encoded columns.
"""

from __future__ import annotations

import csv
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import understudy
from understudy.data import Table
from understudy.domain import Clique, Domain

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
RUNS = 5

Codes = Mapping[str, npt.NDArray[Any]]


def main() -> None:
    """Print both figures with their ratio, or why one was skipped."""
    print(f"understudy {understudy.__version__}, numba {numba.__version__}, numpy {np.__version__}, ", end="")
    print(f"Python {platform.python_version()}; best of {RUNS}, taken in turn")
    for label, load, order, least in (
        ("pairs of wide98", wide98, 2, 3.0),
        ("triples of adult", adult, 3, 3.0),
    ):
        try:
            domain, codes = load()
        except FileNotFoundError:
            print(f"  {label}: SKIPPED, the table is not beside the checkout")
            continue
        compare(label, domain, codes, list(combinations(domain, order)), least)


def wide98() -> tuple[Domain, Codes]:
    """The benchmark table with its large columns compressed."""
    folder = SHARED / "bench" / "wide98"
    table = pq.read_table(folder / "wide98.parquet")
    maps = np.load(folder / "measurements.npz")
    sizes, codes = {}, {}
    for name in table.column_names:
        recoding = maps[f"map__{name}"]
        sizes[name] = int(recoding.max()) + 1
        codes[name] = recoding.astype(np.min_scalar_type(sizes[name] - 1))[table[name].to_numpy()]
    return Domain(sizes), codes


def adult() -> tuple[Domain, Codes]:
    """Adult, integer-coded as it comes."""
    folder = SHARED / "data" / "adult"
    domain = Domain(json.loads((folder / "adult-domain.json").read_text()))
    with open(folder / "adult.csv", newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    whole = np.array(rows, np.int64)
    codes = {
        name: whole[:, names.index(name)].astype(np.min_scalar_type(domain[name] - 1)) for name in domain
    }
    return domain, codes


def compare(label: str, domain: Domain, codes: Codes, cliques: Sequence[Clique], least: float) -> None:
    """Count in both ways, check that they agree, and print the times."""
    table = Table(domain, codes)

    def ours() -> list[npt.NDArray[Any]]:
        return [marginal.counts for marginal in table.count(cliques)]

    def theirs() -> list[npt.NDArray[Any]]:
        return [bincount(domain, table.columns, clique) for clique in cliques]

    same = all(np.array_equal(a, b) for a, b in zip(ours(), theirs(), strict=True))
    best: dict[str, float] = {}
    for _ in range(RUNS):
        for name, method in (("understudy", ours), ("numpy", theirs)):
            best[name] = min(timed(method), best.get(name, float("inf")))
    ratio = best["numpy"] / best["understudy"]
    print(
        f"  {len(cliques):,} {label}, {len(table):,} records: understudy {best['understudy']:.3f} s, ", end=""
    )
    print(f"numpy {best['numpy']:.3f} s, {ratio:.1f} times faster (at least {least:g}), ", end="")
    print("same counts" if same else "COUNTS DIFFER")


def timed(method: Callable[[], Any]) -> float:
    """How long a method takes, with all that it gives kept until the end."""
    start = time.perf_counter()
    result = method()
    seconds = time.perf_counter() - start
    del result
    return seconds


def bincount(domain: Domain, codes: Codes, clique: Clique) -> npt.NDArray[Any]:
    """One marginal in NumPy: codes combined into a cell number, and those counted."""
    cell = codes[clique[0]].astype(np.int64)
    for name in clique[1:]:
        cell *= domain[name]
        cell += codes[name]
    return np.bincount(cell, minlength=domain.size(clique)).reshape(domain.shape(clique))


if __name__ == "__main__":
    main()
