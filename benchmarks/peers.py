"""A Python that has a peer library: named by UNDERSTUDY_PEERS_PYTHON, or made in a temporary folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@contextmanager
def python_with(package: str) -> Iterator[str | None]:
    """The path of a Python that can import `package`, or None when there is none; prints why."""
    named = os.environ.get("UNDERSTUDY_PEERS_PYTHON")
    if named:
        found = _imports(named, package)
        if not found:
            print(f"{package}: SKIPPED, the Python that UNDERSTUDY_PEERS_PYTHON names cannot import it")
        yield named if found else None
        return
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
            subprocess.run(install, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as fault:
            print(f"{package}: SKIPPED, no environment with it could be made ({type(fault).__name__});")
            print("set UNDERSTUDY_PEERS_PYTHON to a Python that has it")
            yield None
            return
        yield python


def _imports(python: str, package: str) -> bool:
    try:
        subprocess.run([python, "-c", f"import {package}"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@cache
def kept_python(package: str, requirement: str, folder: Path) -> str | None:
    """The path of a Python that has `package`, made once and kept in `folder`; None when it cannot be made.

    `requirement` is what is installed for it, several things by spaces.

    One that UNDERSTUDY_PEER_<NAME> names is taken instead: <NAME> is the package's first word in capitals.
    """
    named = os.environ.get(f"UNDERSTUDY_PEER_{package.split('-', maxsplit=1)[0].upper()}")
    if named:
        return named
    home = folder / package
    python = str(home / ("Scripts" if os.name == "nt" else "bin") / "python")
    ready = home / "ready"
    if ready.exists():
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *requirement.split()], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        print(f"{package}: SKIPPED, no environment with it could be made ({type(fault).__name__})")
        return None
    ready.touch()
    return python
