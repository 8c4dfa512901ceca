"""Reads the built site as a browser would, and fails where something is broken.

Every link and picture of every page must lead to a file of the site, and to an anchor that is there; no page may load
anything from elsewhere, so that the site works without a network; and no list or table may have been left as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
HARMLESS = ("canonical", "next", "prev", "edit", "me")  # of <link>: nothing is loaded for them
UNRENDERED = re.compile(r"^\s*(?:[-*] \S|\|.*\|\s*$|[12]\. \S|```|::: )", re.MULTILINE)


class Page(HTMLParser):
    """What one page links to, loads, and has anchors for; and paragraphs that look like Markdown still."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.left: list[str] = []
        self._paragraph: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get(LOADED.get(tag, "")) and given.get("rel") not in HARMLESS:
            self.loads.append(given[LOADED[tag]])
        if tag == "p":
            self._paragraph = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and self._paragraph is not None:
            said = "".join(self._paragraph)
            self.left += [said[:80]] if UNRENDERED.search(said) else []
            self._paragraph = None

    def handle_data(self, data: str) -> None:
        if self._paragraph is not None:
            self._paragraph.append(data)


def faults(site: Path) -> Iterator[str]:
    """A line for everything in the site that is broken."""
    pages = {file.resolve(): Page(file.read_text()) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        yield from (f"{name}: left as text: {said!r}" for said in page.left)
        for address in page.loads:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                yield f"{name}: loads {address}, which is not of the site"
        if file.name == "404.html":  # is shown at any address, so its links are not relative
            continue
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file():
                yield f"{name}: {address} leads nowhere"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{name}: {address} has no such anchor"
