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


def test_the_reference_lists_the_mechanisms_of_the_house_alone() -> None:
    """The contest's package is installed wherever tests run, and must not show on a page that others read."""
    from understudy.mechanisms.registry import BUILT_IN

    names = "|".join(kind.name for kind in BUILT_IN)
    assert f"--mechanism [{names}]" in (DOCS / "cli.md").read_text()
