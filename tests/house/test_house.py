"""The plan of the house, where import-linter does not look: circles, sizes, names, and a word at every door."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from import_graph import cycles, import_graph, modules_under

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "understudy": ROOT / "src/understudy",
    "understudy_contest": ROOT / "contest/src/understudy_contest",
}
FILES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))

MOST_LINES = 400  # of a file
MOST_MODULES = 16  # of a folder, beside its __init__: about fifteen

# Two modules may bear one name where it means the same thing: the folder says which side of it.
ONE_NAME = {
    "registry": "the list of a kind of things that other packages may add to: mechanisms, sources, column types",
    "spark": "records in Spark: the engine that counts them, and the source by which a run reaches it",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_in_no_circle(package: str) -> None:
    found = cycles(import_graph(modules_under(PACKAGES[package], package)))
    assert not found, "\n".join(" -> ".join(circle) for circle in found)


def test_contributing_draws_the_layers_that_are_checked() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.split("## The picture")[1].split("```")[1].strip("\n").splitlines()
    drawn = [re.split(r"\s{2,}", line.strip())[0] for line in picture]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (house,) = (one for one in contracts["contracts"] if one.get("containers") == ["understudy"])
    assert drawn == house["layers"]


def test_no_file_is_long() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in FILES if (lines := _lines(path)) > MOST_LINES}
    assert not long, f"more than {MOST_LINES} lines: {long}"


def test_no_folder_is_crowded() -> None:
    modules: dict[str, int] = defaultdict(int)
    for path in FILES:
        modules[str(path.parent.relative_to(ROOT))] += path.name != "__init__.py"
    crowded = {folder: count for folder, count in modules.items() if count > MOST_MODULES}
    assert not crowded, f"more than {MOST_MODULES} modules: {crowded}"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_means_one_thing(package: str) -> None:
    """A command's file is named for the command, whatever else has that name."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGES[package].rglob("*.py"):
        if path.name != "__init__.py" and path.parent.name != "commands":
            homes[path.stem].append(str(path.relative_to(ROOT)))
    shared = {name: places for name, places in homes.items() if len(places) > 1 and name not in ONE_NAME}
    assert not shared


def test_no_two_files_of_tests_bear_one_name() -> None:
    """Pytest loads them by their names alone, and collects nothing where two are the same."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert not {name for name, count in names.items() if count > 1 and name != "__init__.py"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_means_one_thing(package: str) -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGES[package].rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_every_module_says_what_it_is() -> None:
    silent = [str(path.relative_to(ROOT)) for path in FILES if not _docstring(path)]
    assert not silent


def test_a_circle_is_found_wherever_its_imports_hide(tmp_path: Path) -> None:
    """The checker itself: a circle through a function, a relative import and a block for the type checker."""
    (tmp_path / "__init__.py").touch()
    (tmp_path / "first.py").write_text("def late():\n    from house import second\n")
    (tmp_path / "second.py").write_text("from .third import name\n")
    (tmp_path / "third.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.first\n"
    )
    (tmp_path / "fourth.py").write_text("from house.first import late\n")
    found = cycles(import_graph(modules_under(tmp_path, "house")))
    assert found == [["house.first", "house.second", "house.third", "house.first"]]


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _docstring(path: Path) -> str | None:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
