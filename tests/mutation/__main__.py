"""Mutants of the product, and what the tests make of each: `python tests/mutation --help`.

Every verdict is kept in a folder, so a run that was stopped goes on where it stopped, and a mutant whose function has
not changed is not tried again. Survivors are listed, each with its change, unless `explained.toml` says why no test
needs to see it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from live import Live
from mutants import Mutant, mutants_of, read, sampled
from trials import ALL, FIRST, Reached, Trials, chosen

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "src" / "understudy"
TARGETS = [
    "privacy/**/*.py",
    "mechanisms/**/*.py",
    "pipeline/**/*.py",
    "transforms/**/*.py",
    "domain/columns/**/*.py",
    "domain/arrays.py",
    "domain/grammar.py",
    "domain/cell_votes.py",
    *(
        f"data/files/{name}.py"
        for name in ("frames", "table_file", "file_set", "reading", "delimited", "text_file")
    ),
    *(f"data/counting/{name}.py" for name in ("units", "kept_records", "bytes_of_values")),
]
# Engines that need a server or a cluster are tried by tests that are too slow for this.
EXCEPT = {"spark.py", "postgres.py"}
TESTS = [
    "tests/privacy",
    "tests/laws/test_reading_laws.py",
    "tests/laws/test_schema_laws.py",
    "tests/laws/test_frame_laws.py",
    "tests/paper",
    "tests/conformance",
    "tests/unit/data",
    "tests/unit/mechanisms",
    "tests/unit/pipeline",
    "tests/unit/transforms",
    "tests/unit/cli",
]
# Tests that start processes of their own would not meet a mutant there; audits take too long.
WITHOUT = [
    "test_spark.py",
    "test_spark_connect.py",
    "test_postgres.py",
    "test_on_postgres.py",
    "test_ledger_crash.py",
    "test_audit.py",
]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/mutation", description=__doc__)
    parser.add_argument(
        "--sample", type=int, default=0, help="how many mutants, drawn from every file (default: all)"
    )
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--only", default="", help="files whose path begins so, such as privacy/")
    parser.add_argument("--keys", default="", help="these mutants alone, by their keys with commas between")
    parser.add_argument("--again", action="store_true", help="try survivors again, but for those explained")
    parser.add_argument("--report", action="store_true", help="try nothing; say what is known")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long (default: at the end)")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutants", help="where verdicts are kept")
    return parser.parse_args()


class Verdicts:
    """What became of every mutant tried so far, kept line by line."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._file = folder / "verdicts.jsonl"
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        self.known: dict[str, str] = dict(json.loads(line) for line in lines)

    def keep(self, name: str, verdict: str) -> None:
        """Write a verdict down."""
        self.known[name] = verdict
        with self._file.open("a") as file:
            print(json.dumps([name, verdict]), file=file)


def explained() -> dict[str, str]:
    """Why a survivor needs no test, by the key of its change."""
    said: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "explained.toml").read_text())[
        "mutant"
    ]
    return {entry["key"]: entry["why"] for entry in said}


def _warm() -> None:
    """Load what every test loads, compiled kernels above all."""
    import tempfile

    import numpy as np
    import pyarrow as pa

    import understudy as us
    from understudy.privacy import Seeded

    table = pa.table({name: np.arange(200) % size for name, size in zip("abc", (2, 3, 5), strict=True)})
    with tempfile.TemporaryDirectory() as folder:
        us.fit(table, epsilon=1.0, delta=1e-6, ledger=f"{folder}/ledger", source=Seeded(1)).sample(10)


def _reached(trials: Trials, live: Live, sources: dict[str, bytes], folder: Path) -> dict[str, Reached]:
    """What every test calls, remembered for as long as its file is the same."""
    files: dict[str, list[str]] = {}
    for name in trials.items:
        files.setdefault(name.split("::")[0], []).append(name)
    whole: dict[str, Reached] = {}
    for number, (path, names) in enumerate(sorted(files.items()), 1):
        digest = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]
        kept = folder / f"reach-{path.replace('/', '-')}-{digest}.json"
        if kept.exists():
            found = {
                name: Reached(seconds, frozenset(map(tuple, functions)))
                for name, seconds, functions in json.loads(kept.read_text())
            }
        else:
            print(f"{number}/{len(files)} what {path} calls", flush=True)
            found = trials.reach(live, sources, names)
            kept.write_text(json.dumps([[n, r.seconds, sorted(r.functions)] for n, r in found.items()]))
        whole |= {name: test for name, test in found.items() if name in trials.items}
    return whole


def _try(
    trials: Trials, todo: list[Mutant], sources: dict[str, bytes], verdicts: Verdicts, asked: Any
) -> None:
    _warm()
    live = Live(HOME)
    tests = _reached(trials, live, sources, asked.folder)
    print(f"{len(tests)} tests, {len(todo)} mutants to try", flush=True)
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    for number, mutant in enumerate(todo, 1):
        if time.monotonic() > end:
            print("out of time: run it again to go on")
            return
        verdict = "survived: no test calls it"
        done: list[str] = []
        for limit in (FIRST, ALL):
            names = chosen(tests, mutant, limit, done)
            if not names:
                break
            seconds = sum(tests[name].seconds for name in names)
            verdict = trials.verdict(live, mutant, sources[mutant.path], names, seconds)
            done += names
            if verdict != "survived":
                break
        verdicts.keep(mutant.key, verdict)
        if not verdict.startswith("caught"):
            print(f"{number}/{len(todo)} {verdict}: {mutant} {mutant.key}", flush=True)


def _report(mutants: list[Mutant], sources: dict[str, bytes], verdicts: Verdicts) -> None:
    reasons = explained()
    counts: dict[str, int] = {}
    for mutant in sorted(mutants, key=lambda mutant: (mutant.path, mutant.start)):
        verdict = verdicts.known.get(mutant.key, "not tried")
        kind = verdict.split(":")[0].split(" by ")[0]
        if kind == "survived" and mutant.key in reasons:
            kind = "explained"
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "survived":
            print(f"\n{verdict}: {mutant} (key {mutant.key})")
            old = sources[mutant.path].splitlines()[mutant.line - 1].decode().strip()
            new = mutant.applied(sources[mutant.path]).splitlines()[mutant.line - 1].decode().strip()
            print(f"  - {old}\n  + {new}")
    print(f"\n{len(mutants)} mutants: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))


def main() -> None:
    """Try a sample of mutants, and say what became of it."""
    asked = _arguments()
    sources = {path: text for path, text in read(HOME, TARGETS).items() if Path(path).name not in EXCEPT}
    every = [mutant for path, text in sources.items() for mutant in mutants_of(path, text)]
    sample = [m for m in sampled(every, asked.sample, asked.seed) if m.path.startswith(asked.only)]
    keys = set(filter(None, asked.keys.split(",")))
    if keys:
        sample = [mutant for mutant in every if mutant.key in keys]
    verdicts = Verdicts(asked.folder)
    reasons = explained()

    def is_open(mutant: Mutant) -> bool:
        known = verdicts.known.get(mutant.key)
        unseen = asked.again and mutant.key not in reasons
        return known is None or bool(keys) or (unseen and known.startswith(("survived", "out of time")))

    todo = [mutant for mutant in sample if is_open(mutant)]
    if todo and not asked.report:
        print(f"{len(every)} mutants in {len(sources)} files; a sample of {len(sample)}", flush=True)
        os.chdir(ROOT)
        trials = Trials(HOME, lambda ready: _try(ready, todo, sources, verdicts, asked))
        ignored = [f"--ignore-glob=*{name}" for name in WITHOUT]
        ignored += ["-k", "not spark and not postgres and not duckdb"]
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0", *ignored, *TESTS]
        pytest.main(options, plugins=[trials])
    _report(sample, sources, verdicts)


if __name__ == "__main__":
    sys.exit(main())
