"""The pages that describe the command line and the Python API are those the program would write today."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("writer", "page"), [("reference.py", "cli.md"), ("api_reference.py", "api.md")])
def test_the_reference_says_what_help_says(writer: str, page: str) -> None:
    done = subprocess.run([sys.executable, DOCS / writer], capture_output=True, text=True, check=True)
    assert (DOCS / page).read_text() == done.stdout, "run `make docs`"
