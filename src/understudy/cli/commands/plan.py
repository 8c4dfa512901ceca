"""`understudy plan`: what a run will cost, before any budget is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.console import show_json, show_table

if TYPE_CHECKING:
    from understudy.pipeline.scans import Scans


@click.command("plan", short_help="Forecast noise, memory and time; spends nothing.")
@click.argument("schema", type=click.Path())
@click.option("--rows", help="About how many records there are: a public figure. Default: the schema's.")
@options.budget
@options.mechanism
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    default="add-remove",
    show_default=True,
    help="Tables to be told apart differ by one person more, or by one person changed.",
)
@options.check
@options.as_json
def command(schema: str, rows: str | None, as_json: bool, **settings: Any) -> None:
    """Say what a run under SCHEMA would cost: noise of every group, error, memory and time. Reads no data.

    \b
    Examples:
      understudy plan people.toml --rows 1e6 --epsilon 1 --delta 1e-9
      understudy plan people.toml --rows 50000 --epsilon 1 --delta 1e-9 --json
    """
    from understudy.cli.running import budget_of, mechanism_from, row_figure
    from understudy.domain import Schema
    from understudy.errors import ParameterError
    from understudy.pipeline import plan
    from understudy.pipeline.sources.registry import is_address

    if is_address(schema):
        raise ParameterError(
            "plan reads a schema and no data, and this is the address of a table.",
            hint="draft one first: understudy schema ADDRESS -o table.toml.",
        )
    budget = budget_of(settings)
    described = Schema.load(schema)
    found = plan(
        described,
        epsilon=budget.epsilon,
        delta=budget.delta,
        mechanism=mechanism_from(settings, described),
        rows=row_figure(rows),
        neighbours=settings["neighbours"],
        check=settings["check"],
        allow_large_epsilon=settings["allow_large_epsilon"],
    )
    if as_json:
        show_json(found.to_dict())
        return
    click.echo(f"epsilon {found.epsilon:g}, delta {found.delta:g}, {found.columns} columns, ", nl=False)
    click.echo("no row figure" if found.rows is None else f"about {found.rows:,} rows")
    for name, left in found.learned.items():
        click.echo(f"  learned privately: {', '.join(left)} of {name!r}")
    if found.constraints:
        click.echo("\nconstraints")
        show_table([[rule, way] for rule, way in found.constraints], ["constraint", "held by"])
    for line in found.intentions:
        click.echo(line)
    click.echo("\nnoise")
    show_table(
        [[g.name, g.share, f"{g.marginals}", g.noise()] for g in found.groups],
        ["group", "share", "questions", "sigma at sensitivity one"],
    )
    click.echo("\nmarginals, largest first; what is chosen is no larger")
    largest = sorted(found.marginals, key=lambda m: -m.cells)[:12]
    show_table(
        [
            [
                ", ".join(m.clique),
                f"{m.cells:,}",
                f"{m.scale:.1f}",
                "" if m.expected is None else f"{m.expected:.1%}",
                "" if m.error is None else f"{m.error:.1%}",
            ]
            for m in largest
        ],
        ["columns", "cells", "noise scale", "error expected", "at most, from noise"],
    )
    if found.column_error is not None or found.pair_error is not None:
        of_all = found.of_all_pairs
        parts = {"columns": found.column_error, "pairs" if of_all else "measured pairs": found.pair_error}
        means = " and ".join(f"{error:.1%} of {what}" for what, error in parts.items() if error is not None)
        rest = "as most tables have it" if of_all else "of pairs that are not measured, not known before"
        click.echo(f"\nerror to expect: about {means}, in the mean; {rest}")
    click.echo(f"\nmodel: about {found.expected_cells:,} cells, {found.cells:,} at most")
    click.echo(f"memory: about {found.bytes / 1e6:,.0f} MB", nl=False)
    click.echo("" if found.seconds is None else f"; time: about {found.seconds:.0f} s on two cores")
    click.echo(_scans(found.scans))
    if found.advice:
        click.echo("\nadvice")
    for line in found.advice:
        click.echo(f"  {line}")


def _scans(scans: Scans) -> str:
    """How often the records are read, in words."""
    times = "once" if scans.source == 1 else f"{scans.source} times"
    again = {0: "never read", 1: "read once"}.get(scans.codes, f"read at most {scans.codes} times")
    disk = "" if scans.cache_bytes is None else f", {scans.cache_bytes / 1e6:,.0f} MB"
    return f"streamed data is read {times}; its codes (on disk{disk}) are {again} after that"
