"""Options that several commands share, each said once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """The options as one decorator, shown in the order given."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


budget = several(
    click.option(
        "--epsilon", required=True, help="How much may be revealed of any one person: smaller is safer."
    ),
    click.option(
        "--delta", required=True, help="The chance that the bound does not hold: well below 1 / records."
    ),
    click.option("--allow-large-epsilon", is_flag=True, help="Accept an epsilon above 20, and record it."),
)

mechanism = several(
    click.option(
        "--mechanism",
        type=click.Choice(
            ["mst", "nist-mst", "independent", "fixed", "privsyn", "privbayes", "field-groups"]
        ),
        default="mst",
        show_default=True,
        help="What to measure.",
    ),
    click.option(
        "--clique",
        "cliques",
        multiple=True,
        metavar="A,B[,C]",
        help="Columns to measure together: all of them for fixed, the groups of field-groups, forced ones for mst, "
        "nist-mst and privsyn. Repeatable.",
    ),
    click.option(
        "--public",
        type=click.Path(),
        help="A public table with the same columns, for nist-mst and field-groups.",
    ),
)

data = several(
    click.option(
        "--schema", type=click.Path(), help="What is known of the table. Left out: names and types only."
    ),
    click.option("--name", help="The table's name in the ledger. Default: the schema's, else the file's."),
    click.option(
        "--delimiter", help="What separates the fields of a CSV file. Default: found from its header."
    ),
    click.option(
        "--memory",
        default="1GB",
        show_default=True,
        help="How much data larger than memory may take while it is streamed, beyond its counts.",
    ),
    click.option(
        "--unit", help="The column that identifies a person. Default: the schema's; else one record is one."
    ),
    click.option("--max-records-per-unit", type=int, help="The most records of one person that are used."),
    click.option(
        "--neighbours",
        type=click.Choice(["add-remove", "replace"]),
        default="add-remove",
        show_default=True,
        help="Tables to be told apart differ by one person more, or by one person changed.",
    ),
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

as_json = click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, for machines.")
