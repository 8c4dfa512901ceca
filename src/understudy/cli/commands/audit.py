"""`understudy audit`: attack the promise, and compare what was proved with what is claimed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.console import show_json, show_table, stages

if TYPE_CHECKING:
    from understudy.auditing import Audit


@click.command("audit", short_help="Attack a mechanism, and see whether its claim holds.")
@options.budget
@options.mechanism_without_tables
@click.option(
    "--runs", type=int, help="Runs in each of the two worlds. Default: 500000 replays, or 300 through fit."
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    type=click.Choice(["csv", "streamed", "folder", "parquet", "duckdb", "arrow", "pandas", "polars", "all"]),
    help="How the tables reach fit. Repeatable. Default: csv.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    type=click.Choice(["twin", "stranger", "odd"]),
    help="The unit that one table has and the other has not. Repeatable. Default: each in turn.",
)
@click.option(
    "--through",
    type=click.Choice(["replay", "fit"]),
    default="replay",
    show_default=True,
    help="Replay what a few runs of fit asked, or make every run a run of fit: slow, and complete.",
)
@options.neighbours
@click.option(
    "--max-records-per-unit", type=int, default=1, help="Protect a unit of so many records, not one record."
)
@click.option(
    "--confidence", type=float, default=0.99, show_default=True, help="How surely what is proved is true."
)
@options.as_json
def command(as_json: bool, **settings: Any) -> None:
    """Tell neighbouring tables apart by what fit says of them, and prove an epsilon from how often that works.

    The tables are made up; no private record is read and nothing is spent. Leaves with 1 when more was proved than
    is claimed, or when one unit moved more than it may. What the figures mean: docs/audit.md.

    \b
    Examples:
      understudy audit --mechanism mst --epsilon 1 --delta 1e-5
      understudy audit --mechanism privbayes --epsilon 1 --delta 1e-5 --way pandas --way parquet --json
      understudy audit --mechanism independent --epsilon 2 --delta 1e-5 --through fit --runs 50 --target odd
    """
    from understudy.auditing import audit
    from understudy.auditing.auditor import known_mechanism
    from understudy.auditing.neighbouring_tables import TARGETS
    from understudy.cli.running import budget_of, mechanism_settings

    budget = budget_of(settings)
    with stages() as stage:
        found = audit(
            known_mechanism(settings["mechanism"], **mechanism_settings(settings)),
            epsilon=budget.epsilon,
            delta=budget.delta,
            allow_large_epsilon=budget.allow_large_epsilon,
            runs=settings["runs"],
            way="all" if "all" in settings["ways"] else settings["ways"] or "csv",
            target=settings["targets"] or TARGETS,
            stage=stage,
            **{key: settings[key] for key in ("through", "neighbours", "max_records_per_unit", "confidence")},
        )
    show_json(found.to_dict()) if as_json else tell(found)
    if not found.holds:
        sys.exit(1)


def tell(found: Audit) -> None:
    """Print what was proved, pair by pair and in all."""
    runs = max(finding.runs for finding in found.findings)
    click.echo(
        f"{found.mechanism}: epsilon {found.epsilon:g} claimed at delta {found.delta:g}; "
        f"{runs:,} runs a world, {found.confidence:.2%} sure\n"
    )
    show_table(
        [
            [
                finding.way,
                finding.target,
                f"{finding.moved:,} of {finding.declared:,}",
                f"{finding.proved:.3f}",
                f"{finding.outright:.3f}",
                f"{finding.reach:.3f}",
                f"{finding.ceiling:.3f}",
            ]
            for finding in found.findings
        ],
        ["way", "target", "moved", "proved", "outright", "reach", "ceiling"],
    )
    unseen = sorted({kind for finding in found.findings for kind in finding.unseen})
    click.echo(
        f"\nproved   epsilon {found.proved:.3f}: {found.proved / found.epsilon:.0%} of the claim"
        + (f", {found.proved / found.ceiling:.0%} of the ceiling" if found.ceiling else "")
    )
    if unseen:
        click.echo(f"unseen   {', '.join(unseen)}: what they may give away is no part of the ceiling")
    if found.holds:
        click.echo("nothing was found that contradicts the claim")
    for fault in found.faults:
        click.echo(f"THE CLAIM IS BROKEN: {fault}")
