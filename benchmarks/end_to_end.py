"""MST from file to file: Understudy and its peers, each in a fresh process, on the same table in the same run.

    python -m benchmarks.end_to_end [adult] [wide98] [mst | adaptive] [choices] [peers | <a peer>]

`adult` and `wide98` time our own command, cold (no kernel compiled) and warm; `choices` compares what MST leaves
open (shrinking, stopping early, spreading merged codes); `peers` runs each rival once, which takes minutes. A peer is
found through UNDERSTUDY_PEER_<NAME>, a Python that has it, or installed in a temporary environment.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.peers import python_with

import understudy
from understudy.data import Table, read
from understudy.domain import Domain

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
EPSILON, DELTA = 1.0, 1e-9
RUNS = 5
MECHANISMS = ("mst", "adaptive")  # the peers' and the paper's, and the default

# Each peer's script in benchmarks/rivals.
PEERS = {"dpmm": "dpmm_script.py", "smartnoise-synth": "smartnoise_script.py", "mbi": "mbi_script.py"}


@dataclass(frozen=True)
class Run:
    """What a command took: seconds by the clock, seconds of processors, megabytes at most."""

    wall: float
    processor: float
    megabytes: float


def main(wanted: Sequence[str] = ()) -> None:
    """Print the tables asked for; all but the peers when none is."""
    wanted = list(wanted) or [*sys.argv[1:]] or ["adult", "wide98", "choices"]
    mechanisms = [name for name in MECHANISMS if name in wanted] or MECHANISMS
    print(
        f"understudy {understudy.__version__}, Python {platform.python_version()}, {os.cpu_count()} processors, ",
        end="",
    )
    print(
        f"load {os.getloadavg()[0]:.1f}; epsilon {EPSILON:g}, delta {DELTA:g}, file to file, fresh processes"
    )
    if not SHARED.exists():
        print("SKIPPED: no shared data beside the repository")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "adult" in wanted:
            adult(folder, mechanisms)
        if "wide98" in wanted:
            wide98(folder, mechanisms)
        if "choices" in wanted:
            choices(folder)
        chosen = [name for name in PEERS if name in wanted or "peers" in wanted]
        if chosen:
            peers(folder, chosen)


def adult(folder: Path, mechanisms: Sequence[str]) -> None:
    """Time and error of our command on Adult."""
    table, domain = SHARED / "data/adult/adult.csv", _domain(SHARED / "data/adult/adult-domain.json")
    schema = _schema(folder / "adult.toml", domain)
    caches = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    print(
        f"\nAdult (48,842 x 14), mean of {RUNS} runs      seconds  of processors  pair error  triple error   MB"
    )
    _line("understudy, first run ever", _ours(table, schema, folder / "first.csv", caches))
    for mechanism in mechanisms:
        errors, runs = [], []
        for run in range(RUNS):
            out = folder / f"{mechanism}{run}.csv"
            runs.append(_ours(table, schema, out, caches, mechanism))
            errors.append(error(domain, table, out))
        pairs, triples = np.mean(errors, axis=0)
        _line(f"understudy, {mechanism} (best)", _best(runs), f"{pairs:.4f}", f"{triples:.4f}")


def wide98(folder: Path, mechanisms: Sequence[str]) -> None:
    """Time and memory of our command on 661,000 x 98."""
    data = SHARED / "bench/wide98"
    schema = _schema(folder / "wide98.toml", _domain(data / "domain.json"))
    print("\nwide98 (661,000 x 98)                     seconds  of processors                             MB")
    for mechanism in mechanisms:
        out = folder / "wide98.parquet"
        runs = [_ours(data / "wide98.parquet", schema, out, {}, mechanism) for _ in range(2)]
        _line(f"understudy, {mechanism} (best)", _best(runs))


def choices(folder: Path) -> None:
    """Error of what MST leaves open, mean of some runs, in this process."""
    import understudy as us

    table, domain = SHARED / "data/adult/adult.csv", _domain(SHARED / "data/adult/adult-domain.json")
    schema = _schema(folder / "adult.toml", domain)
    print(f"\nAdult, mean of {RUNS} runs                pair error  triple error  pairs measured")
    recipes = {
        "MST()": us.MST(),
        "MST(shrink=False): the paper's fit": us.MST(shrink=False),
        "MST(stop_early=True)": us.MST(stop_early=True),
        "MST(stop_early=True, shrink=False)": us.MST(stop_early=True, shrink=False),
        "MST, the paper to the letter": us.MST(
            one_way=1, select=1, two_way=1, shrink=False, sharpen=False, runs=False
        ),
        "Adaptive()": us.Adaptive(),
    }
    for name, recipe in recipes.items():
        releases = [
            us.fit(
                table,
                schema,
                epsilon=EPSILON,
                delta=DELTA,
                mechanism=recipe,
                job=str(run),
                ledger=folder / "l.db",
            )
            for run in range(RUNS)
        ]
        measured = np.mean([len({m.clique for m in r.measurements if len(m.clique) == 2}) for r in releases])
        for spread in ("counts", "uniform") if name == "MST()" else ("counts",):
            errors = [_error(domain, table, _spread(release, domain, spread)) for release in releases]
            pairs, triples = np.mean(errors, axis=0)
            label = name if spread == "counts" else f"{name}, merged codes spread evenly"
            print(f"  {label:<38} {pairs:>8.4f}  {triples:>12.4f}  {measured:>14.1f}")


def _spread(release: understudy.Release, domain: Domain, spread: str) -> Table:
    codes = release.field.sample(release.rows, seed=0)
    whole = release.compression.reverse(dict(codes.items()), np.random.default_rng(0), spread=spread)
    return Table(
        Domain({name: size + 1 for name, size in domain.items()}), {name: whole[name] for name in domain}
    )


def peers(folder: Path, names: Sequence[str]) -> None:
    """Each of these peers once, on Adult."""
    table, sizes = SHARED / "data/adult/adult.csv", SHARED / "data/adult/adult-domain.json"
    domain = _domain(sizes)
    print("\nAdult, peers, one cold run each           seconds  of processors  pair error  triple error   MB")
    for name in names:
        out = folder / f"{name}.csv"
        with _python(name) as python:
            if python is None:
                continue
            script = Path(__file__).parent / "rivals" / PEERS[name]
            words = ["MST", str(table), str(sizes), str(out), str(EPSILON), str(DELTA)]
            run = measured([python, "-W", "ignore", str(script), *words], folder, {})
            if run is None or not out.exists():
                print(f"  {name}: SKIPPED, it did not run to its end")
                continue
            pairs, triples = error(domain, table, out)
            _line(f"{name} {_version(python, name)}", run, f"{pairs:.4f}", f"{triples:.4f}")


def _python(name: str) -> AbstractContextManager[str | None]:
    named = os.environ.get(f"UNDERSTUDY_PEER_{name.split('-', maxsplit=1)[0].upper()}")
    if named:
        return nullcontext(named)
    return python_with(name)


def _version(python: str, name: str) -> str:
    said = f"from importlib.metadata import version; print(version({name!r}))"
    return subprocess.run([python, "-c", said], capture_output=True, text=True, check=False).stdout.strip()


def _best(runs: Sequence[Run]) -> Run:
    return min(runs, key=lambda run: run.processor)


def _ours(
    table: Path, schema: Path, out: Path, environment: dict[str, str], mechanism: str = MECHANISMS[0]
) -> Run:
    command = [
        sys.executable,
        "-m",
        "understudy",
        "synth",
        str(table),
        "--schema",
        str(schema),
        "-o",
        str(out),
        "--overwrite",
        "--mechanism",
        mechanism,
    ]
    command += ["--epsilon", str(EPSILON), "--delta", str(DELTA), "--job", out.name + str(time.time_ns())]
    run = measured([*command, "--ledger", str(out.parent / "ledger.db")], out.parent, environment)
    if run is None:
        raise SystemExit("our own run failed")
    return run


def measured(command: list[str], folder: Path, environment: dict[str, str]) -> Run | None:
    """What a command took, or None when it failed."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        cwd=folder,
        env={**_as_users_have_it(), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        print(said.decode(errors="replace")[-1500:])
        return None
    return Run(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def _as_users_have_it() -> dict[str, str]:
    """This environment, in which Python keeps the bytecode of modules from one process to the next, as it does."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def error(domain: Domain, real: Path, synthetic: Path) -> tuple[float, float]:
    """Mean total variation distance over all pairs, and over 100 seeded triples."""
    return _error(domain, real, _codes(domain, synthetic))


def _error(domain: Domain, real: Path, made: Table) -> tuple[float, float]:
    ours = _codes(domain, real)
    rng = np.random.default_rng(0)
    pairs = list(itertools.combinations(domain.names, 2))
    triples = [tuple(rng.choice(domain.names, 3, replace=False).tolist()) for _ in range(100)]
    pair, triple = (
        np.mean(
            [
                0.5 * np.abs(a.counts / len(ours) - b.counts / len(made)).sum()
                for a, b in zip(ours.count(cliques), made.count(cliques), strict=True)
            ]
        )
        for cliques in (pairs, triples)
    )
    return float(pair), float(triple)


def _codes(domain: Domain, path: Path) -> Table:
    """The table's codes; a missing cell, which noise may bring about, has a code of its own and counts as wrong."""
    table = read(path)
    wider = Domain({name: size + 1 for name, size in domain.items()})
    codes = {name: table[name].to_numpy().astype(np.float64) for name in domain}
    return Table(
        wider,
        {n: np.where(np.isnan(c), domain[n], np.nan_to_num(c)).astype(np.int64) for n, c in codes.items()},
    )


def _domain(path: Path) -> Domain:
    return Domain(json.loads(path.read_text()))


def _schema(path: Path, domain: Domain) -> Path:
    """A schema of codes 0, 1, 2, ... for every column."""
    lines = ["[table]", f'name = "{path.stem}"']
    for name, size in domain.items():
        lines += [f'[columns."{name}"]', 'type = "integer"', "min = 0", f"max = {max(1, size - 1)}"]
        lines += [f"bins = {size}"] if size > 1000 else []
    path.write_text("\n".join(lines) + "\n")
    return path


def _line(name: str, run: Run, pairs: str = "", triples: str = "") -> None:
    print(
        f"  {name:<38} {run.wall:>8.2f}  {run.processor:>13.2f}  {pairs:>10}  {triples:>12}  {run.megabytes:>5.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
