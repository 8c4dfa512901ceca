"""The page that describes the command line is the one the program would write today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_says_what_help_says() -> None:
    reference = runpy.run_path(str(DOCS / "reference.py"))["reference"]()
    assert (DOCS / "cli.md").read_text() == reference, "run `make docs`"
