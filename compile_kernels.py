"""Compile the kernels that commands need, so that no first command waits for it.

    python compile_kernels.py          # into the folder where Numba keeps them
    python compile_kernels.py FILE     # for every processor of the baseline, into a file that a wheel takes along

Commands are run on a small simulated town: what they compile is what is there afterwards.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import tempfile
from itertools import combinations
from pathlib import Path

# A town that has all types of columns; then another mechanism, and people who have several records each.
BUDGET = "--epsilon 1 --delta 1e-9"
COMMANDS = (
    "demo --rows 1500",
    f"plan demo/town.toml --rows 1500 {BUDGET}",
    f"fit demo/town.csv --schema demo/town.toml --mechanism mst {BUDGET} --ledger l.db -o mst.release",
    "sample mst.release -n 1000 -o mst.parquet",
    f"fit parquet:mst.parquet --schema demo/town.toml --mechanism mst {BUDGET} --ledger l.db -o again.release",
    f"fit visits.csv --schema visits.toml {BUDGET} --ledger l.db -o visits.release",
    "verify visits.release",
)
VISITS = """[table]
name = "visits"
unit = "who"
max_records_per_unit = 2

[columns.where]
type = "category"
discover = true

[columns.cost]
type = "number"
min = 0
max = 1000
"""


def main() -> None:
    """Compile, here or into the file that is named."""
    if len(sys.argv) == 1:
        run_commands()
    else:
        for_a_wheel(Path(sys.argv[1]).resolve())


def for_a_wheel(place: Path) -> None:
    """Compile for the baseline of this machine, not for the processor that is here, and write the kernels."""
    if any(name.startswith("numba") for name in sys.modules):
        raise RuntimeError("Numba is loaded and knows its processor: run this file by itself.")
    with tempfile.TemporaryDirectory() as nothing_kept:
        os.environ |= {"NUMBA_CACHE_DIR": nothing_kept, "NUMBA_CPU_FEATURES": ""}
        os.environ["NUMBA_CPU_NAME"] = "x86-64-v3"  # the one whose features `shipped_kernels` asks for
        from understudy.compiled import KERNELS
        from understudy.shipped_kernels import ship

        run_commands()
        ship(KERNELS, place)


def run_commands() -> None:
    """Every command, in this process, in a folder that goes."""
    from understudy.cli import understudy

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        Path("visits.toml").write_text(VISITS)
        visits = [f"{number // 3},{'abc'[number % 3]},{number % 97}\n" for number in range(3000)]
        Path("visits.csv").write_text("".join(["who,where,cost\n", *visits]))
        try:
            for line in COMMANDS:
                understudy(line.split(), standalone_mode=False)
            call_what_few_runs_call()
        finally:
            os.chdir(before)
            gc.unfreeze()  # a command sets aside what it loads, as its process ends soon
            gc.collect()  # DuckDB complains of its types that lie in circles at the end


def call_what_few_runs_call() -> None:
    """Whether a run calls these depends on its size, its noise or an option: they are called here by themselves."""
    import numpy as np

    import understudy as us
    from understudy.data.files.text.record_ends import end_of_records
    from understudy.domain import Domain
    from understudy.marginals import Measurement
    from understudy.model.sampling.rounding import collect, deal
    from understudy.privacy.accounting.discrete_gaussian_curve import cell_curve

    end_of_records(b"a,b\n1,2\n", ",")
    cell_curve(0.5, np.array([1.0]))
    us.load("mst.release").field.sample(100, seed=0, method="paper")
    for codes in (np.uint8, np.uint16, np.uint32):  # a column's type, by how many values it has
        pool, first = np.zeros(3, codes), np.zeros(1, np.int64)
        deal(np.array([[1, 2]]), first, pool, np.uint64(1))
        collect(np.zeros(3, np.int64), first, pool, pool.copy())
    random, names = np.random.default_rng(0), "abcde"
    loops = [Measurement(pair, random.gamma(0.3, 30, 16), 1.0) for pair in combinations(names, 2)]
    sharp = Measurement(tuple("abc"), random.gamma(0.3, 30, 64), 0.01)
    us.estimate(Domain(dict.fromkeys(names, 4)), [*loops, sharp])
    chain = us.estimate(
        Domain(dict.fromkeys("abc", 4)), [m for m in loops if m.clique in (("a", "b"), ("b", "c"))]
    )
    chain.with_beside({("a", "c"): np.eye(4)}).sample(100, seed=0)


if __name__ == "__main__":
    main()
