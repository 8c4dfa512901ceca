"""Gathers the pages of the site in one folder, from which Zensical builds it.

The documents stay where a reader of the repository finds them. Here they are put side by side: those of `docs/`,
those of the repository's root, the notebooks with what their cells show, and the reference of the Python API, whose
pages name the functions and let mkdocstrings read their docstrings.
"""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

from notebook_pages import notebooks, write_page

SITE = Path(__file__).parent
DOCS = SITE.parent
ROOT = DOCS.parent
# Documents of the repository's root that the site has too, and what they are called there.
OF_THE_ROOT = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "LICENCES.md": "licences.md",
}
COPIED = (".md", ".svg", ".png", ".json", ".css", ".js")
FENCE = re.compile(r"^(```\w+) \w+$", re.MULTILINE)  # the second word is for the tests alone
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def stage(pages: Path, *, run: bool = True) -> None:
    """Fill `pages`, which is emptied first, with all that the site is built from; notebooks are `run` or not."""
    shutil.rmtree(pages, ignore_errors=True)
    for file in sorted(DOCS.rglob("*")):
        if file.suffix in COPIED and file.name != "api.md":
            _copy(file, pages / file.relative_to(DOCS))
    for name, called in OF_THE_ROOT.items():
        if (ROOT / name).is_file():
            _copy(ROOT / name, pages / called)
    for notebook in notebooks():
        write_page(notebook, pages / "notebooks" / f"{notebook.stem}.md", run=run)
    for name, text in api_pages().items():
        (pages / name).write_text(text)


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != ".md":
        shutil.copyfile(file, target)
        return
    up = "../" * (len(file.relative_to(ROOT).parts) - 2) if file.is_relative_to(DOCS) else ""

    def moved(link: re.Match[str]) -> str:
        """The link as it is in the site, where the root's documents lie beside those of docs/."""
        there = (file.parent / link[2]).resolve()
        if there.parent == ROOT.resolve() and there.name in OF_THE_ROOT:
            return f"{link[1]}{up}{OF_THE_ROOT[there.name]}{link[3]}"
        if file.parent == ROOT and link[2].startswith("docs/"):
            return f"{link[1]}{link[2].removeprefix('docs/')}{link[3]}"
        return link[0]

    target.write_text(FENCE.sub(r"\1", LINK.sub(moved, file.read_text())))


def api_pages() -> dict[str, str]:
    """The pages of the Python API: an overview, and one a section with every docstring."""
    examples = runpy.run_path(str(DOCS / "api_examples.py"))["EXAMPLES"]
    sections = runpy.run_path(str(DOCS / "api_reference.py"))["SECTIONS"]
    listed = [
        "# The Python API",
        "",
        "All names are `understudy`'s own: `import understudy as us`, then `us.fit(...)`.",
    ]
    listed += ["What each takes, gives back and raises, with an example that the project's tests run:", ""]
    pages = {}
    for title, names in sections.items():
        page = "api-" + title.lower().replace(" ", "-") + ".md"
        links = [f"[`{name}`]({page}#understudy.{name})" for name in names.split()]
        listed += [f"**[{title}]({page})**", "", " · ".join(links), ""]
        parts = [f"# {title}", ""]
        for name in names.split():
            parts += [f"::: understudy.{name}", ""]
            if examples.get(name):
                parts += ["**Examples:**", "", "```pycon", examples[name].strip(), "```", ""]
        pages[page] = "\n".join(parts)
    return {"api.md": "\n".join(listed), **pages}
