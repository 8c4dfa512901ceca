"""Peers: where each one's Python is, which version, and how a cell of theirs is played."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.accuracy.cells import ROOT, Cell, Outcome, Store, digest_of
from benchmarks.accuracy.data_sets import Codes, DataSet, read_set
from benchmarks.accuracy.play import last_line
from benchmarks.accuracy.scores import errors
from benchmarks.peers import kept_python

SCRIPTS = ROOT / "benchmarks" / "rivals"
ENVIRONMENTS = ROOT / "build" / "peers"
PATIENCE = 3  # times its limit that a peer may take by the clock while others use the machine


@dataclass(frozen=True)
class Peer:
    """A system of others: its package as it is installed, the script that runs it, the mechanism's word there."""

    package: str
    requirement: str
    script: str
    mechanism: str

    @property
    def python(self) -> str | None:
        """A Python that has it: named by UNDERSTUDY_PEER_<NAME>, or kept in build/peers; None where there is none."""
        return kept_python(self.package, self.requirement, ENVIRONMENTS)

    @property
    def version(self) -> str:
        """The package's name and version."""
        return f"{self.package} {_version(self.python or '', self.package)}"


_PACKAGES = {
    "mbi": ("mbi", "mbi", "mbi_script.py"),
    "dpmm": ("dpmm", "dpmm", "dpmm_script.py"),
    # Its mbi asks for pandas, which it does not bring.
    "opendp": ("opendp", "opendp[mbi,polars] pandas", "opendp_script.py"),
    "smartnoise": ("smartnoise-synth", "smartnoise-synth", "smartnoise_script.py"),
}
# The cheaper mechanism of each first: a table is worth reading as early as it can be.
PEERS = {
    f"{name} {mechanism}": Peer(*said, mechanism)
    for mechanism in ("MST", "AIM")
    for name, said in _PACKAGES.items()
}


def play_peer(cell: Cell, store: Store, limit_s: float) -> Outcome:
    """The outcome of one run, file to file in a fresh process; kept, also when it fails or runs out of time."""
    peer = PEERS[cell.system]
    files = [SCRIPTS / "coded_files.py", SCRIPTS / peer.script]
    code = store.put_code({path.relative_to(ROOT).as_posix(): digest_of(path) for path in files})
    outcome = Outcome(None, None, 0.0, 0.0, 0.0, os.getloadavg()[0], limit_s, peer.version, code)
    records = read_set(cell.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, domain, out = folder / "table.csv", folder / "domain.json", folder / "made.csv"
        _write(records, table)
        domain.write_text(json.dumps(dict(records.sizes)), encoding="utf-8")
        words = [str(SCRIPTS / peer.script), peer.mechanism, str(table), str(domain), str(out)]
        command = [peer.python or sys.executable, "-W", "ignore", *words, str(cell.epsilon), "1e-9"]
        outcome = _run(command, folder, outcome)
        if not outcome.failed and out.exists():
            found = errors(records.columns, _read(records, out))
            outcome = replace(outcome, pairs=found.pairs, triples=found.triples)
        elif not outcome.failed:
            outcome = replace(outcome, failed="wrote no records")
    store.put(cell, outcome)
    return outcome


def _run(command: list[str], folder: Path, outcome: Outcome) -> Outcome:
    """What a command took, with why it failed; it is stopped at its limit (see `_out_of_time`)."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        # A session of its own, so that what the peer starts in turn can be stopped with it.
        child = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        )
        ended, stopped = os.wait4(child.pid, os.WNOHANG), False
        try:
            while ended[0] == 0 and not stopped:
                time.sleep(0.2)
                stopped = _out_of_time(child.pid, time.perf_counter() - begun, outcome.limit_s)
                ended = os.wait4(child.pid, os.WNOHANG)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            if ended[0] == 0:
                ended = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(ended[1])
        used = ended[2]
        said.seek(0)
        why = last_line(said) or f"ended with {child.returncode}"
    seconds, processor = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    if stopped and child.returncode:
        why = f"not finished in {seconds:.0f} s, {processor:.0f} of them on a processor"
    return replace(
        outcome,
        seconds=seconds,
        processor_s=processor,
        megabytes=used.ru_maxrss / 1000,
        failed=why if child.returncode else "",
    )


def _out_of_time(process: int, seconds: float, limit_s: float) -> bool:
    """Whether a process had its limit by the clock and, on a busy machine, as much of a processor; thrice at most."""
    if seconds <= limit_s:
        return False
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # no such accounts here: the clock alone counts
        return True
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used > limit_s or seconds > PATIENCE * limit_s


def _write(records: DataSet, path: Path) -> None:
    columns = np.stack([records.columns[name] for name in records.sizes], axis=1)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(records.sizes)
        writer.writerows(columns.tolist())


def _read(records: DataSet, path: Path) -> Codes:
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        cells = np.loadtxt(file, delimiter=",", dtype=np.int64, ndmin=2)
    return {name: np.ascontiguousarray(cells[:, names.index(name)]) for name in records.sizes}


@cache
def _version(python: str, package: str) -> str:
    words = f"from importlib.metadata import version; print(version({package!r}))"
    said = subprocess.run(
        [python or sys.executable, "-c", words], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "not installed"
