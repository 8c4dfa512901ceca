"""The Tab key completes commands, options and choices, in the shells that the documents name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

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


def test_zsh_and_fish_are_offered_it_with_what_it_is_for() -> None:
    said = answered("zsh_complete", COMP_WORDS="understudy led", COMP_CWORD="1").splitlines()
    assert said[:2] == ["plain", "ledger"] and "spent" in said[2]
    assert "ledger\t" in answered("fish_complete", COMP_WORDS="understudy led", COMP_CWORD="led")


# A shell -> what makes it complete "understudy sa", once it has run the line that the page gives for it.
ASKED = {
    "bash": 'COMP_WORDS=(understudy sa); COMP_CWORD=1; _understudy_completion understudy; echo "${COMPREPLY[@]}"',
    "zsh": "echo ${_comps[understudy]} ${functions[_understudy_completion]}",  # what the Tab key would call
    "fish": "complete -C 'understudy sa'",
}


@pytest.mark.parametrize("shell", ASKED)
def test_the_line_that_the_page_gives_works_in_the_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    page = (Path(__file__).parents[3] / "docs" / "formats" / "exchange.md").read_text()
    (line,) = re.findall(rf"^\| {shell}[^|]*\| `(.+?)` \| `", page, re.MULTILINE)
    program = tmp_path / "understudy"
    program.write_text(f"#!{sys.executable}\nfrom understudy.cli import main\n\nmain()\n")
    program.chmod(0o755)
    typed = line.replace("\\|", "|") + "\n" + ASKED[shell]
    begun = "autoload -Uz compinit && compinit -u -D\n" if shell == "zsh" else ""  # as its own ~/.zshrc does
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [shell, "-c", begun + typed], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ("sample" if shell != "zsh" else "_understudy_completion") in done.stdout, (
        done.stdout + done.stderr
    )
