"""The public names are typed: a stranger's type checker sees what they are through `import understudy as us`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import patience
import understudy as us
from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
EXAMPLE = Path(__file__).parent / "example.py"


def check(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience.SECONDS,
    )


def test_the_example_uses_every_public_name() -> None:
    used = {
        node.attr
        for node in ast.walk(ast.parse(EXAMPLE.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "us"
    }
    assert used == set(us.__all__)


def test_every_public_name_is_there_and_is_no_module() -> None:
    assert set(us.__all__) - {"__version__"} == set(dir(us))
    for name in us.__all__:
        assert not isinstance(getattr(us, name), type(ast)), name


def test_mypy_sees_every_public_name() -> None:
    pytest.importorskip("mypy")
    done = check([sys.executable, "-m", "mypy", "--strict", str(EXAMPLE)])
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_would_see_a_name_that_is_not_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import understudy as us\n\nus.fit("people.csv", epsilon="1", delta=1e-9)\n')
    assert "arg-type" in check([sys.executable, "-m", "mypy", "--strict", str(wrong)]).stdout


@pytest.mark.skipif(not NIGHTLY, reason="by day mypy sees them: make nightly")
def test_pyright_sees_every_public_name() -> None:
    if find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if check([sys.executable, "-m", "pyright", "--version"]).returncode:
        pytest.skip("pyright cannot be started: it fetches its program the first time")
    done = check([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(EXAMPLE)])
    assert done.returncode == 0, done.stdout + done.stderr
