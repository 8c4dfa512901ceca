"""`understudy export`: a schema or a release in a form that other tools read."""

from __future__ import annotations

import json

import click

from understudy.cli import options
from understudy.cli.outputs import check_apart
from understudy.cli.running import check_output
from understudy.errors import ParameterError

SCHEMAS, RELEASES = ("frictionless", "csvw", "json-schema"), ("croissant", "card")


@click.command("export", short_help="Write a schema or a release in a form that other tools read.")
@click.argument("source", type=click.Path(), required=False)
@click.option("--as", "form", required=True, type=click.Choice([*SCHEMAS, *RELEASES]), help="The form.")
@click.option(
    "--data", type=click.Path(), help="croissant: a file of synthetic records, to be described too."
)
@click.option("-o", "--output", type=click.Path(), help="Write to this file instead of the screen.")
@options.overwrite
def command(source: str | None, form: str, data: str | None, output: str | None, overwrite: bool) -> None:
    """Write SOURCE as JSON in a form that other tools read. It says no more than SOURCE does, and costs nothing.

    \b
    A schema file   frictionless   Table Schema
                    csvw           CSV on the Web, with the terms for differential privacy
    no source       json-schema    by which editors check and complete schema files
    A release       croissant      a data set in Croissant 1.1: files, fields, provenance, method
                    card           unit, epsilon, delta, neighbours, mechanism, accounting

    \b
    Examples:
      understudy export people.toml --as frictionless -o people.schema.json
      understudy export --as json-schema -o understudy-schema.json
      understudy export people.release --as croissant --data synthetic.csv -o croissant.json
      understudy export people.release --as card
    """
    from understudy.exchange import export_release, export_schema

    if output is not None:
        check_output(output)
        check_apart({"-o": output}, files={"the source": source, "the data": data}, overwrite=overwrite)
    if source is None and form != "json-schema":
        raise ParameterError(
            f"--as {form} was given without a source.", hint="name a schema file or a release."
        )
    if data is not None and form != "croissant":
        raise ParameterError(f"--data was given with --as {form}.", hint="leave it out.")
    if form in RELEASES:
        assert source is not None
        document = export_release(source, form, data=data)
    else:
        document = export_schema(source, form)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    from understudy.data.files.atomic import whole_file

    with whole_file(output) as file:
        file.write(text.encode())
    click.echo(f"{form}: {output}", err=True)
