"""`understudy report`: a release as a page to look at."""

from __future__ import annotations

import click

from understudy.cli import options
from understudy.cli.outputs import check_apart
from understudy.cli.running import check_output


@click.command("report", short_help="Show a release as one HTML page, safe to publish.")
@click.argument("release", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), help="Where the page goes.")
@options.overwrite
def command(release: str, output: str, overwrite: bool) -> None:
    """Write RELEASE as one self-contained HTML page: its privacy, its model, its columns. Safe to publish.

    \b
    Examples:
      understudy report people.release -o report.html
    """
    from understudy.pipeline import load

    check_output(output)
    check_apart({"-o": output}, files={"the release": release}, overwrite=overwrite)
    found = load(release)
    found.report(output)
    if found.errors is not None:
        click.echo(found.expected_error())
    click.echo(f"report: {output}")
