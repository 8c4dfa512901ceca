"""`understudy schema`: a draft of a table's schema, to be reviewed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli import options
from understudy.cli.comparing import write_confidential
from understudy.cli.outputs import check_apart
from understudy.cli.pipes import STANDARD, check_named, from_pipe
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.domain import Schema


@click.command(
    "schema",
    epilog="""\b
Examples:
  understudy schema people.csv > people.toml
  understudy schema people.csv -o people.toml --name people
  understudy schema people.tsv --delimiter '\\t' -o people.toml
  understudy schema duckdb:town.db?table=people -o people.toml
  understudy schema people.csv --names-only -o people.toml
  cat people.csv | understudy schema - --name people -o people.toml
  understudy schema datapackage.json --from frictionless -o people.toml

\b
Exit codes: 0 done, 1 the file cannot be read or written, 2 a parameter was refused.
""",
)
@click.argument("data", type=click.Path())
@click.option("-o", "--output", type=click.Path(), help="Write the draft to this file instead of the screen.")
@options.overwrite
@click.option("--name", help="The table's name, the ledger's key. Default: the file's, without its ending.")
@options.delimiter("found")
@click.option(
    "--from",
    "form",
    type=click.Choice(["frictionless", "csvw", "sdv"]),
    help="DATA is no table but what another tool says of one, in this form, as JSON.",
)
@click.option(
    "--editor/--no-editor",
    default=True,
    help="With -o: put understudy-schema.json beside the draft, by which editors check and complete it, and name it "
    "in the first line.  [default: editor]",
)
@click.option("--names-only", is_flag=True, help="Look at no record: names, and types that are declared.")
def command(
    data: str,
    output: str | None,
    overwrite: bool,
    name: str | None,
    delimiter: str | None,
    form: str | None,
    editor: bool,
    names_only: bool,
) -> None:
    """Draft a schema from DATA, to be reviewed: a file, or whatever else `fit` takes.

    The draft is made by looking at the data: it is not private until a person has read every line of
    it, and a file is written so that you alone can read it (mode 0600). Values of a column with many are never
    copied; what is left out is learned privately later. A file that is there is left alone, unless told.
    """
    from understudy.pipeline.draft import draft_schema

    check_named(data, name, None)
    output = None if output == STANDARD else output
    check_apart({"-o": output}, tables=[data], overwrite=overwrite)
    data = from_pipe(data)
    if form is not None:
        drafted = _imported(data, form, name, delimiter, names_only)
    else:
        drafted = draft_schema(data, name=name, delimiter=delimiter, records=not names_only)
    if output is None:
        click.echo(drafted.to_toml(), nl=False)
        return
    directive = _for_editors(output, data) if editor else ""
    write_confidential(output, directive + drafted.to_toml())
    click.echo(f"Draft of {len(drafted.columns)} columns in {output}: review it before use.", err=True)


def _for_editors(output: str, data: str) -> str:
    """The line that names the JSON Schema beside a draft, which is put there; none where it must not lie."""
    from understudy.data.files.atomic import is_device, whole_file
    from understudy.exchange import json_schema

    beside = Path(output).with_name(json_schema.NAME)
    try:
        check_apart({"-o": str(beside)}, tables=[data], overwrite=json_schema.is_ours(beside))
    except ParameterError:  # another file of that name, or a folder that is read as a table
        return ""
    if is_device(Path(output)):
        return ""
    with whole_file(beside) as file:
        file.write(json_schema.SHIPPED.read_bytes())
    return json_schema.DIRECTIVE


def _imported(data: str, form: str, name: str | None, delimiter: str | None, names_only: bool) -> Schema:
    """The schema in a statement of another tool, which is reviewed like a draft."""
    from understudy.exchange import import_schema

    if delimiter is not None or names_only:
        raise ParameterError(
            f"--from {form} reads no table, so --delimiter and --names-only mean nothing.",
            hint="leave them out.",
        )
    return import_schema(data, form, name=name)


__all__ = ["command"]
