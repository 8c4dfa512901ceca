"""Pages from templates: all that is shown is escaped, and a page names by hash the one script that may run in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from understudy.report.design.colours import declarations
from understudy.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parents[1] / "templates"


@cache
def stylesheet() -> str:
    """The one stylesheet: the colours of both schemes, then `page.css`."""
    light, dark = declarations(0), declarations(1)
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\n"
        f":root:has(#scheme-light:checked){{color-scheme:light;{light}}}\n"
        f":root:has(#scheme-dark:checked){{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}\n" + _text("page.css")
    )


@cache
def script() -> str:
    """The one script: copies, sorts, searches, and says what a cell holds. Pages are complete without it."""
    return _text("page.js")


def environment(folders: Sequence[Path] = ()) -> Environment:
    """Templates of these folders first, then ours; every value is escaped unless it is `Markup`.

    Both names of a base may be extended: `base.html` is a page that stands on its own, and `parts.html` has what
    pages are made of.
    """
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"whole": whole, "share": share}
    made.globals |= {"version": __version__}
    return made


def page(template: str, **shown: Any) -> str:
    """A self-contained page: style and script stand in it, and its policy allows those two and nothing else."""
    rendered = _environment().get_template(template)
    return rendered.render(
        style=Markup(stylesheet()), script=Markup(script()), policy=Markup(policy()), **shown
    )


@cache
def policy() -> str:
    """What such a page may load: the style and the script that stand in it, known by their hashes."""
    return (
        f"default-src 'none'; style-src {_hash(stylesheet())}; script-src {_hash(script())}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def whole(number: float) -> str:
    """A number of records or the like, as a whole one with commas."""
    return f"{number:,.0f}"


def share(part: float, digits: int | None = None) -> str:
    """A part of one in per cent, with as many digits as a reader can use."""
    if digits is None:
        digits = 0 if part >= 0.1 or part <= 0 else 1 if part >= 0.01 else 2
    return f"{part:.{digits}%}"


@cache
def _environment() -> Environment:
    return environment()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
