"""The site builds from the documents as they are, and a browser finds everything in it, without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"

sys.path.insert(0, str(SITE))
from site_check import faults  # noqa: E402


def test_the_site_builds_with_every_link_in_order() -> None:
    """`make docs` runs the same: it fails on a warning, a link that leads nowhere, and a list left as text.

    By day notebooks are run as scripts (`test_documents.py`), and by Jupyter's kernel at night.
    """
    pytest.importorskip("zensical", reason="no Zensical here: pip install understudy[docs]")
    words = [sys.executable, SITE, *([] if NIGHTLY else ["--unrun"])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (ROOT / "build" / "site" / "search.js").is_file()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<a href="b.html#gone">x</a>', "has no such anchor"),
        ('<img src="https://example.org/x.png">', "is not of the site"),
        ("<p>Three things:\n- one</p>", "left as text"),
        ("<p>| a | b |</p>", "left as text"),
    ],
)
def test_the_check_sees_what_is_broken(body: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f'<h1 id="top">A</h1>{body}')
    (tmp_path / "b.html").write_text('<h1 id="top">B</h1><a href="a.html#top">x</a>')
    assert [line for line in faults(tmp_path) if said in line]
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#top">x</a><p>1 - 2</p>')
    assert not list(faults(tmp_path))
