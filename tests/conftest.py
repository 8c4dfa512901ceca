"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from postgres_server import Server, server
from understudy.cli import main


@pytest.fixture
def postgres() -> Server:
    """A real PostgreSQL server; the test is skipped where the machine has none."""
    return server()


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def understudy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """A command line to type at: returns the exit code, what was printed, and what was said on the side."""

    def run(*words: str) -> Said:
        monkeypatch.setattr("sys.argv", ["understudy", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Said(code, *capsys.readouterr())

    return run
