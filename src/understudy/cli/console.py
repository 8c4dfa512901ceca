"""What a person sees: stages while they run, a summary at the end."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

PATIENCE = 2.0  # seconds before a person wants to see that something happens, and again when it has changed
REMINDER = 30.0  # seconds after which a stage that goes on is named again


@contextmanager
def stages(verbose: bool = False) -> Iterator[Callable[[str], None]]:
    """A function to call with the name of each stage.

    When `verbose`, every stage is a line, with the seconds since the start. Else on a terminal it shows the stage
    with a running clock; elsewhere, such as in a log, a line every other second at most, and none for what is over
    sooner.
    """
    if verbose:
        started = time.monotonic()
        yield lambda stage: say(f"{time.monotonic() - started:8.2f} s  {stage}")
        say(f"{time.monotonic() - started:8.2f} s  done")
        return
    if not sys.stderr.isatty():
        lines = _Lines()
        try:
            yield lines.now
        finally:
            lines.stop()
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting")
        yield lambda stage: progress.update(task, description=stage)


def say(line: str) -> None:
    """A line on the side, beside the output."""
    click.echo(f"understudy: {line}", err=True)


class _Lines:
    """Writes the stage that is under way, every now and then, from a thread of its own."""

    def __init__(self) -> None:
        self._stage, self._started = "", time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def now(self, stage: str) -> None:
        self._stage = stage

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        said, when = "", self._started
        while not self._over.wait(PATIENCE):
            stage, now = self._stage, time.monotonic()
            if stage and (stage != said or now - when >= REMINDER):
                say(f"{stage} ({now - self._started:.0f} s)")
                said, when = stage, now


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
