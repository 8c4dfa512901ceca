"""The Tab key completes commands, options and choices, in the shells that the documents name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = "import sys; sys.argv[0] = 'understudy'; from understudy.cli import main; main()"


def answered(instruction: str, **said: str) -> str:
    """What the program prints to a shell that asks it."""
    environment = os.environ | {"_UNDERSTUDY_COMPLETE": instruction, **said}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_ask(shell: str) -> None:
    assert "_UNDERSTUDY_COMPLETE" in answered(f"{shell}_source")


@pytest.mark.parametrize(
    ("words", "place", "offered"),
    [
        ("understudy sa", "1", "sample"),
        ("understudy fit --eps", "2", "--epsilon"),
        ("understudy fit --mechanism ad", "3", "adaptive"),
        ("understudy export --as cr", "3", "croissant"),
    ],
)
def test_the_tab_key_offers_what_may_come_next(words: str, place: str, offered: str) -> None:
    assert offered in answered("bash_complete", COMP_WORDS=words, COMP_CWORD=place)
