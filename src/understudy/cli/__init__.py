"""The command line: parse, call one function, print. One file a command, loaded when it is called."""

from __future__ import annotations

import codecs
import io
import os
import sys
from importlib import import_module
from traceback import extract_tb

import click

from understudy.errors import UnderstudyError
from understudy.memory_left import check_start, memory_left
from understudy.version import __version__

# Command -> the line `understudy --help` shows for it; the command lives in the module of its name.
COMMANDS = {
    "synth": "Turn a private table into a synthetic one.",
    "schema": "Draft a schema from a file, to be reviewed.",
    "plan": "Forecast noise, memory and time; spends nothing.",
    "fit": "Learn a release from a private table.",
    "sample": "Draw synthetic records from a release, for free.",
    "query": "Ask a release for counts, shares, means and quantiles, with intervals.",
    "report": "Show a release as one HTML page, safe to publish.",
    "export": "Write a schema or a release in a form that other tools read.",
    "evaluate": "Compare a synthetic table with the real one; confidential.",
    "verify": "Recompute a release's epsilon from its certificate; check its signature.",
    "key": "Make a pair of keys, to sign releases with.",
    "sign": "Sign a release, so that a forged one is told from it.",
    "audit": "Attack a mechanism, and see whether its claim holds.",
    "ledger": "Show what has been spent on a table.",
    "studio": "Do all of it in the browser, on this machine.",
    "doctor": "Say whether this machine can run Understudy, and what to do if not.",
    "demo": "Simulate a small town and synthesise it.",
}

SHOW_WORDS = "UNDERSTUDY_SHOW_ERRORS"  # a variable that, when set, has unforeseen errors shown whole


class Commands(click.Group):
    """A group that imports a command only when it is called, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"understudy.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="understudy")
def understudy() -> None:
    """Synthetic tables that stand in for private ones, with a proven (epsilon, delta) bound."""
    check_start()  # before a library is loaded that would abort


def main() -> None:
    """Run the command line; leave with 0, 1 (operator error), 2 (refused parameters) or 70 (a fault of its own)."""
    # Matrices here are small: threads of NumPy's that wait for each other took ten times as long as one. NumPy reads
    # this once, when it is imported: not yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _say_in_utf8()
    try:
        understudy(standalone_mode=False)
    except UnderstudyError as error:
        click.echo(f"understudy: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt) as stop:
        # Click hides the interrupt in its own, and before 8.2 as what it was raised in the midst of.
        words = stop.__cause__ or stop.__context__ if isinstance(stop, click.Abort) else stop
        click.echo(
            f"understudy: interrupted: {words}" if words and str(words) else "understudy: interrupted",
            err=True,
        )
        sys.exit(130)
    except PermissionError as error:  # of a folder on the way to a file, which names itself in the error
        click.echo(
            f"understudy: {str(error.filename)!r} cannot be used: permission denied. "
            "Hint: check who may read and write there.",
            err=True,
        )
        sys.exit(1)
    except Exception as error:
        if isinstance(error, MemoryError) or "start new thread" in str(error):
            left = memory_left()
            click.echo(f"understudy: out of memory{f': {left.said} are left' if left else ''}.", err=True)
            sys.exit(1)
        if os.environ.get(SHOW_WORDS):
            raise
        click.echo(_wordless(error), err=True)
        sys.exit(70)


def _say_in_utf8() -> None:
    """Write whatever characters names have, in a locale that lacks them too; on a terminal as far as it has them.

    What is written to files is in UTF-8 whatever the locale: a draft of a schema is read as that.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper) or codecs.lookup(stream.encoding).name == "utf-8":
            continue
        if stream.isatty() and codecs.lookup(stream.encoding).name != "ascii":
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def _wordless(error: BaseException) -> str:
    """Where an error arose and of what type it is, without its message: a library's message may quote a record."""
    places = [
        f"  {place.filename}:{place.lineno} in {place.name}" for place in extract_tb(error.__traceback__)
    ]
    return "\n".join(
        [
            f"understudy: an error that should not be ({type(error).__name__}); please report it, with these lines:",
            *places,
            f"Its words may quote a private value, so they are not shown. To see them: {SHOW_WORDS}=1.",
        ]
    )
