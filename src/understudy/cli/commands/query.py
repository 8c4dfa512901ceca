"""`understudy query`: counts, shares, means and quantiles from a release, with intervals."""

from __future__ import annotations

import click

from understudy.cli import options
from understudy.cli.console import show_json, show_table


@click.command("query", short_help="Ask a release for counts, shares, means and quantiles, with intervals.")
@click.argument("release", type=click.Path())
@click.argument("what", type=click.Choice(["count", "share", "mean", "median", "quantile"]))
@click.argument("column", required=False)
@click.option("--where", help="Only records that fulfil a condition: \"sex = 'F' and age >= 65\".")
@click.option("--by", multiple=True, help="A column: an answer for each of its values. Repeatable.")
@click.option("--q", default=0.5, show_default=True, help="Which quantile, between 0 and 1.")
@click.option("--level", default=0.95, show_default=True, help="The chance that an interval holds.")
@options.as_json
def command(
    release: str,
    what: str,
    column: str | None,
    where: str | None,
    by: tuple[str, ...],
    q: float,
    level: float,
    as_json: bool,
) -> None:
    """Ask RELEASE for a count or share of records, or for the mean, median or a quantile of COLUMN. Costs no privacy.

    Each answer is the model's, with an interval for the real table: docs/errors.md says what it covers.

    \b
    Examples:
      understudy query people.release count --where "sex = 'F' and age >= 65"
      understudy query people.release mean age --by sex
      understudy query people.release quantile age --q 0.9
      understudy query people.release share --by sex --json
    """
    from understudy.pipeline import QueryAnswers, load

    found = load(release).query(what, column, where=where, by=by or None, q=q, level=level)
    if as_json:
        show_json(found.to_dict())
        return
    rows = found.rows if isinstance(found, QueryAnswers) else (((), found),)
    show_table(
        [[*values, *(f"{number:,.6g}" for number in (e.value, e.low, e.high))] for values, e in rows],
        [*by, what, "low", "high"],
    )
    covers = dict.fromkeys(e.covers for _, e in rows)
    click.echo(f"{level:.0%} intervals cover {'; or '.join(covers)}")
