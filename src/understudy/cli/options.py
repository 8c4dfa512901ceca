"""Options that several commands share, each said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from understudy.mechanisms import registry

Command = Callable[..., Any]


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """The options as one decorator, shown in the order given."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def delimiter(default: str) -> Callable[[Command], Command]:
    """The delimiter of a text file, with a typed \\t taken for a tab."""
    return click.option(
        "--delimiter",
        callback=lambda context, option, value: "\t" if value == "\\t" else value,
        help=f"What separates the fields of a CSV file. Default: {default}.",
    )


budget = several(
    click.option(
        "--epsilon", required=True, help="How much may be revealed of any one person: smaller is safer."
    ),
    click.option(
        "--delta", required=True, help="The chance that the bound does not hold: well below 1 / records."
    ),
    click.option("--allow-large-epsilon", is_flag=True, help="Accept an epsilon above 20, and record it."),
)


def mechanism(command: Command) -> Command:
    """The choice of a mechanism, and every option that one of them takes."""
    return _mechanism(command, registry.settings())


def mechanism_without_tables(command: Command) -> Command:
    """The choice of a mechanism, for a command that brings its tables itself."""
    taken = ("table", "column")
    return _mechanism(
        command,
        {option: takers for option, takers in registry.settings().items() if takers[0][1].kind not in taken},
    )


def _mechanism(command: Command, settings: Mapping[str, list[tuple[str, registry.Setting]]]) -> Command:
    return several(
        click.option(
            "--mechanism",
            type=click.Choice([kind.name for kind in registry.kinds()]),
            default=registry.DEFAULT,
            show_default=True,
            help="What to measure: "
            + "; ".join(f"{kind.name}, {kind.summary}" for kind in registry.kinds())
            + ".",
        ),
        *(_setting(option, takers) for option, takers in settings.items()),
    )(command)


def _setting(option: str, takers: list[tuple[str, registry.Setting]]) -> Callable[[Command], Command]:
    """An option that some mechanisms take; `mechanism_from` finds its value under the option's own name."""
    meanings: dict[str, list[str]] = {}
    for name, setting in takers:
        meanings.setdefault(setting.help, []).append(name)
    meant = "; ".join(f"{', '.join(names)}: {help}" for help, names in meanings.items())
    kind = takers[0][1].kind
    if kind == "cliques":
        what = f"Columns to measure together ({meant}). Repeatable."
        return click.option(f"--{option}", option, multiple=True, metavar="A,B[,C]", help=what)
    if kind == "workload":
        what = (
            f"What matters ({meant}): sets of columns, A,B or with a weight A,B=2, repeatable; a file of them, one "
            "a line; or 3-way for all sets of so many columns."
        )
        return click.option(
            f"--{option}", option, multiple=True, metavar="A,B[=WEIGHT]|FILE|3-way", help=what
        )
    if kind == "table":
        what = f"A public table with the same columns ({meant})."
        return click.option(f"--{option}", option, type=click.Path(), help=what)
    if kind == "column":
        return click.option(f"--{option}", option, metavar="COLUMN", help=f"{meant}.")
    if kind == "flag":
        return click.option(f"--{option}", option, is_flag=True, default=None, help=f"{meant}.")
    plain = {"integer": int, "number": float}.get(kind, str)
    return click.option(f"--{option}", option, type=plain, help=f"{meant}.")


neighbours = click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    default="add-remove",
    show_default=True,
    help="Tables to be told apart differ by one person more, or by one person changed.",
)

check = click.option(
    "--check/--no-check",
    default=True,
    show_default=True,
    help="Spend 3% of the budget, at the end, on how far off pairs of columns are: the release states its errors.",
)

data = several(
    click.option(
        "--schema",
        type=click.Path(),
        help="What is known of the table. Left out: its columns' names, and types that are declared.",
    ),
    click.option("--name", help="The table's name in the ledger. Default: the schema's, else the file's."),
    delimiter("the schema's, else found from its header"),
    click.option(
        "--memory",
        default="1GB",
        show_default=True,
        help="How much data larger than memory may take while it is streamed, beyond its counts.",
    ),
    click.option(
        "--unit", help="The column that identifies a person. Default: the schema's; else one record is one."
    ),
    click.option(
        "--max-records-per-unit",
        type=int,
        help="The most records of one person that are used. Default: the schema's; else learned privately.",
    ),
    neighbours,
    check,
)

ledger = several(
    click.option(
        "--ledger", type=click.Path(), help="The file that records what is spent. Default: one for this user."
    ),
    click.option(
        "--job", help="A label: the same job under the same label is charged once and answers the same."
    ),
    click.option(
        "--insecure-seed",
        type=int,
        help="NOT PRIVATE: draw the noise from this seed, to test a pipeline. The release is stamped so.",
    ),
)

spreadsheet = click.option(
    "--safe-for-spreadsheets",
    "spreadsheet",
    is_flag=True,
    help="In a CSV file, put a ' before texts that a spreadsheet would run as formulas (beginning with = + - @).",
)

overwrite = click.option(
    "--overwrite",
    is_flag=True,
    help="Replace a file that is there. What the command reads, and the ledger, are never replaced.",
)

verbose = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Say every stage as it begins, with its time, and what was measured.",
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, for machines.")
