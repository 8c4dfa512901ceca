"""Every example of a schema in the documents is a schema."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from understudy.domain import Schema

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
UNIT = '[columns.person_id]\ntype = "category"\ndiscover = true\n'


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_an_example_of_the_page_is_a_schema(block: str) -> None:
    assert Schema.from_toml(block + (UNIT if block.startswith("[table]") else "")).columns
