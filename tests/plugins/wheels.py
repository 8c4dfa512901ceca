"""A wheel of somebody else's package, made without a network: a zip archive with the files that a wheel has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ATELIER = Path(__file__).parent / "atelier"
SRC = Path(__file__).parents[2] / "src"


def make_wheel(folder: Path, package: str, points: Mapping[str, str]) -> Path:
    """The package `atelier`, under a name of its own, as a wheel; Python runs it from where it lies.

    `points` maps a group of entry points to what the package offers there, below its own name.
    """
    said = "".join(f"[{group}]\n{package} = {package}.{place}\n" for group, place in points.items())
    info = f"{package}-1.0.dist-info"
    files = {f"{package}/{path.name}": path.read_text() for path in sorted(ATELIER.glob("*.py"))} | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nRequires-Dist: understudy\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": said,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    wheel = folder / f"{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def run(script: str, *, folder: Path, path: Sequence[Path]) -> subprocess.CompletedProcess[str]:
    """A fresh Python in `folder` that finds packages on `path` before all others, with a ledger of its own."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "UNDERSTUDY_LEDGER": str(folder / "ledger.db"),
    }
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


class Said(NamedTuple):
    """What a command of the command line answered."""

    code: int
    out: str
    err: str


def commands(*lines: str, folder: Path, path: Sequence[Path]) -> list[Said]:
    """What each command answers, all of them typed in one fresh process."""
    done = run(TYPED.format(lines=lines), folder=folder, path=path)
    assert done.returncode == 0, done.stderr
    return [Said(**said) for said in json.loads(done.stdout)]


TYPED = """
import contextlib, io, json, sys
from understudy.cli import main
answers = []
for line in {lines!r}:
    sys.argv, code = ["understudy", *line.split()], 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
    answers.append(dict(code=code, out=out.getvalue(), err=err.getvalue()))
print(json.dumps(answers))
"""
