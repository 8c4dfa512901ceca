"""`understudy evaluate`: how well a synthetic table stands in for the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from understudy.cli import options
from understudy.cli.comparing import tell_comparison, write_confidential
from understudy.cli.console import stages
from understudy.cli.outputs import check_apart
from understudy.cli.pipes import check_one_pipe, from_pipe
from understudy.cli.running import check_output


@click.command("evaluate", short_help="Compare a synthetic table with the real one; confidential.")
@click.argument("real", type=click.Path())
@click.argument("synthetic", type=click.Path())
@click.option("-o", "--output", type=click.Path(), help="Write an HTML page here. It shows private data.")
@click.option("--json", "json_file", type=click.Path(), help="Write every figure here, as JSON.")
@click.option(
    "--schema",
    type=click.Path(),
    help="What the columns mean. Left out: taken from the real table, columns in common only.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="COLUMN",
    help="Learn this column on synthetic records, test on real ones. Repeatable.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same figures.",
)
@click.option(
    "--contest-tests",
    type=click.Path(),
    metavar="FILE",
    help="Add the 2018 contest's scores, by the tests in FILE; where there is none, draw and keep them.",
)
@click.option("--sex", metavar="COLUMN", help="For the contest's third score: the column of sexes,")
@click.option("--city", metavar="COLUMN", help="that of cities,")
@click.option("--wage", metavar="COLUMN", help="and that of wages (999,998 and above: not applicable).")
@options.overwrite
@options.delimiter("found")
def command(
    real: str, synthetic: str, output: str | None, json_file: str | None, overwrite: bool, **settings: Any
) -> None:
    """Compare the SYNTHETIC table with the REAL one. CONFIDENTIAL: what this writes shows the private data.

    Each measure stands beside those of three tables: a bootstrap of the real records (as close as a table
    of this size need come), independent columns, and uniform values. Nothing is charged: nothing may leave.
    Pages and figures are written so that you alone can read them (mode 0600).

    \b
    Examples:
      understudy evaluate people.csv synthetic.csv -o confidential.html
      understudy evaluate people.csv synthetic.csv --schema people.toml --target income --json figures.json
      understudy evaluate people.csv synthetic.csv --contest-tests tests.json \\
          --sex sex --city city --wage income
    """
    from understudy.evaluation import evaluate

    check_one_pipe(real, synthetic)
    tests = settings["contest_tests"]
    for page in filter(None, (output, json_file, tests)):
        check_output(page)
    kept = {"--contest-tests": tests} if tests and not Path(tests).exists() else {}
    check_apart(
        {"-o": output, "--json": json_file, **kept},
        tables=(real, synthetic),
        files={"the schema": settings["schema"], **({} if kept else {"the tests": tests})},
        overwrite=overwrite,
    )
    with stages() as stage:
        found = evaluate(from_pipe(real), from_pipe(synthetic), stage=stage, **settings)
        if output:
            stage("writing the page")
            found.report(output)
        if json_file:
            write_confidential(json_file, found.to_json())
    tell_comparison(found)
    for what, path in (("page", output), ("figures", json_file)):
        if path:
            click.echo(f"{what + ':':<9}{path}")
