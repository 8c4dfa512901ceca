"""Prints docs/cli.md: every command's help, as the program itself says it. `make docs` writes it."""

from __future__ import annotations

import sys

import click

from understudy import plugins
from understudy.cli import COMMANDS, understudy


def reference() -> str:
    """The command line's help as one Markdown page."""
    parts = ["# The command line", "", "Written by `make docs` from the program itself.", ""]
    root = click.Context(understudy, info_name="understudy", **understudy.context_settings)
    for name in COMMANDS:
        command = understudy.get_command(root, name)
        assert command is not None
        context = click.Context(
            command, info_name=name, parent=root, terminal_width=100, max_content_width=100
        )
        parts += [f"## understudy {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    plugins.entry_points = lambda group: ()  # the page is the same whatever plug-ins are installed
    sys.stdout.write(reference())
