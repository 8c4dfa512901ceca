"""Processes besides the run itself that are killed: a PostgreSQL server, Spark's workers, the studio's work."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from breakages import SCHEMA, Bench, said_well
from launching import spawned

_LOAD = """
import sys
sys.path[:0] = sys.argv[1:2]
import pyarrow.parquet as pq
from adbc_driver_postgresql import dbapi
with dbapi.connect(sys.argv[2]) as connection, connection.cursor() as cursor:
    cursor.adbc_ingest("people", pq.read_table("people.parquet"), mode="create")
    connection.commit()
"""


def postgres_killed(bench: Bench, times: int, usual: float) -> str:
    """A server that is stopped in the middle of whatever it does, at a random instant; then it is there again."""
    from postgres_server import Server, binaries

    place = binaries()
    if place is None:
        return "no PostgreSQL server here"
    server = _server(Server, place)
    try:
        uri = server.uri()
        subprocess.run([sys.executable, "-c", _LOAD, "", uri], cwd=bench.folder, check=True)
        bench.addresses["postgresql"] = server.address("people")
        for _ in range(times):
            where = bench.fresh()
            output = where / "people.release"
            run = bench.start("fit", "postgresql", where, output)
            time.sleep(bench.random.uniform(0, usual))
            server.stop()
            done = run.wait()
            sound, why = bench.is_sound(where, output)
            told = done.returncode == 0 or said_well(done, 1, 2)
            bench.note("PostgreSQL server killed", sound and told, f"{done.stderr[-300:]} {why}")
            server.start()
            if done.returncode:
                done = bench.run("fit", "postgresql", where, output)
                bench.note("PostgreSQL server back", *bench.went_on(done, where, output))
        engines, bench.engines = bench.engines, ("postgresql",)
        bench.kill(times, usual)
        bench.engines = engines
    finally:
        server.remove()
    return ""


def _server(kind: type, place: Path):  # type: ignore[no-untyped-def]
    """A server whose table is loaded by another process: this one forks, and must have no thread."""
    made = object.__new__(kind)
    execute, kind.execute = kind.execute, lambda self, *_: None
    try:
        made.__init__(place)
    finally:
        kind.execute = execute
    return made


def studio_killed(bench: Bench, times: int, usual: float) -> None:
    """The process of a studio's run is killed at random instants, and begun again: charged once, all files whole."""
    from understudy.studio.work_folder import WorkFolder

    while times > 0:
        where = bench.fresh()
        work = WorkFolder(where / "run")
        work.describe(
            {
                "work": "fit",
                "data": str(bench.folder / "people.csv"),
                "epsilon": 1.0,
                "delta": 1e-6,
                "mechanism": "independent",
                "ledger": str(where / "ledger.db"),
                "label": "one",
                "seed": 1,
            }
        )
        (work.folder / "schema.toml").write_text(SCHEMA)
        for _ in range(min(times, 5)):
            if work.outcome is not None:
                break
            process = _worker(work.folder)
            time.sleep(bench.random.uniform(0.3, 1.1) * usual)
            process.kill()
            process.wait()
            times -= 1
            kept = work.folder / "table.release"
            bench.note("killed studio's run", *bench.is_sound(where, kept))
        if work.outcome is None:
            _worker(work.folder).wait()
        said = work.outcome or {"state": "no outcome"}
        made = work.folder / "synthetic.parquet"
        sound, why = bench.is_sound(where, made)
        page = work.folder / "report.html"
        well = (
            said["state"] == "done"
            and sound
            and made.exists()
            and page.read_text().strip().endswith("</html>")
        )
        bench.note("resumed studio's run", well, f"{said} {why}")


def _worker(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "understudy.studio.work_process", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def spark_killed(bench: Bench, times: int) -> str:
    """Runs on Spark killed whole, and Spark's Python workers killed under a run; few, since each starts a session."""
    if shutil.which("java") is None:
        return "no Java here, so no Spark"
    for number in range(times):
        where = bench.fresh()
        output = where / "people.release"
        words = bench.words("fit", "spark", where, output)
        start = time.monotonic()
        run = spawned(words, bench.folder, before=os.setsid, environment={"SPARK_LOCAL_IP": "127.0.0.1"})
        if number % 2 == 0:
            time.sleep(bench.random.uniform(2, 25))
            os.killpg(run.process.pid, signal.SIGKILL)
            run.wait()
            bench.note("killed fit, spark", *bench.is_sound(where, output))
        else:
            _kill_workers(run.process, until=start + 120)
            done = run.wait()
            sound, why = bench.is_sound(where, output)
            told = done.returncode == 0 or said_well(done, 1, 2)
            bench.note(
                "Spark's workers killed", sound and told, f"{done.returncode} {done.stderr[-300:]} {why}"
            )
        if not output.exists():
            done = spawned(words, bench.folder).wait()
            bench.note("resumed fit, spark", *bench.went_on(done, where, output))
    return ""


def _kill_workers(process: subprocess.Popen[str], until: float) -> None:
    """Kill the first Python workers that a run's session starts."""
    while process.poll() is None and time.monotonic() < until:
        found = [
            pid for pid in _below(process.pid) if "pyspark" in _words_of(pid) and "daemon" in _words_of(pid)
        ]
        if found:
            time.sleep(0.2)
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            return
        time.sleep(0.05)


def _below(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(one): int(other) for one, other in (line.split() for line in listed.splitlines())}
    found = {pid}
    for _ in range(20):
        found |= {one for one, parent in parents.items() if parent in found}
    return sorted(found - {pid})


def _words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
