"""Every command and every Python example in the README and the docs runs as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from warm_programs import WarmPrograms

import patience
from nightly import NIGHTLY
from spark_session import for_sessions

ROOT = Path(__file__).parents[2]
# A document that begins so is run where those modules are: <!-- needs pyspark -->
NEEDS = re.compile(r"<!-- needs (.+?) -->")
BLOCK = re.compile(r"^( *)```(sh|python)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
# What a reader does once, outside the example: these would recurse into this very test.
OUTSIDE = ("make ", "pip ", "git ", "cd ", "python -m venv")

# The first pages make what they need: their readers have nothing yet.
MAKE_THEIR_OWN = (ROOT / "README.md", ROOT / "docs" / "index.md")


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> list[tuple[str, str]]:
    found = []
    for _, language, text in BLOCK.findall(document.read_text()):
        kept = "\n".join(line for line in dedent(text).splitlines() if not line.startswith(OUTSIDE))
        if kept.strip():
            found.append((language, kept))
    return found


def needed(document: Path) -> list[str]:
    """The modules without which a document cannot be run."""
    found = NEEDS.match(document.read_text())
    return found[1].split() if found else []


def run(programs: WarmPrograms, language: str, text: str, folder: Path) -> None:
    """Type a text into a shell, or into Python, in a folder and with a ledger of its own."""
    environment = (
        os.environ
        | for_sessions()
        | {
            "PATH": os.pathsep.join(
                map(str, (programs.folder, Path(sys.executable).parent, os.environ["PATH"]))
            ),
            "UNDERSTUDY_LEDGER": str(folder / "ledger.db"),
        }
    )
    typed = folder / f"typed.{language}"
    typed.write_text(text)
    command = {
        "sh": ["bash", "-euo", "pipefail"],
        "python": [programs.folder / "warm-python", "-W", "error"],
    }[language]
    done = subprocess.run(
        [*command, typed],
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        capture_output=True,
        env=environment,
        check=False,
        timeout=patience.SECONDS,
    )
    typed.unlink()
    assert done.returncode == 0, f"{text}\n--- said\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "docs" / "notebooks").glob("*.py")), ids=lambda path: path.stem
)
def test_a_notebook_runs_as_a_script(notebook: Path, tmp_path: Path, warm_programs: WarmPrograms) -> None:
    run(warm_programs, "python", notebook.read_text(), tmp_path)


# By day the tests of the engine make the same calls, in the session that they share.
BY_NIGHT = pytest.mark.skipif(not NIGHTLY, reason="starts a cluster of its own: make nightly")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, id=path.name, marks=[BY_NIGHT] if "pyspark" in needed(path) else [])
        for path in documents()
    ],
)
def test_a_reader_who_types_what_a_document_says_gets_no_error(
    document: Path, tmp_path: Path, warm_programs: WarmPrograms
) -> None:
    found = blocks(document)
    if not found:
        return
    for module in needed(document):
        pytest.importorskip(module, reason=f"{document.name} needs {module}")
    if document not in MAKE_THEIR_OWN:
        from understudy.data import write
        from understudy.presets import town

        write(town.simulate(1200, seed=1), tmp_path / "people.csv")
        (tmp_path / "people.toml").write_text(town.SCHEMA)
    # One document is one visit: its Python blocks share names, as a reader's session would.
    script = "\n".join(text for language, text in found if language == "python")
    for language, text in found:
        if language == "sh":
            run(warm_programs, language, text, tmp_path)
    if script:
        run(warm_programs, "python", script, tmp_path)
