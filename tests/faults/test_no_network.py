"""A run with the network cut off: nothing is fetched, nobody is told anything, and all of it works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import understudy as us

CUT = ("unshare", "--net", "--map-root-user", "--")
SCHEMA = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'
# Without a network a machine still reaches itself: the studio listens there.
WORK = """
import fcntl, socket, struct, subprocess, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up and running
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError:
    pass
else:
    sys.exit("the network is not cut off")
from understudy.cli import main
def understudy(*words):
    sys.argv = ["understudy", *words]
    try:
        main()
    except SystemExit as leaving:
        assert not leaving.code, (words, leaving.code)
understudy("fit", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--delta", "1e-6", "--no-check",
           "--mechanism", "independent", "--ledger", "ledger.db", "-o", "people.release")
understudy("verify", "people.release")
understudy("sample", "people.release", "-n", "20", "-o", "made.csv")
understudy("report", "people.release", "-o", "report.html")
studio = [sys.executable, "-m", "understudy", "studio", "people.csv", "--no-browser", "--port", "0"]
studio += ["--ledger", "ledger.db"]
with subprocess.Popen(studio, stdout=subprocess.PIPE, text=True) as process:
    said = [process.stdout.readline() for _ in range(3)]
    process.kill()
assert "http://127.0.0.1" in "".join(said), said
"""


@pytest.mark.timeout(1500)  # by the clock of a crowded machine
def test_fit_sample_report_and_studio_need_no_network(tmp_path: Path) -> None:
    able = (
        subprocess.run([*CUT, "true"], capture_output=True, check=False) if sys.platform == "linux" else None
    )
    if able is None or able.returncode:
        pytest.skip("the network cannot be cut off here: unshare --net")
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text("sex\n" + "F\nM\n" * 50)
    done = subprocess.run(
        [*CUT, sys.executable, "-c", WORK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    assert us.load(tmp_path / "people.release").verify().holds
    assert "<html" in (tmp_path / "report.html").read_text()
