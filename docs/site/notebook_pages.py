"""Runs the notebooks of docs/notebooks and writes each as a page with what its cells show.

A notebook is a Python file with cells, as jupytext writes them: it opens in Jupyter by that plug-in, runs as a
script, and can be read and compared as text. What a cell shows is the value of its last line, in the form that a
notebook would show.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext

FOLDER = Path(__file__).parents[1] / "notebooks"
_CLASS = '<div class="shown" markdown="0">'


def notebooks() -> list[Path]:
    """Every notebook, by name."""
    return sorted(FOLDER.glob("*.py"))


def write_page(notebook: Path, page: Path) -> None:
    """Run a notebook, and write it as Markdown with what its cells show; beside it the notebook for Jupyter."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts(notebook)))
    jupytext.write(jupytext.read(notebook), page.with_suffix(".ipynb"))


def parts(notebook: Path) -> Iterator[str]:
    """The Markdown of a notebook that is run as it is read, in a folder and with a ledger of its own."""
    names: dict[str, Any] = {"__name__": "__main__"}
    download = (
        f"[Download this notebook]({notebook.stem}.ipynb), made of the text `{notebook.name}` by jupytext."
    )
    with tempfile.TemporaryDirectory() as folder, _working_in(folder):
        for place, cell in enumerate(jupytext.read(notebook).cells):
            if cell.cell_type == "markdown":
                yield f"{cell.source}\n"
                if place == 0:
                    yield f"{download}\n"
            else:
                yield f"```python\n{cell.source}\n```\n"
                yield from run(cell.source, names)


def run(source: str, names: dict[str, Any]) -> Iterator[str]:
    """What a cell prints, and then the value of its last line, as Markdown."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if said.getvalue():
        yield f"```text\n{said.getvalue().rstrip()}\n```\n"
    if hasattr(value, "_repr_html_"):
        yield f"{_CLASS}\n{_on_few_lines(value._repr_html_())}\n</div>\n"
    elif value is not None:
        yield f"```text\n{value!r}\n```\n"


def _on_few_lines(html: str) -> str:
    """HTML without empty lines, at which Markdown would end it."""
    return "\n".join(line for line in html.splitlines() if line.strip())


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before, ledger = Path.cwd(), os.environ.get("UNDERSTUDY_LEDGER")
    os.chdir(folder)
    os.environ["UNDERSTUDY_LEDGER"] = str(Path(folder) / "ledger.db")
    try:
        yield
    finally:
        os.chdir(before)
        if ledger is None:
            del os.environ["UNDERSTUDY_LEDGER"]
        else:
            os.environ["UNDERSTUDY_LEDGER"] = ledger
