"""What it costs to begin: importing, `--help`, and compiling every kernel for the first time on a machine.

python -m benchmarks.startup
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import understudy

RUNS = 7
ROOT = Path(__file__).resolve().parents[1]

# What `understudy demo` does first: one fit by the default mechanism, and a sample of it.
DEMO_FIT = """
import understudy as us
from understudy.presets import town

people = town.simulate(50_000, seed=1)
schema = us.Schema.from_toml(town.SCHEMA)
release = us.fit(people, schema, epsilon=1.0, delta=1e-9, ledger=us.Ledger("ledger"))
assert release.sample(100).num_rows == 100
"""


def main() -> None:
    """Print the figures: the first three by the clock, fits in processor seconds."""
    print(f"understudy {understudy.__version__}, Python {platform.python_version()}; best of {RUNS}")
    bare = best([sys.executable, "-c", "pass"])
    imported = best([sys.executable, "-c", "import understudy"])
    helped = best([sys.executable, "-m", "understudy", "--help"])
    print(f"  Python itself      {bare:.3f} s")
    print(f"  import understudy  {imported:.3f} s   (at most 0.3)")
    print(f"  understudy --help  {helped:.3f} s   (at most 0.5)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, again = (_fit(folder, "compiled here") for _ in range(2))
        print(f"  the demo's first fit on a machine   {first:.2f} s, compiling; later ones {again:.2f} s")
        shutil.copytree(
            ROOT / "src/understudy", folder / "wheel/understudy", ignore=shutil.ignore_patterns("__pycache__")
        )
        kernels = folder / "wheel/understudy/kernels.bin"
        done = subprocess.run(
            [sys.executable, ROOT / "compile_kernels.py", kernels], capture_output=True, check=False
        )
        if done.returncode or not kernels.exists():
            print("  from a wheel                        SKIPPED, no kernels for this platform")
            return
        _fit(folder, "bytecode", folder / "wheel")  # pip makes it when it installs
        shipped = _fit(folder, "nothing", folder / "wheel")
        size = kernels.stat().st_size / 1e6
        print(
            f"  from a wheel for this platform      {shipped:.2f} s (at most 5); its kernels: {size:.1f} MB"
        )


def _fit(folder: Path, kept: str, package: Path | None = None) -> float:
    """Processor seconds of the demo's fit where kernels are kept in the folder of that name."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / kept)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if package is not None:
            environment["PYTHONPATH"] = str(package)
        seconds = processor([sys.executable, "-c", DEMO_FIT], environment, work)
    if seconds is None:
        raise SystemExit("our own fit failed")
    return seconds


def best(command: list[str]) -> float:
    """The best of some runs: what the command costs when the machine does nothing else."""
    times = [timed(command, os.environ, None) for _ in range(RUNS)]
    return min(seconds for seconds in times if seconds is not None)


def processor(command: list[str], environment: Mapping[str, str], folder: str | None) -> float | None:
    """The processor time that a command took, which a busy machine does not stretch; None when it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if timed(command, environment, folder) is None:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(command: list[str], environment: Mapping[str, str], folder: str | None) -> float | None:
    """How long a command took, or None when it failed."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        print(done.stderr.decode(errors="replace")[-2000:])
        return None
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
