"""What breaks a run, and what must be true afterwards."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from launching import Ended, Launcher, Run, spawned

ENGINES = ("csv", "streamed", "parquet", "duckdb", "query")
COMMANDS = ("fit", "synth", "sample", "report")
SCHEMA = """[table]
name = "people"
[columns.sex]
type = "category"
values = ["F", "M"]
[columns.age]
type = "integer"
min = 0
max = 99
[columns.weekday]
type = "integer"
min = 0
max = 6
[columns.shift]
type = "integer"
min = 0
max = 2
"""
# With choices: their answers lie in the ledger's notes until it is committed to again.
BUDGET = ("--schema", "people.toml", "--epsilon", "1", "--delta", "1e-6", "--mechanism", "mst")
ENDINGS = {"fit": "people.release", "synth": "made.csv", "sample": "drawn.parquet", "report": "page.html"}
_MAKE = """
import sys, duckdb, pyarrow as pa, pyarrow.parquet as pq
rows = int(sys.argv[1])
numbers = range(rows)
table = pa.table({
    "sex": ["F", "M"] * (rows // 2),
    "age": [number % 100 for number in numbers],
    "weekday": [number % 7 for number in numbers],
    "shift": [number % 3 for number in numbers],
})
pq.write_table(table, "people.parquet")
with duckdb.connect("town.db") as connection:
    connection.register("made", table)
    connection.execute("CREATE TABLE people AS FROM made")
    connection.execute("COPY made TO 'people.csv' (HEADER)")
"""


class Bench:
    """A folder with one table in several places, commands that are broken, and what came of them."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        engines: Sequence[str] = ENGINES,
        rows: int = 20_000,
        launch: Launcher = spawned,
    ) -> None:
        self.folder, self.random, self.engines, self.launch = folder, random.Random(seed), engines, launch
        self.counted: Counter[tuple[str, bool]] = Counter()
        self.broken: list[str] = []
        self._runs = 0
        self.tell: Callable[[str], None] = lambda _: None
        (folder / "people.toml").write_text(SCHEMA)
        subprocess.run([sys.executable, "-c", _MAKE, str(rows)], cwd=folder, check=True)
        self.addresses = {
            "csv": "people.csv",
            "streamed": "csv:people.csv",
            "parquet": "parquet:people.parquet",
            "duckdb": "duckdb:town.db?table=people",
            "query": "duckdb:?query=SELECT * FROM 'people.parquet'",
            "spark": "spark:parquet:people.parquet",
        }

    @property
    def told(self) -> dict[str, tuple[int, int]]:
        """For each kind of fault, after how many all promises held, and after how many not."""
        kinds = dict.fromkeys(kind for kind, _ in self.counted)
        return {kind: (self.counted[kind, True], self.counted[kind, False]) for kind in kinds}

    def kill(self, times: int, usual: float | None = None, commands: Sequence[str] = COMMANDS[:2]) -> None:
        """Kill runs at random instants until one ends by itself: its job is charged once."""
        usual = self.seconds() if usual is None else usual
        while times > 0:
            engine = self.engines[times % len(self.engines)]
            command = commands[times // len(self.engines) % len(commands)]
            times -= self._kill_until_done(engine, command, usual, min(times, 6))

    def crowd(self, many: int) -> None:
        """Start so many runs at once, two and two the same job: each job is charged once, and all end well."""
        where = self.fresh()
        running = [
            self.start("fit", "csv", where, where / f"{number}.release", "--job", str(number // 2))
            for number in range(many)
        ]
        ended = [run.wait() for run in running]
        spent, codes = self.spent(where), [run.returncode for run in ended]
        self.note(f"{many} at once on one ledger", not any(codes) and spent == many // 2, f"{codes}, {spent}")

    def fill_disk(self) -> None:
        """Write to a device that is always full: a word, nothing left, and the same run elsewhere costs no more."""
        where = self.fresh()
        done = self.run("synth", "csv", where, Path("/dev/full"), "--release", str(where / "kept.release"))
        well = said_well(done, 1) and "charged" in done.stderr
        again = self.run("synth", "csv", where, where / "made.csv")
        self.note(
            "full device", well and again.returncode == 0 and self.spent(where) == 1, done.stderr[-200:]
        )

    def forbid(self) -> None:
        """Write where nothing can be: refused before anything is charged."""
        where = self.fresh()
        for output in ("/proc/nothing.release", "/dev/null/x.release", str(where / "gone" / "x.release")):
            done = self.run("fit", "csv", where, Path(output))
            well = said_well(done, 1, 2) and not (where / "ledger.db").exists()
            self.note("folder that cannot be written", well, done.stderr[-200:])

    def _kill_until_done(self, engine: str, command: str, usual: float, most: int) -> int:
        where, kills = self.fresh(), 0
        output = where / ENDINGS[command]
        paid = 0 if command in ("fit", "synth") else self._release(where)
        kind = f"{command}, {engine}" if command in ("fit", "synth") else command
        while kills < most and not output.exists():
            run = self.start(command, engine, where, output)
            time.sleep(self.random.uniform(0, 1.1 * usual))
            run.kill()
            run.wait()
            kills += 1
            self.note(f"killed {kind}", *self.is_sound(where, output, paid))
        if not output.exists():
            done = self.run(command, engine, where, output)
            self.note(f"resumed {kind}", *self.went_on(done, where, output))
        return max(kills, 1)

    def _release(self, where: Path) -> int:
        """Make a release to sample from or report on; what it cost."""
        self.run("fit", "csv", where, where / "made.release")
        return 1

    def went_on(self, done: Ended, where: Path, output: Path) -> tuple[bool, str]:
        """Whether a run that was begun again ended well, and was paid for once."""
        sound, why = self.is_sound(where, output)
        well = done.returncode == 0 and output.exists() and sound
        return well, f"{done.returncode}: {done.stderr[-300:]} {why}, spent {self.spent(where)}"

    def is_sound(self, where: Path, output: Path, paid: int = 0) -> tuple[bool, str]:
        """Whether what lies there is whole, and paid for: once, or not yet."""
        spent = self.spent(where)
        if not output.exists():
            return spent in (0, 1) and spent >= paid, f"spent {spent}"
        if spent != 1:
            return False, f"{output.name} was released and {spent} spent"
        if output.suffix == ".release":
            done = self.launch(["verify", str(output)], self.folder).wait()
            return done.returncode == 0, done.stderr[-200:]
        data = output.read_bytes()
        ends = {".csv": b"\n", ".parquet": b"PAR1", ".html": b"</html>\n"}[output.suffix]
        return data.rstrip(b"\n").endswith(ends.rstrip(b"\n")), "a partial file has a final name"

    def seconds(self) -> float:
        """How long a run takes that nobody kills, kernels compiled."""
        where = self.fresh()
        self.run("synth", "csv", where, where / "warm.csv")
        start = time.monotonic()
        self.run("synth", "csv", where, where / "made.csv", "--job", "again")
        return time.monotonic() - start

    def fresh(self) -> Path:
        """A new folder for one fault."""
        self._runs += 1
        where = self.folder / f"run-{self._runs}"
        where.mkdir()
        return where

    def words(self, command: str, engine: str, where: Path, output: Path, *more: str) -> list[str]:
        """A command as a person types it."""
        if command in ("sample", "report"):
            rows = ("-n", "200000") if command == "sample" else ()
            return [command, str(where / "made.release"), *rows, "-o", str(output), *more]
        ledger = ("--ledger", str(where / "ledger.db"), "-o", str(output))
        return [command, self.addresses[engine], *BUDGET, *ledger, *more]

    def start(
        self,
        command: str,
        engine: str,
        where: Path,
        output: Path,
        *more: str,
        before: Callable[[], None] | None = None,
    ) -> Run:
        """The run of a command, under way."""
        return self.launch(self.words(command, engine, where, output, *more), self.folder, before=before)

    def run(
        self,
        command: str,
        engine: str,
        where: Path,
        output: Path,
        *more: str,
        before: Callable[[], None] | None = None,
    ) -> Ended:
        """How a command ended that nobody broke."""
        return self.start(command, engine, where, output, *more, before=before).wait()

    def spent(self, where: Path) -> float:
        """The epsilon that the ledger says was spent, on any name; nan where it cannot be read."""
        ledger = where / "ledger.db"
        if not ledger.exists():
            return 0.0
        done = self.launch(["ledger", "--ledger", str(ledger), "--json"], self.folder).wait()
        if done.returncode:
            return 0.0 if "no entries" in done.stderr or "about to be made" in done.stderr else float("nan")
        return float(sum(table["spent"]["epsilon"] for table in json.loads(done.stdout)["tables"]))

    def note(self, kind: str, well: bool, why: str) -> None:
        """Count a fault after which all was as promised, or not."""
        self.counted[kind, well] += 1
        self.tell(f"{'held' if well else 'BROKEN'}: {kind}")
        if not well:
            self.broken.append(f"{kind}: {why}")


def said_well(done: Ended, *codes: int) -> bool:
    """Whether a run ended with one of these codes and a word, not with a traceback or an error that should not be."""
    return done.returncode in codes and "Traceback" not in done.stderr and bool(done.stderr.strip())
