"""`understudy sample`: synthetic records from a release, for free."""

from __future__ import annotations

import click

from understudy.cli import options
from understudy.cli.console import show_json, stages
from understudy.cli.light_libraries import load_light
from understudy.cli.outputs import check_apart
from understudy.cli.pipes import from_pipe, to_pipe
from understudy.cli.running import check_output, write_sample


@click.command("sample", short_help="Draw synthetic records from a release, for free.")
@click.argument("release", type=click.Path())
@click.option("-n", "--rows", help="How many records. Default: the release's noisy total.")
@click.option("-o", "--output", required=True, type=click.Path(), help="Where the records go.")
@options.overwrite
@click.option(
    "--seed", type=int, help="Draw the same records every time. Sampling protects no one: a seed is safe."
)
@click.option("--where", help="Only records that fulfil a condition: \"sex = 'F' and age >= 65\".")
@click.option("--balance", help="A column whose values are to be equally frequent.")
@click.option(
    "--given", type=click.Path(), help="A file of partial records to complete: empty cells are drawn."
)
@options.delimiter("as in the private one")
@click.option("--encoding", help="How a CSV file's characters are written. Default: as in the private one.")
@options.spreadsheet
@options.verbose
@options.as_json
def command(
    release: str,
    rows: str | None,
    output: str,
    overwrite: bool,
    seed: int | None,
    where: str | None,
    balance: str | None,
    given: str | None,
    delimiter: str | None,
    encoding: str | None,
    spreadsheet: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Draw synthetic records from RELEASE. Costs no privacy; needs no data; any number of rows, streamed.

    A CSV file is written as the private one was: delimiter, encoding, quotes and line ends. An OUTPUT that ends in /
    is a folder of Parquet files: run the same command again to go on with one that was interrupted. An OUTPUT of - is
    standard output, as CSV; what else is said goes to standard error.

    \b
    Examples:
      understudy sample people.release -o synthetic.csv
      understudy sample people.release -n 100000 --seed 7 -o synthetic.parquet
      understudy sample people.release --safe-for-spreadsheets -o synthetic.csv
      understudy sample people.release -n 1e9 -o synthetic/
      understudy sample people.release -n 1e9 -o - | gzip > synthetic.csv.gz
      understudy sample people.release -n 1000 --where "sex = 'F' and age >= 65" -o women.csv
      understudy sample people.release -n 1000 --balance sex -o balanced.csv
      understudy sample people.release --given partial.csv -o completed.csv
    """
    load_light(release, given)
    from understudy.domain.dialect import Dialect
    from understudy.pipeline import load

    dialect = Dialect(delimiter, encoding)
    place, partial = to_pipe(output), from_pipe(given) if given else None
    wanted = check_output(place, rows, folder=True, spreadsheet=spreadsheet)
    check_apart({"-o": place}, tables=[partial], files={"the release": release}, overwrite=overwrite)
    with stages(verbose) as stage:
        stage("reading the release")
        loaded = load(release)
        written = write_sample(
            loaded,
            wanted,
            place,
            stage,
            seed,
            spreadsheet=spreadsheet,
            dialect=dialect,
            only={"where": where, "balance": balance},
            given=partial,
        )
    if as_json:
        show_json({"synthetic": output, "rows": written, "private": loaded.private})
    else:
        click.echo(f"{written:,} synthetic records: {output}")
