"""Runs the notebooks of docs/notebooks and writes each as a page with what its cells show.

A notebook is a Python file with cells, as jupytext writes them: it opens in Jupyter by that plug-in, runs as a
script, and can be read and compared as text. Here it is run as Jupyter runs it, in a kernel of its own, and what is
shown is what Jupyter would show. The page offers the notebook for Jupyter, with its outputs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
_CLASS = '<div class="shown" markdown="0">'
_LONGEST = 600  # seconds that a cell may take


def notebooks() -> list[Path]:
    """Every notebook, by name."""
    return sorted(FOLDER.glob("*.py"))


def write_page(notebook: Path, page: Path, *, run: bool = True) -> None:
    """Run a notebook, and write it as Markdown with what its cells show; beside it the notebook for Jupyter."""
    book = executed(notebook) if run else jupytext.read(notebook)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts(book, notebook)))
    jupytext.write(book, page.with_suffix(".ipynb"))


def executed(notebook: Path) -> Any:
    """The notebook with what its cells showed, run in a folder and with a ledger of its own.

    Raises:
        CellExecutionError: a cell failed.
    """
    book = jupytext.read(notebook)
    with tempfile.TemporaryDirectory() as folder:
        own = {"UNDERSTUDY_LEDGER": f"{folder}/ledger.db", "IPYTHONDIR": f"{folder}/.ipython"}
        client = NotebookClient(
            book, timeout=_LONGEST, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute(env={**os.environ, **own})
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # when it was run: nobody asks
    return book


def parts(book: Any, notebook: Path) -> Iterator[str]:
    """The Markdown of a notebook that was run."""
    download = (
        f"[Download this notebook]({notebook.stem}.ipynb), made of the text `{notebook.name}` by jupytext "
        "and run by Jupyter's kernel when this site was built."
    )
    for place, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            yield f"{cell.source}\n"
            if place == 0:
                yield f"{download}\n"
        else:
            yield f"```python\n{cell.source}\n```\n"
            yield from map(shown, cell.outputs)


def shown(output: Mapping[str, Any]) -> str:
    """What a cell printed, or the value of its last line, as Markdown."""
    if output["output_type"] == "stream":
        return f"```text\n{output['text'].rstrip()}\n```\n"
    data = output["data"]
    if "text/html" in data:
        return f"{_CLASS}\n{_on_few_lines(data['text/html'])}\n</div>\n"
    return f"```text\n{data['text/plain']}\n```\n"


def _on_few_lines(html: str) -> str:
    """HTML without empty lines, at which Markdown would end it."""
    return "\n".join(line for line in html.splitlines() if line.strip())
