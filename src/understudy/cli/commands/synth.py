"""`understudy synth`: from a private table to a synthetic one, in one command."""

from __future__ import annotations

import os
from typing import Any

import click

from understudy.cli import options
from understudy.cli.console import show_json, stages
from understudy.cli.interruption import told_what_was_spent
from understudy.cli.light_libraries import load_light
from understudy.cli.outputs import is_folder
from understudy.cli.pipes import check_named, from_pipe, is_piped, to_pipe
from understudy.cli.running import check_output, check_run, run_fit, summary, tell, write_sample
from understudy.cli.second_half import begun


@click.command("synth", short_help="Turn a private table into a synthetic one.")
@click.argument("data", type=click.Path())
@options.budget
@click.option("-o", "--output", required=True, type=click.Path(), help="Where the synthetic records go.")
@click.option("-n", "--rows", help="How many records to generate. Default: the noisy total.")
@click.option("--release", "release_file", type=click.Path(), help="Keep the release too, in this file.")
@options.overwrite
@options.data
@options.mechanism
@options.ledger
@options.spreadsheet
@options.verbose
@options.as_json
def command(
    data: str,
    output: str,
    rows: str | None,
    release_file: str | None,
    spreadsheet: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Turn DATA (CSV, Excel, JSON lines, Parquet or Arrow) into synthetic records within (epsilon, delta).

    DATA is a file, a folder or a pattern in quotes, or an address: parquet:, csv:, jsonl:, duckdb:, postgresql: or
    spark:. What does not fit in memory is streamed. The kind of OUTPUT follows from its ending: .csv, .csv.gz, .xlsx,
    .jsonl, .parquet, .arrow, or / for a folder of Parquet files. A CSV file is written as the private one was.

    A run that was ended after --release was written, or between the parts of a folder, goes on by the same command:
    what was written stays as it is, and nothing is charged again.

    - stands for standard input (csv:-, jsonl:- or parquet:- where its content does not tell its kind), kept meanwhile
    in a private file, and for standard output, as CSV: what else is said goes to standard error. Records from a
    pipe are new every time: a run that is broken off goes on for free only under the same --job.

    \b
    Examples:
      understudy synth people.csv --epsilon 1 --delta 1e-9 -o synthetic.csv
      cat people.csv | understudy synth - --name people --epsilon 1 --delta 1e-9 -o - > synthetic.csv
      understudy synth duckdb:people.db?table=people --epsilon 1 --delta 1e-9 -o synthetic/
      understudy synth "postgresql://reader@server/town#people" --epsilon 1 --delta 1e-9 -o synthetic.csv
      understudy synth people.csv --schema people.toml --mechanism mst --epsilon 1 --delta 1e-9 \\
          --ledger ledger.db -o synthetic.parquet
    """
    load_light(None if is_piped(data) else data)
    check_named(data, settings["name"], settings["schema"])
    place = to_pipe(output)
    wanted = check_output(place, rows, folder=True, new=True, spreadsheet=spreadsheet)
    if release_file:
        check_output(release_file)
    left = (
        release_file if release_file and not settings["overwrite"] and os.path.isfile(release_file) else None
    )
    is_begun = is_folder(place) and begun(place)
    outputs = {"-o": place, "--release": release_file}
    check_run(data, settings, outputs, staying=("--release",) if left else ())
    read = from_pipe(data)
    with told_what_was_spent(settings, read != data), stages(settings["verbose"]) as stage:
        release, ledger, finish = run_fit(
            read, settings, stage, left=left, folder=place if is_begun else None
        )
        if release_file and not left:
            stage("writing the release")
            release.save(release_file)
        if release_file or is_folder(
            place
        ):  # with something there, the same command goes on from a finished job
            finish()
        written = write_sample(release, wanted, place, stage, spreadsheet=spreadsheet)
        finish()
    said = summary(release, ledger) | {"synthetic": output, "rows": written}
    said |= {"release": release_file} if release_file else {}
    show_json(said) if as_json else tell(said)
