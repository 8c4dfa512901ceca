"""Work that outlives a page and the server: a folder with what is asked, how far it is, and what came of it.

The process that does it holds a lock on its folder from its first instant to its last, so whether it runs is never a
guess; nobody can start it twice. What it says is appended to a file, which a page that is opened later reads from the
beginning.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from understudy.data.files.atomic import whole_file
from understudy.data.scratch import locked

PROCESS = "understudy.studio.work_process"
State = Literal["running", "stopped", "done", "failed"]

# Processes that this server started: they are asked now and then, so that none stays behind as a zombie.
_children: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Stage:
    """One step of the work: its words, and when it began, in seconds since 1970."""

    words: str
    began: float


@dataclass(frozen=True)
class WorkFolder:
    """The folder of one piece of work."""

    folder: Path

    @property
    def exists(self) -> bool:
        """Whether this work was ever asked for."""
        return (self.folder / "settings.json").exists()

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        said: dict[str, Any] = json.loads((self.folder / "settings.json").read_text(encoding="utf-8"))
        return said

    def describe(self, settings: Mapping[str, Any]) -> None:
        """Write down what is asked for; from now on the work exists, and can be started at any time."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._write("settings.json", {**settings, "asked": time.time()})

    def start(self) -> bool:
        """Begin the work, or go on with it where it stopped, in a process of its own; False where it runs already."""
        _children[:] = [child for child in _children if child.poll() is None]
        lock = self._lock()
        if lock is None:
            return False
        try:
            if self.outcome is not None and self.outcome["state"] == "done":
                return False
            (self.folder / "outcome.json").unlink(missing_ok=True)
            # The child has the lock before this function returns, and keeps it until it ends, however it ends.
            child = subprocess.Popen(
                [sys.executable, "-m", PROCESS, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # a library's warning may quote a record
                pass_fds=[lock],
                start_new_session=True,  # what ends the server does not end the work
            )
        finally:
            os.close(lock)
        _children.append(child)
        self._write("process.json", {"pid": child.pid})
        return True

    def _lock(self) -> int | None:
        """The lock of the folder; None where a process has it. Someone who only looks has it for an instant."""
        for _ in range(20):
            lock = locked(self.folder / "lock")
            if lock is not None or self._is_locked():
                return lock
            time.sleep(0.01)
        return None

    def _is_locked(self) -> bool:
        """Whether a process has the lock; those who look do not hinder each other."""
        import fcntl

        try:
            handle = os.open(self.folder / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(handle)
        return False

    def cancel(self) -> None:
        """End the process, if there is one; what it was given by the ledger stays, so it can go on later."""
        with suppress(OSError, ValueError, KeyError):
            pid = int(json.loads((self.folder / "process.json").read_text())["pid"])
            if self.state == "running":  # so the number is still that process's
                os.kill(pid, signal.SIGTERM)
                self._wait()

    def _wait(self) -> None:
        """Wait a few seconds until the lock is free: then the process is gone."""
        for _ in range(100):
            if self.state != "running":
                return
            time.sleep(0.05)

    @property
    def state(self) -> State:
        """Whether it runs, stopped before its end, is done, or was refused."""
        outcome = self.outcome
        if outcome is not None:
            return "done" if outcome["state"] == "done" else "failed"
        if self._is_locked():
            return "running"
        outcome = self.outcome  # written just now, perhaps
        return "stopped" if outcome is None else "done" if outcome["state"] == "done" else "failed"

    @property
    def outcome(self) -> dict[str, Any] | None:
        """What came of it; None while it is not over."""
        with suppress(FileNotFoundError):
            said: dict[str, Any] = json.loads((self.folder / "outcome.json").read_text(encoding="utf-8"))
            return said
        return None

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Write down what came of it; the last thing that the process does."""
        self._write("outcome.json", outcome)

    def say(self, words: str) -> None:
        """Append a stage to what was said; called by the process."""
        line = json.dumps({"words": words, "began": time.time()}) + "\n"
        handle = os.open(self.folder / "stages.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    @property
    def stages(self) -> list[Stage]:
        """What was said so far, in order."""
        return list(self._stages())

    def _stages(self) -> Iterator[Stage]:
        with suppress(FileNotFoundError):
            for line in (self.folder / "stages.jsonl").read_text(encoding="utf-8").splitlines():
                with suppress(ValueError, TypeError):  # a line that a killed process did not finish
                    yield Stage(**json.loads(line))

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        with whole_file(self.folder / name, confidential=True) as file:
            file.write(json.dumps(value).encode())
