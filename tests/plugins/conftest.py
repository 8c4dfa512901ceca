"""A small table with marks in it, and what it takes to describe them."""

from __future__ import annotations

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
    """A folder with a table, its schema, and the schema with the grades that only a plug-in knows."""
    place = tmp_path_factory.mktemp("people")
    (place / "people.csv").write_text(f"sex,age,mark\n{ROWS}\n")
    (place / "people.toml").write_text(SCHEMA)
    (place / "marks.toml").write_text(SCHEMA + '[columns.mark]\ntype = "grade"\n')
    return place
