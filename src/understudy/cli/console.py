"""What a person sees: stages while they run, a summary at the end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

PATIENCE = 2.0  # seconds before a person wants to see that something happens


@contextmanager
def stages() -> Iterator[Any]:
    """A function to call with the name of each stage; on a terminal, shows it with a running clock."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        seen: list[tuple[str, float]] = []

        def note(stage: str) -> None:
            seen.append((stage, time.monotonic()))
            if time.monotonic() - started > PATIENCE:
                click.echo(f"understudy: {stage} ({time.monotonic() - started:.0f} s)", err=True)

        yield note
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting")
        yield lambda stage: progress.update(task, description=stage)


def show_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, default=str))


def show_table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print rows in aligned columns; numbers to the right."""
    table = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not table:
        return
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for number, row in enumerate(table):
        cells = [
            cell.rjust(width) if _numeric(cell) and i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo(("  " + "  ".join(cells)).rstrip())
        if header and number == 0:
            click.echo("  " + "  ".join("-" * width for width in widths))


def _numeric(cell: str) -> bool:
    return bool(cell) and (cell[0].isdigit() or cell[0] in "-+.~") and not cell.endswith(":")
