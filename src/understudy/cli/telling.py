"""The short versions of our pages, in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from understudy.evaluation.short_comparison import ShortComparison
    from understudy.pipeline.release import Release

NARROWEST = 100  # letters a line has at least where nobody looks, as in a log


def tell_release(release: Release) -> None:
    """What the first screen of a release's report says, its budget, and its columns as bars of text."""
    from understudy.report.short_release import short_release

    short, console = short_release(release), _console()
    console.print(short.title, style="bold")
    console.print(short.promise, style="green" if short.holds else "bold red")
    for word, style, lines in (("trust", "green", short.good), ("do not trust", "yellow", short.bad)):
        console.print(f"\n{word}", style=style)
        for line in lines:
            console.print(f"  {line}")
    _table(console, ["the budget went on", "questions", "share"], short.budget, numbers=(1, 2))
    _table(console, ["column", "records", "noise (95%)", "to know"], short.columns, numbers=(2,))
    if short.more_columns:
        console.print(f"and {short.more_columns:,} more columns")
    if short.pairs:
        _table(console, ["strongest pairs", "signal to noise", "in words"], short.pairs, numbers=(1,))


def tell_verdict(short: ShortComparison) -> None:
    """A comparison's verdict."""
    console = _console()
    style = {"good": "bold green", "warn": "bold yellow", "bad": "bold red"}.get(short.verdict.kind, "bold")
    console.print(short.verdict.headline, style=style)
    console.print(short.verdict.sentence)


def tell_columns(short: ShortComparison) -> None:
    """The columns farthest apart, as bars of text."""
    header = ["columns farthest apart", "real", "synthetic", "total variation", "bootstrap"]
    _table(_console(), header, short.columns, numbers=(3, 4))


def _console() -> Console:
    """A console without markup: a name in brackets is a name. Without a terminal, its lines are wide."""
    from rich.console import Console

    out = sys.stdout
    wide = None if out.isatty() else NARROWEST
    return Console(
        file=out, width=wide, markup=False, highlight=False, emoji=False, soft_wrap=not out.isatty()
    )


def _table(
    console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()
) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, name in enumerate(header):
        table.add_column(
            Text(name),
            justify="right" if place in numbers else "left",
            overflow="fold",
            no_wrap=place in (1, 2),
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print()
    console.print(table)
