"""The page that describes the command line is the one the program would write today."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_says_what_help_says() -> None:
    done = subprocess.run([sys.executable, DOCS / "reference.py"], capture_output=True, text=True, check=True)
    assert (DOCS / "cli.md").read_text() == done.stdout, "run `make docs`"
