"""Programs that start at once: forked from a process that has loaded all they need.

The documents call `understudy` a hundred times, and each start costs two seconds of a processor, as does the first
run of a mechanism, which loads compiled kernels. So a process does both once, and every command and Python program of
a document is run by a fork of it: a process of its own, with the caller's arguments, folder, environment, input and
outputs. `understudy` on a document's path is a client.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

# Never loaded beforehand: they start threads or servers, or want what may not be installed.
LEFT = ("understudy.__main__",)
ALSO = ("pandas", "sklearn.ensemble", "sklearn.linear_model")

CLIENT = """#!{python} -ISs
import array, json, os, socket, sys
there = socket.socket(socket.AF_UNIX)
there.connect({address!r})
said = json.dumps([{program!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
there.sendmsg([len(said).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
there.sendall(said)
answer = there.recv(1)
os._exit(answer[0] if answer else 70)
"""


class WarmPrograms:
    """The process that is forked, and a folder with the clients `understudy` and `warm-python`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._address = folder, str(folder / "socket")
        self._server = subprocess.Popen(
            [sys.executable, __file__, self._address], stdout=subprocess.PIPE, text=True
        )
        assert self._server.stdout is not None and self._server.stdout.readline() == "ready\n"
        for program in ("understudy", "warm-python"):
            client = folder / program
            client.write_text(CLIENT.format(python=sys.executable, address=self._address, program=program))
            client.chmod(0o755)

    def close(self) -> None:
        """End the process; its forks have ended with what they ran."""
        with self._server:
            self._server.terminate()


def serve(address: str) -> None:
    """Load everything, then run what clients ask for, each in a fork, for ever."""
    _load()
    _run_once()
    gc.freeze()  # a fork looks for garbage among what it makes, and shares the pages of the rest
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks are nobody's to wait for
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            client, _ = door.accept()
            with warnings.catch_warnings(action="ignore"):  # of forks: no thread of ours is about
                child = os.fork()
            if not child:
                door.close()
                _run(client)
            client.close()


def _load() -> None:
    import understudy

    found = (module.name for module in walk_packages(understudy.__path__, "understudy."))
    for name in (*(name for name in found if name not in LEFT), *ALSO):
        with contextlib.suppress(ImportError):
            import_module(name)


def _run_once() -> None:
    """Run what nearly every document runs, so that its kernels are loaded; no thread is left over."""
    import understudy as us
    from understudy.presets import town

    with tempfile.TemporaryDirectory() as folder:
        schema = us.Schema.from_toml(town.SCHEMA)
        for name in ("adaptive", "mst"):
            ledger = Path(folder) / f"{name}.db"
            release = us.fit(
                town.simulate(500, seed=1), schema, epsilon=1.0, delta=1e-9, mechanism=name, ledger=ledger
            )
            release.sample(100, seed=1)
    assert threading.active_count() == 1


def _run(client: socket.socket) -> None:
    """Become the program that a client asks for, and tell it how that ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 70
    try:
        files = array.array("i")
        head, given, _, _ = client.recvmsg(8, socket.CMSG_SPACE(3 * files.itemsize))
        files.frombytes(given[0][2])
        said = b""
        while len(said) < int.from_bytes(head, "big"):
            said += client.recv(1 << 16)
        program, arguments, folder, environment = json.loads(said)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = _ended(program, arguments)
    finally:
        client.sendall(bytes([code]))
        os._exit(code)


def _ended(program: str, arguments: list[str]) -> int:
    """The exit status of a program that is run here."""
    try:
        if program == "understudy":
            from understudy.cli import main

            sys.argv = ["understudy", *arguments]
            main()
        else:  # as python -W error FILE
            warnings.resetwarnings()
            warnings.simplefilter("error")
            sys.argv = arguments[2:]
            runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
