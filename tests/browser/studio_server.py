"""A studio as a person starts it: the command, in a folder, with a ledger of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import patience

WAIT = patience.SECONDS


class Served:
    """A studio that runs, and the address that it printed."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "understudy", "studio", "--no-browser", "--port", "0", *words],
            cwd=folder,
            env=os.environ | {"UNDERSTUDY_LEDGER": str(folder / "ledger.db")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        said = ""
        while not (found := re.search(r"http://\S+", said)):
            line = self.process.stdout.readline()
            assert line, f"the studio did not start: {said}"
            said += line
        self.address = found[0]
        self.origin, _, self.token = self.address.partition("/?token=")

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(WAIT)

    def stop(self) -> int:
        """End it as a person would, by Ctrl-C; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(WAIT)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Served]:
    """A studio in a folder, ended whatever happens."""
    studio = Served(folder, *words)
    try:
        yield studio
    finally:
        studio.stop()


def until_done(folder: Path) -> None:
    """Wait until the only run in a folder is done, by its files: whoever serves them."""
    ends = time.monotonic() + WAIT
    while not list(folder.glob("understudy-studio/runs/*/outcome.json")):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.05)
