"""`understudy report`: a release as a page to look at."""

from __future__ import annotations

import click

from understudy.cli import options
from understudy.cli.outputs import check_apart
from understudy.cli.running import check_output
from understudy.cli.telling import tell_release


@click.command("report", short_help="Show a release, in short or as one HTML page; safe to publish.")
@click.argument("release", type=click.Path())
@click.option("-o", "--output", type=click.Path(), help="Write one self-contained HTML page here.")
@options.overwrite
def command(release: str, output: str | None, overwrite: bool) -> None:
    """Show RELEASE: who is protected, how good it is, what to trust, its columns. Safe to publish.

    In the terminal in short; with -o in full, as one HTML page that needs nothing else.

    \b
    Examples:
      understudy report people.release
      understudy report people.release -o report.html
    """
    from understudy.pipeline import load

    if output:
        check_output(output)
        check_apart({"-o": output}, files={"the release": release}, overwrite=overwrite)
    found = load(release)
    if output:
        found.report(output)
    tell_release(found)
    if found.errors is not None:
        click.echo(f"\n{found.expected_error()}")
    if output:
        click.echo(f"report: {output}")
