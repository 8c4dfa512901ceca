"""Elements of SVG, escaped; and the frame that makes of them a picture with a name and a description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal
from unicodedata import east_asian_width

from markupsafe import Markup, escape

Size = Literal["scaled", "own", "fluid"]
_SIZES: dict[Size, str] = {"scaled": "", "own": "own-size", "fluid": "fluid"}
LETTER = 6.4  # width of a letter of 12 units, on average and rather too much


def tag(name: str, *inside: str, **attributes: object) -> Markup:
    """An element. Text inside is escaped unless it is `Markup`; `class_` is class, `x_y` is x-y; None is left out."""
    shown = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _shown(value))
        for key, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(escape(part) for part in inside)
    start = Markup("<" + name)
    return start + shown + (Markup(f">{{}}</{name}>").format(content) if inside else Markup("/>"))


def picture(
    inside: Iterable[str],
    width: float,
    height: float,
    *,
    title: str,
    description: str = "",
    class_: str = "",
    role: str = "img",
    size: Size = "scaled",
    **attributes: object,
) -> Markup:
    """A whole picture: its title is its name, its description what it shows in words.

    `role` is "img" unless there is something inside that can be used, as a link; then "group". By `size` it is
    "scaled" to the room there is, or has its "own" size and scrolls, or is "fluid": its places across are in per
    cent, and its letters never shrink.
    """
    named = [tag("title", title)] if role == "img" else []
    return tag(
        "svg",
        *named,
        *([tag("desc", description)] if description else []),
        *inside,
        class_=" ".join(filter(None, ["plot", class_, _SIZES[size]])),
        viewBox=None if size == "fluid" else f"0 0 {_shown(width)} {_shown(height)}",
        role=role,
        aria_label=f"{title}. {description}" if description else title,
        focusable="false",
        width="100%" if size == "fluid" else width if size == "own" else None,
        height=None if size == "scaled" else height,
        **attributes,
    )


def words(x: float, y: float, said: str, class_: str | None = None, **attributes: object) -> Markup:
    """A text at a place."""
    return tag("text", said, x=x, y=y, class_=class_, **attributes)


def fitted(said: str, width: float) -> str:
    """As much of a text as fits into so many units, at 12 units a line."""
    if text_width(said) <= width:
        return said
    if (
        " to " in said
        and text_width(short := said.split(" to ", maxsplit=1)[0] + " \N{HORIZONTAL ELLIPSIS}") <= width
    ):
        return short
    kept = 0.0
    for place, letter in enumerate(said):
        kept += _letter(letter)
        if kept > width - 2 * LETTER:
            return said[:place].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return said


def text_width(said: str) -> float:
    """About how wide a text is, at 12 units."""
    return sum(map(_letter, said))


def _letter(letter: str) -> float:
    return 2 * LETTER if east_asian_width(letter) in "WF" else LETTER * (1.35 if letter.isupper() else 1.0)


def _shown(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
