"""How results are shown: counts with their nouns, and small tables for notebooks (HTML, escaped, without scripts)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST_ROWS = 40  # of a table that is shown; the rest is counted
_CELL = "text-align:left;padding:.1em 1em .1em 0;vertical-align:top"


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural where it must be: 1 pair, 1,200 pairs."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def html_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    notes: Sequence[str] = (),
    *,
    warning: str = "",
) -> str:
    """A title, a warning in red, notes, and a table; every text is escaped here, and nowhere before."""
    lines = [f"<p><strong>{escape(title)}</strong></p>"]
    if warning:
        lines.append(f"<p style='color:#b00020;font-weight:600'>{escape(warning)}</p>")
    lines += [f"<p>{escape(note)}</p>" for note in notes]
    if rows:
        lines.append(f"<table><tr>{''.join(_cell('th', text) for text in header)}</tr>")
        lines += [f"<tr>{''.join(_cell('td', cell) for cell in row)}</tr>" for row in rows[:MOST_ROWS]]
        lines.append("</table>")
    if len(rows) > MOST_ROWS:
        lines.append(f"<p>and {len(rows) - MOST_ROWS:,} more</p>")
    return f"<div>{''.join(lines)}</div>"


def _cell(tag: str, content: object) -> str:
    return f"<{tag} style='{_CELL}'>{escape(str(content))}</{tag}>"
