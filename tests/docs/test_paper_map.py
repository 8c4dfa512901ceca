"""The page that leads from the paper to the code names what is there: every function, and every test."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "research" / "paper-map.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| in the paper")]
NAMES = sorted(set(re.findall(r"`((?:understudy|understudy_contest|benchmarks)\.[\w.]+)`", PAGE)))
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
# How many of each kind the paper has.
PAPER = {
    "Definition": 6,
    "Proposition": 4,
    "Theorem": 3,
    "Algorithm": 10,
    "Figure": 4,
    "Table": 2,
    "Example": 4,
}


@pytest.mark.parametrize("name", NAMES)
def test_what_the_map_names_is_there(name: str) -> None:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return
    pytest.fail(f"{name} is nowhere")


def test_the_tests_that_the_map_names_are_there() -> None:
    for file, name in TESTS:
        functions = [node for node in ast.parse((ROOT / file).read_text()).body]
        assert name in [getattr(node, "name", "") for node in functions], (file, name)


def test_nothing_of_the_paper_is_left_out() -> None:
    for kind, count in PAPER.items():
        assert sum(row.startswith(f"| {kind}, ") for row in ROWS) == count, kind
    assert all("`tests/" in row for row in ROWS)
