"""`understudy verify`: recompute a release's epsilon from its certificate alone."""

from __future__ import annotations

import sys

import click

from understudy.cli import options
from understudy.cli.console import show_json


@click.command("verify", short_help="Recompute a release's epsilon from its certificate.")
@click.argument("release", type=click.Path())
@options.as_json
def command(release: str, as_json: bool) -> None:
    """Recompute what RELEASE cost from the charges its certificate lists, and compare with its claim.

    Leaves with 1 when the claim does not hold or the noise was not private.

    \b
    Examples:
      understudy verify people.release
      understudy verify people.release --json
    """
    from understudy.pipeline import load

    verdict = load(release).verify()
    if as_json:
        show_json(verdict.to_dict())
    else:
        click.echo(f"claimed   epsilon {verdict.claimed_epsilon:g}, delta {verdict.claimed_delta:g}")
        if verdict.epsilon is not None:
            click.echo(f"computed  epsilon {verdict.epsilon:.6f} at that delta, from the charges alone")
        click.echo("noise     " + ("from the operating system" if verdict.private else "SEEDED: NOT PRIVATE"))
        click.echo("the claim holds" if verdict.holds else f"THE CLAIM DOES NOT HOLD: {verdict.why}")
    if not (verdict.holds and verdict.private):
        sys.exit(1)
