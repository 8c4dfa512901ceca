"""What people install: a wheel that holds the product alone, and runs where nothing else is.

At night it is built as it is published, with kernels that are compiled for it (most of a minute), and runs the demo
without compiling any; by day it is built for every platform, and runs what no kernel is needed for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import understudy as us
from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("wheel")  # it is built once


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as `pip wheel .` would, by the tools that are here."""
    folder = tmp_path_factory.mktemp("wheel")
    pytest.importorskip("hatchling", reason="no hatchling here: pip install hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    hooks = {} if NIGHTLY else {"HATCH_BUILD_NO_HOOKS": "true"}
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=os.environ | hooks)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_product_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert {name.split("/")[0] for name in names} == {
            "understudy",
            f"understudy-{us.__version__}.dist-info",
        }
        assert not [name for name in names if name.endswith((".csv", ".parquet", ".release", ".db", ".nbc"))]
        assert {"understudy/py.typed", "understudy/exchange/understudy-schema.json"} <= set(names)
        assert sum(entry.file_size for entry in archive.infolist()) < 5_000_000


def test_the_metadata_is_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        said = Parser().parsestr(archive.read(f"understudy-{us.__version__}.dist-info/METADATA").decode())
    assert said["Version"] == us.__version__ and said["Requires-Python"] == ">=3.11"
    assert said["Author"] and said["Keywords"] and said["License-Expression"] == "Apache-2.0"
    assert said["Description-Content-Type"] == "text/markdown" and "Understudy" in said.get_payload()
    pythons = [line for line in said.get_all("Classifier", []) if line.startswith("Programming Language")]
    assert len(pythons) >= 5 and said.get_all("Project-URL")


def test_every_place_says_the_same_version() -> None:
    assert f"version: {us.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    assert f'set version = "{us.__version__}"' in recipe
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for needed in project["dependencies"]:
        name, least = needed.split(">=")
        assert f"- {'python-' if name == 'duckdb' else ''}{name} >={least}\n" in recipe, needed


def test_the_product_runs_from_the_wheel_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """The libraries that it needs are those of this Python; Understudy itself comes from the wheel."""
    home = tmp_path / "fresh"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for library in Path(sysconfig.get_path("purelib")).iterdir():
        if library.suffix != ".pth" and "understudy" not in library.name:  # nothing of what is installed here
            (packages / library.name).symlink_to(library)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept = tmp_path / "compiled"
    environment |= {"UNDERSTUDY_LEDGER": str(tmp_path / "ledger.db"), "NUMBA_CACHE_DIR": str(kept)}
    where = "import understudy, sys; sys.stdout.write(understudy.__file__)"
    found = subprocess.run(
        [python, "-c", where], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert Path(found.stdout).is_relative_to(home)
    (tmp_path / "people.csv").write_text("sex,age\nF,31\nM,40\n")

    def understudy(*words: str) -> None:
        done = subprocess.run(
            [home / "bin" / "understudy", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr

    understudy("schema", "people.csv", "-o", "people.toml")
    assert us.Schema.load(tmp_path / "people.toml").columns.keys() == {"sex", "age"}
    if NIGHTLY:
        understudy("demo", "--rows", "500")
        assert us.load(tmp_path / "demo" / "town.release").verify().holds
    if "none-any" not in wheel.name:  # it is for this platform, and what it brought along was enough
        assert not list(kept.rglob("*.nb*")), "the demo waited for a kernel to be compiled"
