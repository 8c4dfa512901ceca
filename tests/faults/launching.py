"""How a broken run is started: as a person does, or as a fork of one process that has imported all there is.

A fork begins its work at once, so that most instants at which it is killed lie in the work and not in imports, and a
machine can break hundreds of runs in minutes. A process that forks must have no thread: tests start anew.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Ended:
    """How a run ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class Run(Protocol):
    """A run under way."""

    def kill(self) -> None: ...
    def wait(self, seconds: float = ...) -> Ended: ...


class Launcher(Protocol):
    """What starts `understudy` with these words."""

    def __call__(
        self, words: Sequence[str], cwd: Path, *, before: Callable[[], None] | None = None
    ) -> Run: ...


@dataclass
class _Process:
    pid: int
    folder: Path
    code: int | None = None

    def kill(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = 600) -> Ended:
        until = time.monotonic() + seconds
        while self.code is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                self.kill()
                seconds, until = 0, until + 60
            else:
                time.sleep(0.005)
        return Ended(self.code, self._said("out"), self._said("err"))

    def _said(self, name: str) -> str:
        with suppress(FileNotFoundError):  # killed before it could say anything
            return (self.folder / f"{self.pid}.{name}").read_text(errors="replace")
        return ""


class Forked:
    """Runs as forks of this process. `folder` takes what they print; `preload` imports what a run needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o777, exist_ok=True)
        folder.chmod(0o777)

    def preload(self, words: Sequence[str], cwd: Path) -> None:
        """Import all that a run of these words imports, so that its forks need no file of the product's."""
        listed = self.folder / "modules"

        def leave(names: Path = listed) -> None:
            atexit.register(lambda: names.write_text("\n".join(sys.modules)))

        self(words, cwd, before=leave).wait()
        import importlib

        for name in listed.read_text().split() if listed.exists() else ():
            with suppress(Exception):  # a name that only looks like a module's
                importlib.import_module(name)

    def __call__(
        self, words: Sequence[str], cwd: Path, *, before: Callable[[], None] | None = None
    ) -> _Process:
        pid = os.fork()
        if pid == 0:
            self._work(words, cwd, before)
        return _Process(pid, self.folder)

    def _work(self, words: Sequence[str], cwd: Path, before: Callable[[], None] | None) -> None:
        code = 70
        atexit._clear()  # what this process is to do at its end is not for its forks to do
        weakref.finalize._registry.clear()  # type: ignore[attr-defined]
        try:
            for number, name in ((1, "out"), (2, "err")):
                target = os.open(self.folder / f"{os.getpid()}.{name}", os.O_CREAT | os.O_WRONLY, 0o666)
                os.dup2(target, number)
            os.chdir(cwd)
            if before is not None:
                before()
            code = _main(words)
        except BaseException:
            traceback.print_exc()
        finally:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _main(words: Sequence[str]) -> int:
    from understudy.cli import main

    sys.argv = ["understudy", *words]
    try:
        main()
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return 0


@dataclass
class _Spawn:
    process: subprocess.Popen[str]

    def kill(self) -> None:
        self.process.kill()

    def wait(self, seconds: float = 600) -> Ended:
        out, err = self.process.communicate(timeout=seconds)
        return Ended(self.process.returncode, out, err)


def spawned(
    words: Sequence[str],
    cwd: Path,
    *,
    before: Callable[[], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> _Spawn:
    """A run in a fresh interpreter."""
    return _Spawn(
        subprocess.Popen(
            [sys.executable, "-m", "understudy", *words],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,  # noqa: PLW1509 (who breaks runs has no thread)
            env=None if environment is None else {**os.environ, **environment},
        )
    )
