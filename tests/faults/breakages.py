"""What breaks a run, and what must be true afterwards."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ENGINES = ("csv", "streamed", "parquet", "duckdb", "query")
SCHEMA = """[table]
name = "people"
[columns.sex]
type = "category"
values = ["F", "M"]
[columns.age]
type = "integer"
min = 0
max = 99
"""
BUDGET = ("--schema", "people.toml", "--epsilon", "1", "--delta", "1e-6", "--mechanism", "independent")


class Bench:
    """A folder with one table in several places, commands that are broken, and what came of them."""

    def __init__(self, folder: Path, seed: int, engines: Sequence[str] = ENGINES, rows: int = 20_000) -> None:
        self.folder, self.random, self.engines = folder, random.Random(seed), engines
        self.counted: Counter[tuple[str, bool]] = Counter()
        self.broken: list[str] = []
        self._runs = 0
        (folder / "people.toml").write_text(SCHEMA)
        table = pa.table({"sex": ["F", "M"] * (rows // 2), "age": [number % 100 for number in range(rows)]})
        pq.write_table(table, folder / "people.parquet")
        with duckdb.connect(str(folder / "town.db")) as connection:
            connection.register("made", table)
            connection.execute("CREATE TABLE people AS FROM made")
            connection.execute(f"COPY made TO '{folder}/people.csv' (HEADER)")
        self.addresses = {
            "csv": "people.csv",
            "streamed": "csv:people.csv",
            "parquet": "parquet:people.parquet",
            "duckdb": "duckdb:town.db?table=people",
            "query": "duckdb:?query=SELECT * FROM 'people.parquet'",
        }

    @property
    def told(self) -> dict[str, tuple[int, int]]:
        """For each kind of fault, after how many all promises held, and after how many not."""
        kinds = dict.fromkeys(kind for kind, _ in self.counted)
        return {kind: (self.counted[kind, True], self.counted[kind, False]) for kind in kinds}

    def kill(self, times: int, usual: float | None = None) -> None:
        """Kill runs at random instants until one ends by itself: its job is charged once."""
        usual = self._seconds() if usual is None else usual
        while times > 0:
            engine = self.engines[times % len(self.engines)]
            command = ("fit", "synth")[times // len(self.engines) % 2]
            times -= self._kill_until_done(engine, command, usual, min(times, 6))

    def crowd(self, many: int) -> None:
        """Start so many runs at once, two and two the same job: each job is charged once, and all end well."""
        where = self._fresh()
        running = [
            subprocess.Popen(
                self._words("fit", "csv", where, where / f"{number}.release", "--job", str(number // 2)),
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(many)
        ]
        codes = [run.wait(600) for run in running]
        spent = self._spent(where)
        self._note(
            "many at once on one ledger", not any(codes) and spent == many // 2, f"{codes}, spent {spent}"
        )

    def fill_disk(self) -> None:
        """Write to a device that is always full: a word, nothing left, and the same run elsewhere costs no more."""
        where = self._fresh()
        done = self._run("synth", "csv", where, Path("/dev/full"), "--release", str(where / "kept.release"))
        well = done.returncode == 1 and "Traceback" not in done.stderr and "charged" in done.stderr
        again = self._run("synth", "csv", where, where / "made.csv")
        self._note(
            "full disk", well and again.returncode == 0 and self._spent(where) == 1, done.stderr[-200:]
        )

    def forbid(self) -> None:
        """Write where nothing can be: refused before anything is charged."""
        where = self._fresh()
        for output in ("/proc/nothing.release", "/dev/null/x.release"):
            done = self._run("fit", "csv", where, Path(output))
            well = (
                done.returncode in (1, 2)
                and "Traceback" not in done.stderr
                and not (where / "ledger.db").exists()
            )
            self._note("folder that cannot be written", well, done.stderr[-200:])

    def _kill_until_done(self, engine: str, command: str, usual: float, most: int) -> int:
        where, kills = self._fresh(), 0
        output = where / ("made.csv" if command == "synth" else "people.release")
        words = self._words(command, engine, where, output)
        while kills < most and not output.exists():
            run = subprocess.Popen(
                words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(self.random.uniform(0, 1.1 * usual))
            run.kill()
            run.wait()
            kills += 1
            self._note(f"killed {command}, {engine}", *self._is_sound(where, output))
        if not output.exists():
            done = subprocess.run(
                words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=600
            )
            well = done.returncode == 0 and self._spent(where) == 1
            self._note(
                f"resumed {command}, {engine}", well, f"{done.stderr[-200:]} spent {self._spent(where)}"
            )
        return max(kills, 1)

    def _is_sound(self, where: Path, output: Path) -> tuple[bool, str]:
        """Whether what lies there is whole, and paid for."""
        spent = self._spent(where)
        if output.exists():
            if spent != 1:
                return False, f"{output.name} was released and {spent} spent"
            if output.suffix == ".release":
                check = [sys.executable, "-m", "understudy", "verify", str(output)]
                done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=600)
                return done.returncode == 0, done.stderr[-200:]
            return output.read_bytes().endswith(b"\n"), "a partial file has a final name"
        return spent <= 1, f"spent {spent}"

    def _seconds(self) -> float:
        """How long a run takes that nobody kills, kernels compiled."""
        where = self._fresh()
        self._run("synth", "csv", where, where / "warm.csv")
        start = time.monotonic()
        self._run("synth", "csv", where, where / "made.csv")
        return time.monotonic() - start

    def _fresh(self) -> Path:
        self._runs += 1
        where = self.folder / f"run-{self._runs}"
        where.mkdir()
        return where

    def _words(self, command: str, engine: str, where: Path, output: Path, *more: str) -> list[str]:
        ledger = ("--ledger", str(where / "ledger.db"), "-o", str(output))
        return [sys.executable, "-m", "understudy", command, self.addresses[engine], *BUDGET, *ledger, *more]

    def _run(
        self, command: str, engine: str, where: Path, output: Path, *more: str
    ) -> subprocess.CompletedProcess[str]:
        words = self._words(command, engine, where, output, *more)
        return subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=600
        )

    def _spent(self, where: Path) -> float:
        """The epsilon that the ledger says was spent, on any name."""
        ledger = where / "ledger.db"
        if not ledger.exists():
            return 0.0
        words = [sys.executable, "-m", "understudy", "ledger", "--ledger", str(ledger), "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, env=os.environ)
        if done.returncode:
            return 0.0 if "no entries" in done.stderr or "about to be made" in done.stderr else float("nan")
        return float(sum(table["spent"]["epsilon"] for table in json.loads(done.stdout)["tables"]))

    def _note(self, kind: str, well: bool, why: str) -> None:
        self.counted[kind, well] += 1
        if not well:
            self.broken.append(f"{kind}: {why}")
