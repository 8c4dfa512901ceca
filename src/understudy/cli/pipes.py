"""`-` for a file: a table from standard input, an output to standard output.

What comes through a pipe can be read once, and a run reads its records more than once, so they are kept in a file
that this user alone can read, in a private folder, removed at the end (or by the next run after a crash). What goes
out is written as it is made; everything else that a command says then goes to standard error.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO

import click

from understudy.errors import FileError, ParameterError

STANDARD = "-"
KINDS = ("csv:", "jsonl:", "parquet:")  # that may be said of what comes in; else it is told by its content


def is_piped(data: str) -> bool:
    """Whether a table comes from standard input."""
    return data.removeprefix(_kind(data)) == STANDARD


def from_pipe(table: str) -> str:
    """The table, or in place of `-` the path of a private file with all that came in."""
    return click.get_current_context().with_resource(_kept(table)) if is_piped(table) else table


def check_one_pipe(*tables: str) -> None:
    """Refuse two tables from standard input."""
    if sum(map(is_piped, tables)) > 1:
        raise ParameterError("standard input is one table, not two.", hint="give one of them as a file.")


def to_pipe(output: str) -> str:
    """The output, or for `-` a path whose bytes go to standard output; all else then goes to standard error."""
    if output != STANDARD:
        return output
    return click.get_current_context().with_resource(_passed_on())


def check_named(data: str, name: str | None, schema: str | None) -> None:
    """Refuse a table from standard input that nobody named: the ledger would add up what is not one table."""
    if not is_piped(data) or name:
        return
    from understudy.domain import Schema

    if schema is None or not Schema.load(schema).name:
        raise ParameterError(
            "a table from standard input has no name for the ledger.",
            hint="give one: --name people, or name = in the schema's [table].",
        )


@contextmanager
def _kept(table: str) -> Iterator[str]:
    """Standard input in a file of mode 0600, gone at the end."""
    from understudy.data.scratch import ScratchFolder

    if sys.stdin is None or sys.stdin.isatty():
        raise ParameterError(
            "standard input is a terminal, not a table.", hint="cat people.csv | understudy fit - ..."
        )
    folder = ScratchFolder()
    try:
        path = folder.path / "standard-input"
        try:
            with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        except OSError as error:
            raise FileError(
                f"standard input could not be kept: {error.strerror}.",
                hint="set TMPDIR to a folder with room.",
            ) from None
        if not path.stat().st_size:
            raise FileError(
                "nothing came from standard input.", hint="see that its left side writes a table."
            )
        yield f"{_kind(table)}{path}"
    finally:
        folder.close()


@contextmanager
def _passed_on() -> Iterator[str]:
    """The path of a pipe, of which all that is written to it goes to standard output."""
    if not os.path.isdir("/dev/fd"):
        raise ParameterError("this system has no pipes with names.", hint="name a file to write.")
    out = sys.stdout.buffer
    sys.stdout.flush()
    reader, writer = os.pipe()
    passing = threading.Thread(target=_pass, args=(reader, out), daemon=True)
    passing.start()
    with redirect_stdout(sys.stderr):
        try:
            yield f"/dev/fd/{writer}"
        finally:
            os.close(writer)
            passing.join()


def _pass(reader: int, out: IO[bytes]) -> None:
    """Copy until the end; where nobody listens any more, whoever writes is told by the pipe."""
    with open(reader, "rb") as source, suppress(BrokenPipeError):
        shutil.copyfileobj(source, out, 1 << 16)
        out.flush()


def _kind(data: str) -> str:
    return next((kind for kind in KINDS if data.startswith(kind)), "")
