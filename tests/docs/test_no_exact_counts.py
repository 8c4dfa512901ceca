"""Nothing that a reader may copy publishes how many records the private table has: that number is not noisy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DRAWS = {"sample", "sample_chunks", "sample_spark", "sample_to_folder", "synth"}
PLACES = {"sample": 0, "sample_chunks": 0, "sample_spark": 1, "sample_to_folder": 2}  # where `rows` stands
# A number that the shell works out, such as -n $(wc -l < people.csv).
COUNTED = re.compile(r"(?:-n|--rows)[ =]*[\"']?(?:\$|`)")
# The same in a docstring or a page that is no whole program.
OF_THE_TABLE = re.compile(
    r"(?:release|fit\(.*\))\.sample\w*\([^)]*(?:len\(|num_rows|\.shape|\.height|\.count\()"
)


def examples() -> Iterator[tuple[str, str, str]]:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for language, text in BLOCK.findall(page.read_text()):
            yield page.name, language, text


def exact_counts(program: str) -> list[str]:
    """The calls that draw a number of records which is not written out in the program itself."""
    found = []
    for node in ast.walk(ast.parse(program)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in DRAWS:
            continue
        place = PLACES.get(name)
        given = node.args[place : place + 1] if place is not None else []
        given += [word.value for word in node.keywords if word.arg == "rows"]
        found += [ast.unparse(node) for rows in given if not isinstance(rows, ast.Constant)]
    return found


def test_examples_draw_no_number_of_records_read_from_the_table() -> None:
    for page, language, text in examples():
        if language == "python":
            assert not exact_counts(text), page
        else:
            assert not COUNTED.search(text), page


@pytest.mark.parametrize("folder", ["src", "benchmarks", "docs"])
def test_no_docstring_or_page_shows_the_exact_count(folder: str) -> None:
    files = [*sorted((ROOT / folder).rglob("*.py")), *sorted((ROOT / folder).rglob("*.md"))]
    assert files and not [str(file) for file in files if OF_THE_TABLE.search(file.read_text())]


def test_the_demo_and_the_makefile_sample_the_noisy_total() -> None:
    assert not exact_counts((ROOT / "src/understudy/cli/commands/demo.py").read_text())
    assert not COUNTED.search((ROOT / "Makefile").read_text())


@pytest.mark.parametrize(
    "program", ["release.sample(len(people))", "us.synth(people, rows=people.num_rows)", "r.sample(rows=n)"]
)
def test_the_check_sees_an_exact_count(program: str) -> None:
    assert exact_counts(program)
    assert not exact_counts("release.sample(); release.sample(1000, seed=1); us.synth(people)")
