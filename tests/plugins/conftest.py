"""A small table with marks in it, and what it takes to describe them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = "\n".join(f"{'MF'[i % 2]},{i % 90},{'abcdef'[i % 6]}" for i in range(400))
SCHEMA = """
[table]
name = "people"
[columns.sex]
type = "category"
values = ["M", "F"]
[columns.age]
type = "integer"
min = 0
max = 99
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table (also as lines of JSON), its schema, and one with grades, which only a plug-in knows."""
    place = tmp_path_factory.mktemp("people")
    (place / "people.csv").write_text(f"sex,age,mark\n{ROWS}\n")
    lines = [line.split(",") for line in ["sex,age,mark", *ROWS.splitlines()]]
    (place / "people.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (place / "people.toml").write_text(SCHEMA)
    (place / "marks.toml").write_text(SCHEMA + '[columns.mark]\ntype = "grade"\n')
    return place
