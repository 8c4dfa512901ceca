"""`understudy fit`: learn a release from a private table."""

from __future__ import annotations

from typing import Any

import click

from understudy.cli import options
from understudy.cli.console import show_json, stages
from understudy.cli.interruption import told_what_was_spent
from understudy.cli.light_libraries import load_light
from understudy.cli.pipes import check_named, from_pipe, is_piped, to_pipe
from understudy.cli.running import check_output, check_run, run_fit, summary, tell
from understudy.errors import ParameterError


@click.command("fit", short_help="Learn a release from a private table.")
@click.argument("data", type=click.Path())
@options.budget
@click.option("-o", "--output", required=True, type=click.Path(), help="Where the release goes.")
@options.overwrite
@options.data
@options.mechanism
@options.ledger
@click.option(
    "--key", type=click.Path(), help="Sign the release with this private key, from `understudy key`."
)
@options.verbose
@options.as_json
def command(data: str, output: str, key: str | None, as_json: bool, **settings: Any) -> None:
    """Learn a release from DATA (CSV, Excel, JSON lines, Parquet or Arrow) within (epsilon, delta).

    DATA is whatever `synth` takes, - for standard input among it. The release holds the noisy measurements, the
    fitted field, the schema and a certificate. Sampling from it is free, as often as you like.

    \b
    Examples:
      understudy fit people.csv --schema people.toml --epsilon 1 --delta 1e-9 -o people.release
      understudy fit people.parquet --epsilon 0.5 --delta 1e-9 --mechanism independent -o people.release
      cat people.csv | understudy fit - --name people --epsilon 1 --delta 1e-9 -o people.release
    """
    load_light(None if is_piped(data) else data)
    check_named(data, settings["name"], settings["schema"])
    written = to_pipe(output)
    check_output(written)
    check_run(data, settings | {"key": key}, {"-o": written})
    if key:
        from understudy.pipeline.signature import check_key

        check_key(key)
        if settings["insecure_seed"] is not None:
            raise ParameterError(
                "a release of a test is not signed.", hint="leave --key or --insecure-seed out."
            )
    read = from_pipe(data)
    with told_what_was_spent(settings, read != data), stages(settings["verbose"]) as stage:
        release, ledger, finish = run_fit(read, settings, stage)
        stage("writing the release")
        release.save(written, key=key)
        finish()
    said = summary(release, ledger) | {"release": output}
    show_json(said) if as_json else tell(said)
